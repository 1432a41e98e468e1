"""The aggregation controller: keeps the rules of cluster roles that are put together from others.

The graph of who collects from whom is not known, and there are few cluster roles, so any change is
a reason to look at all that collect. Each look starts from what is stored, and writes only what
differs: it does not matter how many workers do it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from apimachinery.errors import APIError, NotFound
from apis.rbac.aggregation import aggregated_rules
from apis.rbac.v1 import ClusterRole

FIRST_DELAY: Final = 0.1
LAST_DELAY: Final = 10.0
"""Seconds until the next try after something failed; they double in between."""

log = logging.getLogger(__name__)


class ClusterRoles(Protocol):
    """What the controller does to cluster roles. Everything may raise APIErrors."""

    async def list(self) -> Sequence[ClusterRole]:
        """All of them in their newest state."""

    async def change(
        self, name: str, change: Callable[[ClusterRole], ClusterRole]
    ) -> ClusterRole: ...

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[object]]:
        """Says something for what there is, and whenever something changes or goes.

        It may end whenever it likes.
        """


class AggregationController:
    """Run `run()` in one worker or in all of them."""

    def __init__(
        self,
        roles: ClusterRoles,
        *,
        first_delay: float = FIRST_DELAY,
        last_delay: float = LAST_DELAY,
    ) -> None:
        self._roles = roles
        self._first_delay = first_delay
        self._last_delay = last_delay

    async def run(self) -> None:
        """Keep rules up to date until cancelled."""
        delay = self._first_delay
        while True:
            try:
                async with self._roles.watch() as changes:
                    async for _ in changes:
                        await self.sync()
                        delay = self._first_delay
            except APIError as error:
                log.warning("aggregating cluster roles failed; trying again: %s", error)
            except Exception:
                log.exception("aggregating cluster roles failed; trying again")
            await asyncio.sleep(delay)
            delay = min(delay * 2, self._last_delay)

    async def sync(self) -> None:
        """Give every collecting role the rules it should have now."""
        roles = await self._roles.list()
        for role in roles:
            if role.aggregation_rule is not None:
                await self._sync(role, roles)

    async def _sync(self, role: ClusterRole, roles: Sequence[ClusterRole]) -> None:
        rules = aggregated_rules(role, roles)
        if rules == role.rules:
            return

        def changed(current: ClusterRole) -> ClusterRole:
            new = current.deep_copy()
            if new.aggregation_rule == role.aggregation_rule:
                new.rules = rules
            return new

        try:
            await self._roles.change(role.metadata.name, changed)
        except NotFound:
            return
