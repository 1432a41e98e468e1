"""Flow configuration: keeps the bootstrap schemas and levels, and the conditions of schemas.

There are few schemas and levels, and the condition of a schema depends on a level, so any change of
one is a reason to examine all: the controller has a single reconcile request.
"""

from collections.abc import Iterable
from typing import Final

from apis.flowcontrol.reconciliation import (
    ensure_configuration,
    levels_of,
    schemas_of,
    update_conditions,
)
from apis.flowcontrol.v1 import FlowSchema
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.workqueue.rate_limiters import ExponentialFailure

RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last retries, doubling in between."""

_ALL: Final = NamespacedName("", "all")


class FlowConfigurationController:
    """Reconciles all FlowSchemas and PriorityLevelConfigurations at once."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def add_to(self, manager: Manager) -> None:
        levels = levels_of(self._client)
        manager.controller(
            FlowSchema,
            name="flow-configuration",
            source=MetadataSource(schemas_of(self._client), _everything, name="flowschemas"),
            watches=[MetadataSource(levels, _everything, name="prioritylevelconfigurations")],
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def _reconcile(self, ctx: Context[FlowSchema]) -> Result | None:
        ensured = await ensure_configuration(self._client)
        updated = await update_conditions(self._client, ctx.clock.now())
        return None if ensured and updated else Result(requeue=True)


def _everything(change: MetadataChange) -> Iterable[NamespacedName]:
    yield _ALL
