"""Role aggregation: keeps the rules of ClusterRoles that have an aggregationRule.

Selectors say which roles contribute to which, and there are few ClusterRoles, so any change of one
is a reason to examine all: the controller has a single reconcile request.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from apimachinery.errors import Conflict, NotFound
from apis.rbac import GROUP
from apis.rbac.aggregation import aggregated_rules
from apis.rbac.v1 import ClusterRole, PolicyRule
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.workqueue.rate_limiters import ExponentialFailure

RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last retries, doubling in between."""

_ALL_ROLES: Final = NamespacedName("", "all")


class RoleAggregationController:
    """Reconciles all ClusterRoles at once."""

    def __init__(self, client: AsyncClient) -> None:
        self._roles = client.of(
            ClusterRole, resource="clusterroles", namespaced=False, api_version=f"{GROUP}/v1"
        )

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            ClusterRole,
            name="role-aggregation",
            source=MetadataSource(self._roles, _all_roles, name="clusterroles"),
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self) -> bool:
        """Update every aggregated role whose rules differ; return False to be called again."""
        roles = (await self._roles.list().all()).items
        done = True
        for role in roles:
            if role.aggregation_rule is None:
                continue
            # With thousands of roles it would hold up the requests that the leading worker serves.
            rules = await asyncio.to_thread(_changed_rules, role, roles)
            if rules is None:
                continue
            role.rules = rules
            try:
                await self._roles.update(role)
            except NotFound:
                continue
            except Conflict:
                done = False  # another writer was faster: look at the result
        return done

    async def _reconcile(self, ctx: Context[ClusterRole]) -> Result | None:
        return None if await self.sync() else Result(requeue=True)


def _changed_rules(role: ClusterRole, roles: list[ClusterRole]) -> list[PolicyRule] | None:
    """Return the rules that a role aggregates, None if it has them already."""
    rules = aggregated_rules(role, roles)
    return None if rules == role.rules else rules


def _all_roles(change: MetadataChange) -> Iterable[NamespacedName]:
    yield _ALL_ROLES
