"""What the controller of definitions does to them and to what they define, without HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apiserver.extensions.definition import DEFINITIONS
from apiserver.inside import context_for
from apiserver.install import Groups
from apiserver.registry.store import Store
from apiserver.registry.update import replacement
from apiserver.registry.view import Form
from apiserver.storage.entry import Selection


class Definitions:
    """Reads and writes definitions."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    @property
    def _store(self) -> Store[Any]:
        return self._groups.store(DEFINITIONS.group_resource)

    async def get(self, name: str) -> Any:
        """The newest state of a definition, None if there is none."""
        try:
            return await self._store.read(name)
        except NotFound:
            return None

    async def of_group(self, group: str) -> Sequence[Any]:
        """The newest state of every definition of a group."""
        store = self._store
        page = await store.list(Selection())
        # They are called after their groups, and large: those of others are not decoded.
        own = [entry for entry in page.entries if entry.record.key.endswith(f".{group}")]
        return [store.decode(entry) for entry in own]

    async def update_status(self, definition: Object) -> Any:
        return await self._write(definition, "status")

    async def update(self, definition: Object) -> Any:
        return await self._write(definition, "")

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[str]]:
        """The name of every definition there is, then of every one that changes or goes."""
        async with self._store.watch(Selection(), Form(DEFINITIONS.group_version)) as watcher:
            yield _names(watcher)

    async def _write(self, definition: Object, subresource: str) -> Any:
        name = definition.metadata.name
        context = context_for("update", DEFINITIONS, subresource=subresource, name=name)
        written, _ = await self._store.update(name, replacement(definition), context)
        return written


async def _names(watcher: Any) -> AsyncIterator[str]:
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
        store, version = self._store(resource), self._version(resource)
        options = DeleteOptions(propagation_policy="Background")
        context = context_for("deletecollection", version.with_resource(resource.resource))
        await store.delete_collection(Selection(), options, context)

    async def remaining(self, resource: GroupResource) -> int:
        """How many objects there are in the newest state."""
        return len((await self._store(resource).list(Selection())).entries)

    def is_built_in(self, group: str) -> bool:
        """Whether the server has the group itself: what is in it was not defined."""
        return any(found.group.name == group and not found.assembled for found in self._groups)

    def is_served(self, resource: GroupResource) -> bool:
        """Whether this process knows the resource already."""
        try:
            self._groups.store(resource)
        except KeyError:
            return False
        return True

    def _store(self, resource: GroupResource) -> Store[Any]:
        try:
            return self._groups.store(resource)
        except KeyError:
            raise NotFound.of(resource, "") from None

    def _version(self, resource: GroupResource) -> Any:
        installed = next(each for each in self._groups if each.group.name == resource.group)
        return installed.version_of(resource.resource)
