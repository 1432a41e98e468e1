"""Definition names: accepts the names of CustomResourceDefinitions and establishes them.

Every worker runs this controller: a definition is established as soon as one of them has seen it.
Any number may do so at once; the resourceVersion of each update makes the second one look again.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from apimachinery.errors import Conflict, NotFound
from apimachinery.scalars.time import now as current_time
from apis.apiextensions.accepted_names import is_settled, settle_names
from apis.apiextensions.controllers.definition_head import DefinitionHead
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataSource
from client.controller.reconciler import Result
from client.interface import ResourceClient
from client.workqueue.rate_limiters import ExponentialFailure

API_VERSION: Final = "apiextensions.k8s.io/v1"
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last attempts at a definition, doubling in between."""


def definitions(client: AsyncClient) -> ResourceClient[DefinitionHead]:
    """Return the client of all definitions, without their schemas."""
    return client.of(
        DefinitionHead,
        resource="customresourcedefinitions",
        namespaced=False,
        api_version=API_VERSION,
    )


class DefinitionNamesController:
    """Reconciles the names of each definition with those of its group."""

    def __init__(self, client: AsyncClient, *, now: Callable[[], datetime] = current_time) -> None:
        self._definitions = definitions(client)
        self._now = now

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            DefinitionHead,
            name="definition-names",
            source=MetadataSource(self._definitions, name="definitions"),
            # One after the other: of two that want one name, the second must see that it is taken.
            workers=1,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, name: str) -> bool:
        """Accept the names that a definition can have now; return False to be called again."""
        try:
            definition = await self._definitions.get(name)
        except NotFound:
            return await self._settle_rivals(name)
        return await self._settle(definition)

    async def _reconcile(self, ctx: Context[DefinitionHead]) -> Result | None:
        return None if await self.sync(ctx.name) else Result(requeue=True)

    async def _settle_rivals(self, deleted: str) -> bool:
        """Give the names of a deleted definition to others of its group that wait for them."""
        done = True
        for rival in await self._of_group(deleted.partition(".")[2]):
            done &= await self._settle(rival)
        return done

    async def _settle(self, definition: DefinitionHead) -> bool:
        if definition.metadata.deletion_timestamp is not None or is_settled(definition):
            return True
        others = await self._of_group(definition.spec.group)
        if not settle_names(definition, others, self._now()):
            return True
        try:
            await self._definitions.status.update(definition)
        except Conflict:
            return False
        except NotFound:
            return True
        return True

    async def _of_group(self, group: str) -> Iterable[DefinitionHead]:
        # Definitions are large, and their names end in the group: filter by name before reading.
        names = [
            obj.metadata.name
            async for obj in self._definitions.metadata.list()
            if obj.metadata.name.partition(".")[2] == group
        ]
        matching = []
        for name in names:
            try:
                matching.append(await self._definitions.get(name))
            except NotFound:
                continue
        return matching
