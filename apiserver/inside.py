"""What controllers in the server's own process do to objects: the same steps, without HTTP.

The controllers of a group say in protocols of their own what they need; these classes have those
shapes and know neither the controllers nor the group.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionResource
from apiserver.context import Context
from apiserver.install import SERVER, Groups
from apiserver.registry.store import Store
from apiserver.registry.strategy import Strategy
from apiserver.registry.update import replacement
from apiserver.registry.view import Form
from apiserver.storage.entry import Selection
from apiserver.storage.fanout import EventType, Watcher

_NAMESPACES: Final = GroupVersion("", "v1").with_resource("namespaces")


class Namespaces:
    """Reads and writes namespaces; *finalizing* is the strategy of their finalize subresource."""

    def __init__(self, groups: Groups, finalizing: Strategy[Any]) -> None:
        self._groups = groups
        self._finalizing = finalizing

    async def get(self, name: str) -> Any:
        """The newest state of a namespace, None if there is none."""
        try:
            return await self._store.read(name)
        except NotFound:
            return None

    async def update_status(self, namespace: Object) -> Any:
        return await self._write(self._store, namespace, "status")

    async def finalize(self, namespace: Object) -> Any:
        return await self._write(self._store.using(self._finalizing), namespace, "finalize")

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Any]]:
        """Every namespace there is, then every one that changes."""
        store = self._store
        form = Form(_NAMESPACES.group_version)
        async with store.watch(Selection(), form) as watcher:
            yield _seen(store, watcher)

    @property
    def _store(self) -> Store[Any]:
        return self._groups.store(_NAMESPACES.group_resource)

    async def _write(self, store: Store[Any], namespace: Object, subresource: str) -> Any:
        name = namespace.metadata.name
        context = context_for("update", _NAMESPACES, subresource=subresource, name=name)
        written, _ = await store.update(name, replacement(namespace), context)
        return written


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
        await self._store(resource).delete_collection(
            Selection(namespace=namespace), options, context
        )

    async def remaining(
        self, resource: GroupVersionResource, namespace: str
    ) -> Sequence[ObjectMeta]:
        """The metadata of what is there in the newest state."""
        store = self._store(resource)
        page = await store.list(Selection(namespace=namespace))
        return [store.decode(entry).metadata for entry in page.entries]

    def _store(self, resource: GroupVersionResource) -> Store[Any]:
        try:
            return self._groups.store(resource.group_resource)
        except KeyError:
            # The group was removed a moment ago.
            raise NotFound.of(GroupResource(resource.group, resource.resource), "") from None


async def _seen(store: Store[Any], watcher: Watcher) -> AsyncIterator[Any]:
    async for batch in watcher:
        for event in batch:
            if event.entry is not None and event.type is not EventType.DELETED:
                yield store.decode(event.entry)


def context_for(
    verb: str,
    resource: GroupVersionResource,
    *,
    subresource: str = "",
    namespace: str = "",
    name: str = "",
) -> Context:
    """The context of something that the server does by itself."""
    return Context(
        SERVER,
        verb,
        resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
        field_manager="apiserver",
    )
