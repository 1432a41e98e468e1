"""Access: RBAC as the authorizer of a server. A composition root of its own.

The group `rbac.authorization.k8s.io` defines what roles mean, and the server authenticates users.
Here they meet: stored roles and bindings are put into the policy, the policy decides, and the
default roles and bindings are reconciled when a server starts.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from apimachinery.schema import GroupResource, GroupVersion
from apis.rbac import GROUP
from apis.rbac.bootstrap import Offer, bootstrap_bindings, bootstrap_roles
from apis.rbac.controllers.aggregation import AggregationController
from apis.rbac.install import rbac_group
from apis.rbac.policy import Policy
from apis.rbac.reconciliation import reconcile, reconciled_binding, reconciled_role
from apiserver.auth.authorization import AlwaysAllow, Authorizer
from apiserver.controlplane import local_objects as inside
from apiserver.controlplane.role_authorizer import RoleAuthorizer
from apiserver.group import Group
from apiserver.install import Groups
from apiserver.registry.following import Following
from apiserver.registry.store import ResourceStore

_V1: Final = GroupVersion(GROUP, "v1")
_PARTS: Final = ("status", "scale")


class Access:
    """The `authorizer` of one server, and the `group` that serves its roles."""

    def __init__(self, mode: str = "RBAC") -> None:
        self._policy = Policy()
        self._roles = RoleAuthorizer(self._policy)
        self.authorizer: Authorizer = self._roles if mode == "RBAC" else AlwaysAllow()
        self.group = rbac_group(self.authorizer, self._newest_policy)

    async def _newest_policy(self) -> Policy:
        await self._roles.refresh()
        return self._policy

    @asynccontextmanager
    async def running(self, groups: Groups, own: Sequence[Group] = ()) -> AsyncIterator[None]:
        """Reconcile the default roles, then authorize by the stored roles until the exit.

        The roles `view` and `edit` include the resources of the *own* groups.
        """
        policy = self._policy
        role = (policy.put_role, policy.forget_role)
        binding = (policy.put_binding, policy.forget_binding)
        sources = [
            Following(_store(groups, "clusterroles"), *role),
            Following(_store(groups, "roles"), *role),
            Following(_store(groups, "clusterrolebindings"), *binding),
            Following(_store(groups, "rolebindings"), *binding),
        ]
        roles = inside.ClusterObjects(groups, _V1.with_resource("clusterroles"))
        bindings = inside.ClusterObjects(groups, _V1.with_resource("clusterrolebindings"))
        await reconcile(roles, bootstrap_roles(offers(own)), reconciled_role)
        await reconcile(bindings, bootstrap_bindings(), reconciled_binding)
        for source in sources:
            await source.begin()
        self._roles.follow(sources)
        async with asyncio.TaskGroup() as tasks:
            controller = AggregationController(roles)
            running = tasks.create_task(controller.run(), name="cluster role aggregation")
            yield
            running.cancel()


def offers(groups: Sequence[Group]) -> Iterator[Offer]:
    """Yield the namespaced resources of *groups*, for the default roles that each one names."""
    for group in groups:
        for resource in group.resources:
            if resource.answer is not None or not resource.namespaced or not resource.roles:
                continue
            parts = [each.name for each in resource.subresources if each.name in _PARTS]
            yield Offer(
                group.name,
                resource.name,
                readable_parts=tuple(parts),
                writable_parts=tuple(part for part in parts if part != "status"),
                roles=resource.roles,
            )


def _store(groups: Groups, resource: str) -> ResourceStore[Any]:
    return groups.store(GroupResource(GROUP, resource))
