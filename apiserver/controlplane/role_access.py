"""RoleAccess: authorization by the roles and bindings that are stored.

The group `rbac.authorization.k8s.io` defines what roles mean, the server identifies users and
requests. This module joins them: it feeds stored roles and bindings to the policy, authorizes by
the policy, and writes the bootstrap roles when a server starts.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, TypedDict

from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apis.rbac import GROUP
from apis.rbac.bootstrap import Offer, bootstrap_bindings, bootstrap_roles, has_every_kind
from apis.rbac.install import rbac_group
from apis.rbac.kubernetes_roles import namespaced_bindings, namespaced_roles
from apis.rbac.policy import Policy
from apis.rbac.reconciliation import reconcile, reconciled_binding, reconciled_role
from apis.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from apiserver.auth.authorization import AlwaysAllow, Authorizer
from apiserver.controlplane.role_authorizer import RoleAuthorizer
from apiserver.group import Group
from apiserver.install import Groups
from apiserver.registry.following import Following
from client.client import AsyncClient

_PARTS: Final = ("status", "scale")


class _Scope(TypedDict):
    namespaced: bool
    api_version: str


_VERSION: Final = f"{GROUP}/v1"
_SCOPE: Final[_Scope] = {"namespaced": False, "api_version": _VERSION}
_NAMESPACES: Final = ("kube-public", "kube-system")
"""The namespaces with default roles."""


class RoleAccess:
    """The `authorizer` of one server, and the `group` that serves its roles."""

    def __init__(self, mode: str = "RBAC") -> None:
        self._policy = Policy()
        self._roles = RoleAuthorizer(self._policy)
        self.authorizer: Authorizer = self._roles if mode == "RBAC" else AlwaysAllow()
        self.group = rbac_group(self.authorizer, self._newest_policy)

    async def _newest_policy(self) -> Policy:
        await self._roles.refresh()
        return self._policy

    async def start(self, groups: Groups, client: AsyncClient, own: Sequence[Group] = ()) -> None:
        """Write the bootstrap roles and bindings, and authorize by what is stored from now on.

        The resources of *own* groups become part of `view` and `edit`.
        """
        policy = self._policy
        role = (policy.prepare_role, policy.forget_role)
        binding = (policy.prepare_binding, policy.forget_binding)
        sources = [
            _following(groups, "clusterroles", *role),
            _following(groups, "roles", *role),
            _following(groups, "clusterrolebindings", *binding),
            _following(groups, "rolebindings", *binding),
        ]
        await _reconcile_defaults(groups, client, list(offers(own)))
        for source in sources:
            await source.begin()
        self._roles.follow(sources)


async def _reconcile_defaults(
    groups: Groups, client: AsyncClient, offered: Sequence[Offer]
) -> None:
    every_kind = has_every_kind(offered)
    await reconcile(
        client.of(ClusterRole, resource="clusterroles", **_SCOPE),
        bootstrap_roles(offered),
        reconciled_role,
        create=_creation(groups, "clusterroles"),
    )
    await reconcile(
        client.of(ClusterRoleBinding, resource="clusterrolebindings", **_SCOPE),
        bootstrap_bindings(every_kind=every_kind),
        reconciled_binding,
        create=_creation(groups, "clusterrolebindings"),
    )
    for namespace in _NAMESPACES if every_kind else ():
        await reconcile(
            client.of(Role, resource="roles", namespace=namespace, api_version=_VERSION),
            namespaced_roles(namespace),
            reconciled_role,
            create=_creation(groups, "roles", namespace),
        )
        await reconcile(
            client.of(
                RoleBinding, resource="rolebindings", namespace=namespace, api_version=_VERSION
            ),
            namespaced_bindings(namespace),
            reconciled_binding,
            create=_creation(groups, "rolebindings", namespace),
        )


def _creation(
    groups: Groups, resource: str, namespace: str = ""
) -> Callable[[Object], Awaitable[Object]]:
    """Return what creates objects as the server itself, with all steps of a write but decoding."""

    async def create(obj: Object) -> Object:
        obj.metadata.namespace = namespace
        obj.kind = obj.api_version = ""
        groups.scheme.default(obj)
        return await groups.create(GroupResource(GROUP, resource), obj)

    return create


def offers(groups: Sequence[Group]) -> Iterator[Offer]:
    """Yield the namespaced resources that groups store, for the roles that each resource names."""
    for group in groups:
        for resource in group.resources:
            if not resource.is_stored or not resource.namespaced or not resource.roles:
                continue
            parts = [sub.name for sub in resource.subresources if sub.name in _PARTS]
            yield Offer(
                group.name,
                resource.name,
                readable_parts=tuple(parts),
                writable_parts=tuple(part for part in parts if part != "status"),
                roles=resource.roles,
            )


def _following(
    groups: Groups,
    resource: str,
    prepare: Callable[[Any], Callable[[], None]],
    forget: Callable[[str, str], None],
) -> Following:
    store = groups.store(GroupResource(GROUP, resource))
    return Following(store, lambda put: put(), forget, prepare=prepare)
