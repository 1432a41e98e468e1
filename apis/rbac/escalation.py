"""Nobody gives what they do not have: a check of every role and binding that is written.

Who may write roles could otherwise write one that allows everything. So the rules of a role, or of
the role that a binding gives, must all be held by whoever writes it, unless they are allowed to
`escalate` such roles or to `bind` that role.

The check comes where Kubernetes has it, after admission has changed the object and before it is
validated.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from apimachinery.errors import Forbidden, NotFound
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import equal
from apimachinery.schema import GroupResource
from apis.rbac import GROUP
from apis.rbac.policy import Policy, RoleKey, User, joined, role_key
from apis.rbac.rules import ATOMS_MAX, CompiledRules, TooManyRules, described, quoted_list
from apis.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
)
from apis.rbac.v1.types import ALL, CLUSTER_ROLE, ROLE

MASTERS: Final = "system:masters"

_RESOURCES: Final = {ROLE: "roles", CLUSTER_ROLE: "clusterroles"}


class Context(Protocol):
    """The request that writes."""

    name: str
    """As the URL has it, where a creation has none."""


class Write(Protocol):
    """What is about to be written, and by whom."""

    @property
    def context(self) -> Context: ...
    @property
    def user(self) -> User: ...
    @property
    def namespace(self) -> str: ...
    @property
    def object(self) -> Object | None: ...
    @property
    def old_object(self) -> Object | None: ...


class Authority(Protocol):
    """Who knows what a user may do."""

    async def may(self, user: User, verb: str, resource: str, *, namespace: str, name: str) -> bool:
        """Whether *user* may do it to a resource of this group."""

    async def policy(self) -> Policy:
        """Every role and binding that is stored by now."""


class EscalationCheck:
    """Refuses writes that give more than the writer has; a plugin of mutating admission."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    async def __call__(self, write: Write) -> None:
        new = write.object
        if new is None or MASTERS in write.user.groups or _only_lets_go(new, write.old_object):
            return
        match new:
            case Role() | ClusterRole():
                await self._check_role(write, new)
            case RoleBinding() | ClusterRoleBinding():
                await self._check_binding(write, new)

    async def _check_role(self, write: Write, role: Role | ClusterRole) -> None:
        resource, name = _RESOURCES[role.__kind__], write.context.name
        if await self._authority.may(
            write.user, "escalate", resource, namespace=write.namespace, name=name
        ):
            return
        policy = await self._authority.policy()
        about = GroupResource(GROUP, resource)
        _confirm(policy, write, role.rules, about, role.metadata.name)
        if _aggregates(role) or _aggregates(write.old_object):
            held = CompiledRules(policy.rules_of(write.user, write.namespace))
            if held.missing(_everything()):
                why = "must have cluster-admin privileges to use the aggregationRule"
                raise Forbidden.of(about, role.metadata.name, why)

    async def _check_binding(self, write: Write, binding: RoleBinding | ClusterRoleBinding) -> None:
        role, namespace = binding.role_ref, write.namespace
        resource = _RESOURCES.get(role.kind)
        if resource is None or (role.kind == ROLE and not namespace):
            return  # there can be no such role, as validation is about to say
        if await self._authority.may(
            write.user, "bind", resource, namespace=namespace, name=role.name
        ):
            return
        policy = await self._authority.policy()
        rules = policy.rules_in(role_key(role, namespace))
        if rules is None:
            raise NotFound.of(GroupResource(GROUP, resource), role.name)
        about = GroupResource(GROUP, f"{binding.__kind__.lower()}s")
        _confirm(policy, write, rules, about, binding.metadata.name)


def _confirm(
    policy: Policy,
    write: Write,
    rules: Sequence[PolicyRule],
    about: GroupResource,
    name: str,
) -> None:
    """Raise Forbidden unless the writer holds all *rules*."""
    user, namespace = write.user, write.namespace
    try:
        missing = CompiledRules(policy.rules_of(user, namespace)).missing(rules)
        texts = described(missing)
    except TooManyRules:
        texts = [f"some of more than {ATOMS_MAX} permissions"]
    if not texts:
        return
    why = (
        f"user {quote(user.name)} (groups={quoted_list(user.groups)}) is attempting to grant RBAC "
        "permissions not currently held:\n" + "\n".join(texts)
    )
    problems = joined([_not_found(role) for role in policy.missing_roles(user, namespace)])
    raise Forbidden.of(about, name, f"{why}; resolution errors: [{problems}]" if problems else why)


def _not_found(role: RoleKey) -> str:
    resource = _RESOURCES[ROLE if role.namespace else CLUSTER_ROLE]
    return f"{GroupResource(GROUP, resource)} {quote(role.name)} not found"


def _only_lets_go(new: Object, old: Object | None) -> bool:
    """Whether nothing changes but what garbage collection needs to, which gives nobody anything."""
    if old is None:
        return False
    same = new.deep_copy()
    same.metadata.owner_references = old.metadata.owner_references
    same.metadata.finalizers = old.metadata.finalizers
    same.metadata.managed_fields = old.metadata.managed_fields
    return equal(same, old)


def _aggregates(role: Object | None) -> bool:
    if not isinstance(role, ClusterRole) or role.aggregation_rule is None:
        return False
    return bool(role.aggregation_rule.cluster_role_selectors)


def _everything() -> tuple[PolicyRule, ...]:
    return (
        PolicyRule(verbs=[ALL], api_groups=[ALL], resources=[ALL]),
        PolicyRule(verbs=[ALL], non_resource_urls=[ALL]),
    )
