"""Policy source: the stored policies and bindings of one kind, compiled once for each change.

They are followed through the watch cache, so that a write costs a few comparisons to see whether
they have changed. Policies are compiled in another thread, and only those that have a binding.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from apimachinery.schema import GroupResource
from apis.admissionregistration import GROUP
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite, target_of
from apis.admissionregistration.matching.rules import Target, is_exempt
from apis.admissionregistration.policies.constraints import Constraints
from apis.admissionregistration.policies.parameters import ParameterReference
from apis.admissionregistration.v1.policy_parameters import ParamKind
from apis.admissionregistration.v1.rules import MatchResources
from apiserver import Attributes, ServerParts
from apiserver.registry.following import Following
from apiserver.served_versions import ServedVersion

C = TypeVar("C")


class PoliciesUnread(Exception):
    """The policies have not been read from the store yet."""


_MOST_TARGETS: Final = 4_096
"""Targets whose policies are kept."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding, with its constraints and parameters compiled."""

    name: str
    actions: Sequence[str]
    constraints: Constraints | None
    reference: ParameterReference | None


@dataclass(frozen=True, slots=True)
class Hook(Generic[C]):
    """A policy that takes effect, and its bindings."""

    name: str
    ignores_failures: bool
    constraints: Constraints
    param_kind: ParamKind | None
    bindings: Sequence[Binding]
    compiled: C


class PolicySource(Generic[C]):
    """The policies of one kind that take effect."""

    def __init__(
        self,
        parts: ServerParts,
        *,
        policies: str,
        bindings: str,
        compile_policy: Callable[[Any], C],
    ) -> None:
        """*policies* and *bindings* are the names of the resources."""
        self._parts = parts
        self._names = policies, bindings
        self._compile = compile_policy
        self._following: tuple[Following, ...] | None = None
        self._policies: dict[str, Any] = {}
        self._bindings: dict[str, Any] = {}
        self._compiled: dict[tuple[str, str], C] = {}
        """By uid and resourceVersion of the policy."""
        self._hooks: Sequence[Hook[C]] = ()
        self._by_target: dict[Target, Sequence[Hook[C]]] = {}
        self._revision = -1
        self._updating = asyncio.Lock()
        self._changed = False

    def may_concern(self, attributes: Attributes) -> bool:
        """Return whether a policy may concern a write, as far as that is known without waiting."""
        if self._following is None or self._changed:
            return True
        if not all(each.is_current for each in self._following):
            return True
        if not self._hooks:
            return False
        if self._parts.versions.revision != self._revision:
            return True
        known = self._by_target.get(target_of(attributes))
        return known is None or bool(known)

    async def concerning(self, write: ReviewedWrite) -> Sequence[Hook[C]]:
        """Return the policies that may concern a write.

        Raises Forbidden if policies have not been read from the store yet.
        """
        try:
            await self._catch_up()
        except PoliciesUnread:
            raise write.attributes.forbidden("not yet ready to handle request") from None
        return self._hooks_of(write.target, write.own) if self._hooks else ()

    async def _catch_up(self) -> None:
        """Bring the hooks to the state of the watch cache."""
        async with self._updating:
            if self._following is None:
                await self._begin()
            assert self._following is not None
            for each in self._following:
                await each.catch_up()
            if self._changed:
                # Until then, writes that arrive meanwhile wait for the new policies.
                await self._rebuild()
                self._changed = False

    def _hooks_of(self, target: Target, own: ServedVersion) -> Sequence[Hook[C]]:
        """Return the policies that may concern writes of a target."""
        revision = self._parts.versions.revision
        if revision != self._revision or len(self._by_target) >= _MOST_TARGETS:
            self._by_target.clear()
            self._revision = revision
        found = self._by_target.get(target)
        if found is None:
            found = self._by_target[target] = tuple(self._concerned(target, own))
        return found

    def _concerned(self, target: Target, own: ServedVersion) -> Iterable[Hook[C]]:
        if is_exempt(target.resource):
            return ()
        return (
            hook
            for hook in self._hooks
            if hook.constraints.may_match(target, own, self._parts.versions)
        )

    async def _begin(self) -> None:
        """Follow policies and bindings; the first read waits until the cache has them."""
        # An attempt before may have ended half way, and would not hear of what was deleted since.
        self._policies.clear()
        self._bindings.clear()
        following = (
            self._follow(self._names[0], self._policies),
            self._follow(self._names[1], self._bindings),
        )
        for each in following:
            await each.refresh()
            if not each.has_begun:
                raise PoliciesUnread
        self._following = following
        self._changed = True

    def _follow(self, resource: str, objects: dict[str, Any]) -> Following:
        def put(obj: Any) -> None:
            objects[obj.metadata.name] = obj
            self._changed = True

        def forget(namespace: str, name: str) -> None:
            objects.pop(name, None)
            self._changed = True

        return Following(self._parts.find_store(GroupResource(GROUP, resource)), put, forget)

    async def _rebuild(self) -> None:
        by_policy: dict[str, list[Any]] = {}
        for _, binding in sorted(self._bindings.items()):
            by_policy.setdefault(binding.spec.policy_name, []).append(binding)
        bound = [self._policies[name] for name in sorted(by_policy) if name in self._policies]
        compiled: dict[tuple[str, str], C] = {}
        for policy in bound:
            identity = policy.metadata.uid, policy.metadata.resource_version
            known = self._compiled.get(identity)
            if known is None:
                known = await asyncio.to_thread(self._compile, policy)
            compiled[identity] = known
        self._compiled = compiled
        self._hooks = [
            self._hook(policy, [_binding(each) for each in by_policy[policy.metadata.name]], each)
            for policy, each in zip(bound, compiled.values(), strict=True)
        ]
        self._by_target.clear()

    def _hook(self, policy: Any, bindings: Sequence[Binding], compiled: C) -> Hook[C]:
        spec = policy.spec
        return Hook(
            policy.metadata.name,
            spec.failure_policy == "Ignore",
            Constraints.compile(spec.match_constraints or MatchResources()),
            spec.param_kind,
            bindings,
            compiled,
        )


def _binding(source: Any) -> Binding:
    spec = source.spec
    resources = spec.match_resources
    return Binding(
        source.metadata.name,
        tuple(getattr(spec, "validation_actions", ())),
        None if resources is None else Constraints.compile(resources),
        ParameterReference.compile(spec.param_ref),
    )
