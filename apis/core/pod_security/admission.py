"""PodSecurity: rejects pods that their namespace does not allow, and warns about templates.

Only pods are rejected: a controller whose template is refused would retry, so that whoever writes
the template is warned instead.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from apimachinery.errors import InternalError, Invalid, NotFound
from apimachinery.schema import GroupKind
from apis.core.pod_security.checks import violations
from apis.core.pod_security.configuration import PodSecurityConfiguration
from apis.core.pod_security.levels import Level, LevelVersion, Policy, policy_of
from apis.core.pod_security.namespace_pods import pod_warnings
from apis.core.pod_security.plugin import NAMESPACES, PODS, TEMPLATES
from apis.core.pod_security.violation import PodToCheck, Violation
from apis.core.v1.pod import Pod
from apiserver import Attributes, ServerParts
from apiserver.admission.chain import Operation
from apiserver.storage.cache.read_revision import Freshness

_NAMESPACE: Final = GroupKind("", "Namespace")

_UNCHECKED_SUBRESOURCES: Final = frozenset(
    ("attach", "binding", "eviction", "exec", "log", "portforward", "proxy", "status")
)


class PodSecurity:
    """Compares pods with the labels of their namespace."""

    def __init__(self, parts: ServerParts, configuration: PodSecurityConfiguration) -> None:
        self._find_store = parts.find_store
        self._defaults = configuration.default_policy()
        exemptions = configuration.exemptions
        self._users = frozenset(exemptions.usernames)
        self._namespaces = frozenset(exemptions.namespaces)
        self._runtime_classes = frozenset(exemptions.runtime_classes)

    async def __call__(self, attributes: Attributes) -> None:
        if attributes.operation not in (Operation.CREATE, Operation.UPDATE):
            return
        if attributes.resource == NAMESPACES:
            await self._check_namespace(attributes)
        elif attributes.resource == PODS:
            await self._check_pod(attributes)
        elif not attributes.subresource:
            await self._check_template(attributes)

    async def _check_namespace(self, attributes: Attributes) -> None:
        """Reject labels that say nothing, and warn about pods that a new level would reject."""
        namespace = attributes.object
        if attributes.subresource or namespace is None:
            return
        policy, errors = self._policy(namespace.metadata.labels)
        old = attributes.old_object
        old_policy, old_errors = self._policy(old.metadata.labels) if old else (policy, [])
        if errors and errors != old_errors:
            raise Invalid.of(_NAMESPACE, attributes.name, errors)
        new, former = policy.enforce, old_policy.enforce
        is_stricter = new.version != former.version or new.level > former.level
        if old is None or new.level is Level.PRIVILEGED or not is_stricter:
            return
        warnings = await pod_warnings(
            self._find_store(PODS),
            namespace.metadata.name,
            new,
            exempt_classes=self._runtime_classes,
        )
        for text in warnings:
            attributes.warn(text)

    async def _check_pod(self, attributes: Attributes) -> None:
        pod, old = attributes.object, attributes.old_object
        if attributes.subresource in _UNCHECKED_SUBRESOURCES or not isinstance(pod, Pod):
            return
        if self._is_exempt(attributes):
            return
        policy = await self._policy_of_namespace(attributes.namespace)
        if policy.is_privileged or (isinstance(old, Pod) and not _changes_images(pod, old)):
            return
        self._check(attributes, policy, pod, enforce=True)

    async def _check_template(self, attributes: Attributes) -> None:
        if attributes.object is None or self._is_exempt(attributes):
            return
        policy = await self._policy_of_namespace(attributes.namespace)
        if policy.warn.level is Level.PRIVILEGED:
            return
        template = attrgetter(TEMPLATES[attributes.resource])(attributes.object)
        if template is not None:
            self._check(attributes, policy, template, enforce=False)

    def _check(self, attributes: Attributes, policy: Policy, pod: Any, *, enforce: bool) -> None:
        if pod.spec.runtime_class_name in self._runtime_classes:
            return
        subject = PodToCheck(pod.spec, pod.metadata.annotations if pod.metadata else {})
        found: dict[LevelVersion, list[Violation]] = {}
        if enforce:
            found[policy.enforce] = violations(policy.enforce, subject)
            if found[policy.enforce]:
                raise attributes.forbidden(
                    f"violates PodSecurity {_description(policy.enforce, found[policy.enforce])}"
                )
        if policy.warn not in found:
            found[policy.warn] = violations(policy.warn, subject)
        if found[policy.warn]:
            attributes.warn(
                f"would violate PodSecurity {_description(policy.warn, found[policy.warn])}"
            )

    def _is_exempt(self, attributes: Attributes) -> bool:
        return attributes.namespace in self._namespaces or attributes.user.name in self._users

    async def _policy_of_namespace(self, name: str) -> Policy:
        store = self._find_store(NAMESPACES)
        try:
            entry = await store.get(name, at=Freshness.ANY)
        except NotFound:
            try:
                entry = await store.get(name)
            except NotFound:
                raise InternalError(f'failed to lookup namespace "{name}"') from None
        return self._policy(entry.labels)[0]

    def _policy(self, labels: Mapping[str, str]) -> tuple[Policy, list[Any]]:
        return policy_of(labels, self._defaults)


def _description(demand: LevelVersion, found: list[Violation]) -> str:
    return f'"{demand}": {", ".join(map(str, found))}'


def _changes_images(new: Pod, old: Pod) -> bool:
    """Return whether an update can matter: the images, or containers that are added."""
    spec, before = new.spec, old.spec
    known = {container.name: container.image for container in before.ephemeral_containers}
    return (
        [container.image for container in spec.containers]
        != [container.image for container in before.containers]
        or [container.image for container in spec.init_containers]
        != [container.image for container in before.init_containers]
        or any(known.get(added.name) != added.image for added in spec.ephemeral_containers)
    )
