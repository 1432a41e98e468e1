"""The objects of every resource of a server at once, for a controller in the same process.

Watching them all is one task per resource into one queue. Most objects own nothing, are owned by
nothing and stay: those are told by a look at their bytes and cost no decoding.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import orjson

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object, ObjectMeta, OwnerReference, Preconditions
from apimachinery.schema import GroupVersion, GroupVersionResource
from apimachinery.watch import EventType
from apiserver.context import context_for
from apiserver.controlplane.local_objects import store_of
from apiserver.install import Groups
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.fanout import EntryEvent
from apiserver.views.resource_view import Form

QUEUE: Final = 1024
"""Objects that wait to be looked at; the watches wait when it is full."""


class WatchEnded(Exception):
    """One of the watches is over."""

    def __init__(self, resource: GroupVersionResource) -> None:
        super().__init__(f"the watch of {resource} is over")


class Everything:
    """Reads and writes metadata of any object; the values are made by *identify* and *see*.

    The controller brings its own value types, so that it need not know the server: *identify* is
    called with a resource, a namespace and a name, *see* with a uid, an identity and metadata.
    """

    def __init__(
        self, groups: Groups, *, identify: Callable[..., Any], see: Callable[..., Any]
    ) -> None:
        self._groups = groups
        self._identify = identify
        self._see = see

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Any]]:
        """Every object that is owned or being deleted, then every one that becomes so or goes."""
        queue: asyncio.Queue[Any] = asyncio.Queue(QUEUE)
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow_all(queue), name="watch everything")
            yield _drained(queue)
            following.cancel()

    async def get(self, identity: Any) -> ObjectMeta | None:
        try:
            found = await self._store(identity.resource).read(
                identity.name, namespace=identity.namespace
            )
        except NotFound:
            return None
        metadata: ObjectMeta = found.metadata
        return metadata

    async def owner(self, reference: OwnerReference, namespace: str) -> ObjectMeta | None:
        resource, namespaced = self._resource_of(reference)
        identity = self._identify(resource, namespace if namespaced else "", reference.name)
        found = await self.get(identity)
        return found if found is not None and found.uid == reference.uid else None

    async def owned_by(self, uid: str) -> Iterable[Any]:
        """Everything that names *uid* as an owner, in the newest state."""
        found = []
        marker = uid.encode()
        for resource in self._resources():
            store = self._store(resource)
            for entry in (await store.list(EntrySelection())).entries:
                if marker not in entry.record.value:
                    continue
                metadata = store.decode(entry).metadata
                if any(owner.uid == uid for owner in metadata.owner_references):
                    found.append(self._identify(resource, metadata.namespace, metadata.name))
        return found

    async def change(self, identity: Any, uid: str, edit: Callable[[ObjectMeta], None]) -> None:
        def changed(current: Object) -> Object:
            made = current.deep_copy()
            edit(made.metadata)
            return made

        context = context_for(
            "update", identity.resource, namespace=identity.namespace, name=identity.name
        )
        await self._store(identity.resource).update(identity.name, changed, context, uid=uid)

    async def delete(self, identity: Any, uid: str, policy: str) -> None:
        context = context_for(
            "delete", identity.resource, namespace=identity.namespace, name=identity.name
        )
        options = DeleteOptions(propagation_policy=policy, preconditions=Preconditions(uid=uid))
        await self._store(identity.resource).delete(identity.name, options, context)

    def _resources(self) -> Iterator[GroupVersionResource]:
        for installed in self._groups:
            for name in installed.stores:
                yield installed.version_of(name).with_resource(name)

    def _resource_of(self, reference: OwnerReference) -> tuple[GroupVersionResource, bool]:
        """The resource of a kind, whatever its version; raises LookupError."""
        group = GroupVersion.parse(reference.api_version).group
        for installed in self._groups:
            if installed.group.name != group:
                continue
            for resource in installed.group.resources:
                if resource.kind == reference.kind and resource.name in installed.stores:
                    version = installed.version_of(resource.name)
                    return version.with_resource(resource.name), resource.namespaced
        raise LookupError(f"{reference.api_version} {reference.kind} is not served")

    def _store(self, resource: GroupVersionResource) -> ResourceStore[Any]:
        return store_of(self._groups, resource.group_resource)

    async def _follow_all(self, queue: asyncio.Queue[Any]) -> None:
        """Keep one watch for each resource that is served."""
        running: dict[ResourceStore[Any], asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            while True:
                changed = self._groups.changed
                served = {self._store(resource): resource for resource in self._resources()}
                for gone in [store for store in running if store not in served]:
                    running.pop(gone).cancel()
                for store, resource in served.items():
                    if store not in running:
                        following = self._follow(store, resource, queue)
                        running[store] = tasks.create_task(following)
                await changed.wait()

    async def _follow(
        self, store: ResourceStore[Any], resource: GroupVersionResource, queue: asyncio.Queue[Any]
    ) -> None:
        async with store.watch(EntrySelection(), Form(resource.group_version)) as watcher:
            async for batch in watcher:
                for event in batch:
                    seen = self._seen(store, resource, event)
                    if seen is not None:
                        await queue.put(seen)
        if all(store is not found for each in self._groups for found in each.stores.values()):
            return  # the resource is gone, or is served anew
        # What happens until the next watch would be missed: whoever listens must start over.
        raise WatchEnded(resource)

    def _seen(
        self, store: ResourceStore[Any], resource: GroupVersionResource, event: EntryEvent
    ) -> Any:
        if event.entry is None:
            return None
        value = event.entry.record.value
        if event.type is EventType.DELETED:
            meta = orjson.loads(value)["metadata"]
            identity = self._identify(resource, meta.get("namespace", ""), meta["name"])
            return self._see(meta["uid"], identity, None)
        if b'"ownerReferences":' not in value and b'"deletionTimestamp":' not in value:
            return None
        metadata = store.decode(event.entry).metadata
        identity = self._identify(resource, metadata.namespace, metadata.name)
        return self._see(metadata.uid, identity, metadata)


async def _drained(queue: asyncio.Queue[Any]) -> AsyncIterator[Any]:
    while True:
        yield await queue.get()
