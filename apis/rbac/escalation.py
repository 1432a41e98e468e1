"""Privilege escalation: users can grant only the permissions that they have.

Otherwise a user who may write roles could write one that allows everything. So the writer of a
role, or of a binding, must hold all rules of that role, unless the writer may `escalate` such roles
or `bind` that role.

The check runs where Kubernetes has it: after mutating admission and before validation.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from apimachinery.errors import Forbidden, NotFound
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import equal
from apimachinery.schema import GroupResource
from apis.rbac import GROUP
from apis.rbac.policy import Policy, RoleKey, join_problems, role_key
from apis.rbac.rules import (
    CompiledRules,
    TooManyRules,
    count_permissions,
    describe,
    quoted_list,
)
from apis.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
)
from apis.rbac.v1.types import ALL, CLUSTER_ROLE, ROLE
from apiserver import Attributes, Authorizer, RequestInfo
from apiserver.auth.user import MASTERS

DESCRIBED_MAX: Final = 100
"""The number of missing permissions that a refusal names."""

_RESOURCES: Final = {ROLE: "roles", CLUSTER_ROLE: "clusterroles"}


class EscalationCheck:
    """Refuses writes that grant more than the writer has; a plugin of mutating admission.

    *newest_policy* returns the policy after it has caught up with storage.
    """

    def __init__(
        self, authorizer: Authorizer, newest_policy: Callable[[], Awaitable[Policy]]
    ) -> None:
        self._authorizer = authorizer
        self._newest_policy = newest_policy

    async def __call__(self, write: Attributes) -> None:
        new = write.object
        if (
            new is None
            or MASTERS in write.user.groups
            or _changes_only_ownership(new, write.old_object)
        ):
            return
        match new:
            case Role() | ClusterRole():
                await self._check_role(write, new)
            case RoleBinding() | ClusterRoleBinding():
                await self._check_binding(write, new)

    async def _check_role(self, write: Attributes, role: Role | ClusterRole) -> None:
        # The name is that of the URL: a creation has none, and is authorized for any name.
        resource, name = _RESOURCES[role.__kind__], write.context.name
        if await self._is_authorized(write, "escalate", resource, name):
            return
        policy = await self._newest_policy()
        target = GroupResource(GROUP, resource)
        await _require_held(policy, write, role.rules, target, role.metadata.name)
        if _aggregates(role) or _aggregates(write.old_object):
            held = CompiledRules(policy.rules_of(write.user, write.namespace))
            if held.missing(_all_permissions()):
                message = "must have cluster-admin privileges to use the aggregationRule"
                raise Forbidden.of(target, role.metadata.name, message)

    async def _check_binding(
        self, write: Attributes, binding: RoleBinding | ClusterRoleBinding
    ) -> None:
        role, namespace = binding.role_ref, write.namespace
        resource = _RESOURCES.get(role.kind)
        if resource is None or (role.kind == ROLE and not namespace):
            return  # no such role can exist; validation rejects the reference
        if await self._is_authorized(write, "bind", resource, role.name):
            return
        policy = await self._newest_policy()
        rules = policy.rules_in(role_key(role, namespace))
        if rules is None:
            raise NotFound.of(GroupResource(GROUP, resource), role.name)
        target = GroupResource(GROUP, f"{binding.__kind__.lower()}s")
        await _require_held(policy, write, rules, target, binding.metadata.name)

    async def _is_authorized(self, write: Attributes, verb: str, resource: str, name: str) -> bool:
        """Return whether the writer may use *verb* on a role."""
        request = RequestInfo(
            path="",
            verb=verb,
            is_resource=True,
            group=GROUP,
            version="*",
            resource=resource,
            namespace=write.namespace,
            name=name,
        )
        return (await self._authorizer.authorize(write.user, request)).allowed


async def _require_held(
    policy: Policy,
    write: Attributes,
    rules: Sequence[PolicyRule],
    target: GroupResource,
    name: str,
) -> None:
    """Raise Forbidden unless the writer holds all *rules*."""
    user, namespace = write.user, write.namespace
    held = policy.rules_of(user, namespace)
    workload = write.context.workload
    workload.add_values(len(held) + count_permissions(rules))
    texts = await workload.run(_missing_permissions, held, rules)
    if not texts:
        return
    message = (
        f"user {quote(user.name)} (groups={quoted_list(user.groups)}) is attempting to grant RBAC "
        "permissions not currently held:\n" + "\n".join(texts)
    )
    problems = join_problems([_not_found(role) for role in policy.missing_roles(user, namespace)])
    raise Forbidden.of(
        target, name, f"{message}; resolution errors: [{problems}]" if problems else message
    )


def _missing_permissions(held: Sequence[PolicyRule], rules: Sequence[PolicyRule]) -> list[str]:
    """Describe the permissions in *rules* that *held* lacks."""
    try:
        texts = describe(CompiledRules(held).missing(rules))
    except TooManyRules as error:
        return [str(error)]
    if len(texts) > DESCRIBED_MAX:
        texts = [*texts[:DESCRIBED_MAX], f"and {len(texts) - DESCRIBED_MAX} more"]
    return texts


def _not_found(role: RoleKey) -> str:
    resource = _RESOURCES[ROLE if role.namespace else CLUSTER_ROLE]
    return f"{GroupResource(GROUP, resource)} {quote(role.name)} not found"


def _changes_only_ownership(new: Object, old: Object | None) -> bool:
    """Return whether only the fields change that garbage collection writes, which grant nothing."""
    if old is None:
        return False
    copy = new.deep_copy()
    copy.metadata.owner_references = old.metadata.owner_references
    copy.metadata.finalizers = old.metadata.finalizers
    copy.metadata.managed_fields = old.metadata.managed_fields
    return equal(copy, old)


def _aggregates(role: Object | None) -> bool:
    if not isinstance(role, ClusterRole) or role.aggregation_rule is None:
        return False
    return bool(role.aggregation_rule.cluster_role_selectors)


def _all_permissions() -> tuple[PolicyRule, ...]:
    return (
        PolicyRule(verbs=[ALL], api_groups=[ALL], resources=[ALL]),
        PolicyRule(verbs=[ALL], non_resource_urls=[ALL]),
    )
