"""The controller of definitions: accepts their names, and empties those that are being deleted.

Every step starts from what is stored, so it does not matter how often it runs, or in how many
workers at the same time: whoever comes second finds the work done.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from apimachinery.errors import APIError, Conflict, NotFound
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupResource
from apis.apiextensions.conditions import ESTABLISHED, TERMINATING, is_true, set_condition
from apis.apiextensions.controllers.naming import is_settled, settle_names
from apis.apiextensions.v1 import CustomResourceDefinition, CustomResourceDefinitionCondition
from apis.apiextensions.v1.definition import FINALIZER
from apis.core.controllers.revisits import FIRST_DELAY, LAST_DELAY, Revisits


class Definitions(Protocol):
    """What the controller does to definitions. Writes raise Conflict and NotFound."""

    async def get(self, name: str) -> CustomResourceDefinition | None:
        """The newest state of a definition."""

    async def of_group(self, group: str) -> Sequence[CustomResourceDefinition]:
        """The newest state of every definition of a group."""

    async def update_status(
        self, definition: CustomResourceDefinition
    ) -> CustomResourceDefinition: ...

    async def update(self, definition: CustomResourceDefinition) -> CustomResourceDefinition: ...

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """The name of every definition there is, then of every one that changes or goes."""


class Instances(Protocol):
    """What the controller does to the objects of a custom resource."""

    def is_built_in(self, group: str) -> bool:
        """Whether definitions cannot add to the group, and its objects are not theirs."""

    def is_served(self, resource: GroupResource) -> bool:
        """Whether the objects can be reached already."""

    async def delete_all(self, resource: GroupResource) -> None:
        """Begin to delete every object."""

    async def remaining(self, resource: GroupResource) -> int:
        """How many objects there are."""


class DefinitionController:
    """Run `run()` in one worker or in all of them."""

    def __init__(
        self,
        definitions: Definitions,
        instances: Instances,
        *,
        now: Callable[[], datetime] = present,
        first_delay: float = FIRST_DELAY,
        last_delay: float = LAST_DELAY,
    ) -> None:
        self._definitions = definitions
        self._instances = instances
        self._now = now
        self._settling = asyncio.Lock()
        self._revisits = Revisits(
            "definition", self.sync, first_delay=first_delay, last_delay=last_delay
        )

    async def run(self) -> None:
        """Look after definitions until cancelled."""
        await self._revisits.run(self._follow)

    async def sync(self, name: str) -> bool:
        """Do what can be done for one definition now; False if it must be looked at again."""
        try:
            return await self._sync(name)
        except NotFound:
            return True
        except Conflict:
            return False

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        async with self._definitions.watch() as names:
            async for name in names:
                self._revisits.wake(name, tasks)

    async def _sync(self, name: str) -> bool:
        definition = await self._definitions.get(name)
        if definition is None:
            await self._revisit_rivals(name)
            return True
        if definition.metadata.deletion_timestamp is not None:
            return await self._finalize(definition)
        if not is_settled(definition):
            await self._settle(definition)
        return True

    async def _revisit_rivals(self, gone: str) -> None:
        """Give the names that a definition has left behind to those that wait for them."""
        group = gone.partition(".")[2]
        for other in await self._definitions.of_group(group):
            if other.metadata.deletion_timestamp is None and not is_settled(other):
                await self._settle(other)

    async def _settle(self, definition: CustomResourceDefinition) -> None:
        # One after the other: of two that want one name, the second must see that it is taken.
        async with self._settling:
            changed = definition.deep_copy()
            others = await self._definitions.of_group(definition.spec.group)
            if settle_names(changed, others, self._now()):
                await self._definitions.update_status(changed)

    async def _finalize(self, definition: CustomResourceDefinition) -> bool:
        if FINALIZER not in definition.metadata.finalizers:
            return True
        resource = GroupResource(definition.spec.group, definition.spec.names.plural)
        if is_true(definition, ESTABLISHED) and not self._instances.is_built_in(resource.group):
            if not self._instances.is_served(resource):
                return False
            definition = await self._say(
                definition, "InstanceDeletionInProgress", "CustomResource deletion is in progress"
            )
            try:
                if await self._instances.remaining(resource):
                    await self._instances.delete_all(resource)
                if await self._instances.remaining(resource):
                    return False
            except APIError as error:
                failed = f"could not delete the instances: {error.message}"
                await self._say(definition, "InstanceDeletionFailed", failed)
                return False
        definition = await self._say(
            definition, "InstanceDeletionCompleted", "removed all instances", status="False"
        )
        changed = definition.deep_copy()
        changed.metadata.finalizers = [
            found for found in changed.metadata.finalizers if found != FINALIZER
        ]
        await self._definitions.update(changed)
        return True

    async def _say(
        self, definition: CustomResourceDefinition, reason: str, message: str, status: str = "True"
    ) -> CustomResourceDefinition:
        changed = definition.deep_copy()
        condition = CustomResourceDefinitionCondition(
            type=TERMINATING, status=status, reason=reason, message=message
        )
        if not set_condition(changed, condition, self._now()):
            return definition
        return await self._definitions.update_status(changed)
