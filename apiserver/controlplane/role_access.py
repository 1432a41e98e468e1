"""Access: roles and bindings as what decides over requests. A composition root of its own.

The group `rbac.authorization.k8s.io` says what roles mean, the server says who asks and when. Here
they meet: what is stored is told to the policy, the policy decides, and what a server needs to
begin with is written when it starts.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from apimachinery.schema import GroupResource, GroupVersion
from apis.rbac import GROUP
from apis.rbac.bootstrap import Offer, bootstrap_bindings, bootstrap_roles
from apis.rbac.controllers.aggregation import AggregationController
from apis.rbac.install import rbac_group
from apis.rbac.policy import Policy
from apis.rbac.policy import User as UserLike
from apis.rbac.reconciliation import reconcile, reconciled_binding, reconciled_role
from apiserver.auth.authorization import AlwaysAllow, Authorizer
from apiserver.auth.role_authorizer import RoleAuthorizer
from apiserver.auth.user import User
from apiserver.controlplane import local_objects as inside
from apiserver.group import Group
from apiserver.http.request_info import RequestInfo
from apiserver.install import Groups
from apiserver.registry.following import Following
from apiserver.registry.store import ResourceStore

_V1: Final = GroupVersion(GROUP, "v1")
_PARTS: Final = ("status", "scale")


class Access:
    """Who may do what on one server, by `authorizer`; the roles are served by `group`."""

    def __init__(self, mode: str = "RBAC") -> None:
        self._policy = Policy()
        self._roles = RoleAuthorizer(self._policy)
        self.authorizer: Authorizer = self._roles if mode == "RBAC" else AlwaysAllow()
        self.group = rbac_group(self)

    async def may(
        self, user: UserLike, verb: str, resource: str, *, namespace: str, name: str
    ) -> bool:
        """Whether *user* may do something to roles or bindings."""
        asked = RequestInfo(
            path="",
            verb=verb,
            is_resource=True,
            group=GROUP,
            version="*",
            resource=resource,
            namespace=namespace,
            name=name,
        )
        return (await self.authorizer.authorize(cast(User, user), asked)).allowed

    async def policy(self) -> Policy:
        """Every role and binding that is stored by now."""
        await self._roles.refresh()
        return self._policy

    @asynccontextmanager
    async def running(self, groups: Groups, own: Sequence[Group] = ()) -> AsyncIterator[None]:
        """Decide by what is stored, once the roles are there that every server has.

        *own* are groups whose resources shall be part of `view` and `edit`.
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
    """What is stored in namespaces, as parts of the roles that each resource names."""
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
