"""What the controller of definitions does to them and to what they define, without HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from apimachinery.meta.options import DeleteOptions
from apimachinery.schema import GroupResource
from apiserver.context import context_for
from apiserver.controlplane.local_objects import Named, store_of
from apiserver.extensions.definition import DEFINITIONS
from apiserver.install import Groups
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.fanout import Watcher


class Definitions(Named):
    """Reads and writes definitions."""

    def __init__(self, groups: Groups) -> None:
        super().__init__(groups, DEFINITIONS)

    async def of_group(self, group: str) -> Sequence[Any]:
        """The newest state of every definition of a group."""
        store = self._store
        page = await store.list(EntrySelection())
        # They are called after their groups, and large: those of others are not decoded.
        names = ((entry, entry.record.key.rpartition("/")[2]) for entry in page.entries)
        return [store.decode(entry) for entry, name in names if name.partition(".")[2] == group]

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[str]]:
        """The name of every definition there is, then of every one that changes or goes."""
        async with self._watch() as watcher:
            yield _names(watcher)


async def _names(watcher: Watcher) -> AsyncIterator[str]:
    async for batch in watcher:
        for event in batch:
            if event.entry is not None:
                yield event.entry.record.key.rpartition("/")[2]


class Instances:
    """The objects of custom resources."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    async def delete_all(self, resource: GroupResource) -> None:
        """Begin to delete every object of a resource."""
        store = store_of(self._groups, resource)
        options = DeleteOptions(propagation_policy="Background")
        context = context_for("deletecollection", self._groups.versioned(resource))
        await store.delete_collection(EntrySelection(), options, context)

    async def remaining(self, resource: GroupResource) -> int:
        """How many objects there are in the newest state."""
        return len((await store_of(self._groups, resource).list(EntrySelection())).entries)

    def is_built_in(self, group: str) -> bool:
        """Whether the server has the group itself: what is in it was not defined."""
        return any(found.group.name == group and found.is_built_in for found in self._groups)

    def is_served(self, resource: GroupResource) -> bool:
        """Whether this process knows the resource already."""
        try:
            self._groups.store(resource)
        except KeyError:
            return False
        return True
