"""What controllers in the server's own process do to objects: the same steps, without HTTP.

The controllers of a group say in protocols of their own what they need; these classes have those
shapes and know neither the controllers nor the group.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object, ObjectMeta, Preconditions
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionResource
from apimachinery.watch import EventType
from apiserver.context import context_for
from apiserver.install import Groups
from apiserver.registry.following import Following
from apiserver.registry.object_update import replacement
from apiserver.registry.store import ResourceStore
from apiserver.registry.strategy import Strategy
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.fanout import EntryEvent, Watcher
from apiserver.storage.cache.read_revision import Freshness
from apiserver.views.resource_view import Form

_NAMESPACES: Final = GroupVersion("", "v1").with_resource("namespaces")


class Named:
    """Reads the objects of a resource without namespaces in their newest state, and replaces them.

    Writes raise Conflict and NotFound.
    """

    def __init__(self, groups: Groups, resource: GroupVersionResource) -> None:
        self._groups = groups
        self._resource = resource

    async def get(self, name: str) -> Any:
        """The newest state of an object, None if there is none."""
        try:
            return await self._store.read(name)
        except NotFound:
            return None

    async def update(self, obj: Object) -> Any:
        return await self._replace(self._store, obj)

    async def update_status(self, obj: Object) -> Any:
        return await self._replace(self._store, obj, "status")

    @property
    def _store(self) -> ResourceStore[Any]:
        return self._groups.store(self._resource.group_resource)

    async def _replace(self, store: ResourceStore[Any], obj: Object, subresource: str = "") -> Any:
        name = obj.metadata.name
        context = context_for("update", self._resource, subresource=subresource, name=name)
        written, _ = await store.update(name, replacement(obj), context)
        return written

    def _watch(self) -> AbstractAsyncContextManager[Watcher]:
        return self._store.watch(EntrySelection(), Form(self._resource.group_version))


class Namespaces(Named):
    """Reads and writes namespaces; *finalizing* is the strategy of their finalize subresource."""

    def __init__(self, groups: Groups, finalizing: Strategy[Any]) -> None:
        super().__init__(groups, _NAMESPACES)
        self._finalizing = finalizing

    async def finalize(self, namespace: Object) -> Any:
        return await self._replace(self._store.using(self._finalizing), namespace, "finalize")

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Any]]:
        """Every namespace there is, then every one that changes."""
        async with self._watch() as watcher:
            yield _seen(self._store, watcher)


class Contents:
    """Reads and deletes what is in namespaces, of whatever resource."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def resources(self) -> Iterable[GroupVersionResource]:
        """The resources whose objects have namespaces and can be deleted, each in one version."""
        for installed in self._groups:
            for resource in installed.group.resources:
                stored = resource.name in installed.stores
                if stored and resource.namespaced and "delete" in resource.verbs:
                    yield installed.version_of(resource.name).with_resource(resource.name)

    async def delete_all(self, resource: GroupVersionResource, namespace: str) -> None:
        """Begin to delete every object; dependents are not orphaned."""
        options = DeleteOptions(propagation_policy="Background")
        context = context_for("deletecollection", resource, namespace=namespace)
        store = store_of(self._groups, resource.group_resource)
        await store.delete_collection(EntrySelection(namespace=namespace), options, context)

    async def remaining(
        self, resource: GroupVersionResource, namespace: str
    ) -> Sequence[ObjectMeta]:
        """The metadata of what is there in the newest state."""
        store = store_of(self._groups, resource.group_resource)
        page = await store.list(EntrySelection(namespace=namespace))
        return [store.decode(entry).metadata for entry in page.entries]


class ClusterObjects:
    """Reads and writes the objects of one resource that have no namespaces, as the server itself.

    What it reads is decoded once and shared: it must not be changed.
    """

    def __init__(self, groups: Groups, resource: GroupVersionResource) -> None:
        self._groups = groups
        self._resource = resource
        self._store: ResourceStore[Any] = groups.store(resource.group_resource)
        self._known: dict[str, Any] = {}
        self._following = Following(self._store, self._put, self._gone)

    async def list(self) -> Sequence[Any]:
        """All objects in their newest state."""
        await self._following.refresh()
        return [*self._known.values()]

    async def find(self, name: str) -> Any:
        """An object as the cache has it, None if there is none."""
        self._following.catch_up()
        return self._known.get(name)

    async def create(self, obj: Object) -> Any:
        return await self._groups.create(self._resource.group_resource, obj)

    async def change(self, name: str, change: Callable[[Any], Any]) -> Any:
        """Store what *change* makes of the newest state; it may run more than once."""
        context = context_for("update", self._resource, name=name)
        written, _ = await self._store.update(name, change, context)
        return written

    async def delete(self, name: str) -> None:
        await self._store.delete(name, None, context_for("delete", self._resource, name=name))

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Sequence[EntryEvent]]]:
        """What there is, then whatever happens, in batches."""
        async with self._store.watch(
            EntrySelection(), Form(self._resource.group_version)
        ) as watcher:
            yield watcher

    def _put(self, obj: Object) -> None:
        self._known[obj.metadata.name] = obj

    def _gone(self, namespace: str, name: str) -> None:
        self._known.pop(name, None)


class Objects:
    """Reads, writes and watches objects of any resource by name."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    async def find(
        self, resource: GroupResource, name: str, *, namespace: str = "", newest: bool = False
    ) -> Any | None:
        """An object as the cache knows it, or in its newest state."""
        store, at = self._groups.store(resource), Freshness.NEWEST if newest else Freshness.ANY
        try:
            return store.decode(await store.get(name, namespace=namespace, at=at))
        except NotFound:
            return None

    async def create(self, resource: GroupResource, obj: Object) -> Any:
        return await self._groups.create(resource, obj)

    async def change(
        self, resource: GroupResource, name: str, edit: Callable[[Any], Any], *, namespace: str
    ) -> Any:
        context = context_for(
            "update", self._groups.versioned(resource), namespace=namespace, name=name
        )
        written, _ = await self._groups.store(resource).update(name, edit, context)
        return written

    async def delete(self, resource: GroupResource, name: str, *, namespace: str, uid: str) -> None:
        """Delete the object that has this uid."""
        context = context_for(
            "delete", self._groups.versioned(resource), namespace=namespace, name=name
        )
        options = DeleteOptions(preconditions=Preconditions(uid=uid))
        await self._groups.store(resource).delete(name, options, context)

    @asynccontextmanager
    async def watch(
        self, resource: GroupResource, *, name: str = ""
    ) -> AsyncIterator[AsyncIterator[ObjectMeta]]:
        """Metadata of every object (of that name) there is, then of each that changes or goes."""
        store = self._groups.store(resource)
        form = Form(self._groups.versioned(resource).group_version)
        async with store.watch(EntrySelection(name=name or None), form) as watcher:
            yield _metadata(store, watcher)


def store_of(groups: Groups, resource: GroupResource) -> ResourceStore[Any]:
    """The store of a resource; raises NotFound if it was removed, perhaps a moment ago."""
    try:
        return groups.store(resource)
    except KeyError:
        raise NotFound.of(resource, "") from None


async def _metadata(store: ResourceStore[Any], watcher: Watcher) -> AsyncIterator[ObjectMeta]:
    async for batch in watcher:
        for event in batch:
            if event.entry is not None:
                yield store.decode(event.entry).metadata


async def _seen(store: ResourceStore[Any], watcher: Watcher) -> AsyncIterator[Any]:
    async for batch in watcher:
        for event in batch:
            if event.entry is not None and event.type is not EventType.DELETED:
                yield store.decode(event.entry)
