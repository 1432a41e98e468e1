"""The namespace controller's view of a server, over real stores."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionResource
from apis.core.strategy import NamespaceFinalizeStrategy
from apis.core.v1 import Namespace
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.group import Group
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import EntrySelection
from apiserver.views.resource_view import Form

CONTROLLER = User("system:serviceaccount:kube-system:namespace-controller")
V1 = GroupVersion("", "v1")

Stores = dict[GroupResource, ResourceStore[Any]]


def context_of(
    verb: str, resource: GroupVersionResource, *, namespace: str = "", name: str = ""
) -> RequestContext:
    return RequestContext(CONTROLLER, verb, resource, namespace=namespace, name=name)


class StoredNamespaces:
    """Namespaces in their store."""

    def __init__(self, store: ResourceStore[Namespace]) -> None:
        self._store = store
        self._finalizing = store.using(NamespaceFinalizeStrategy())

    async def get(self, name: str) -> Namespace | None:
        try:
            return await self._store.read(name)
        except NotFound:
            return None

    async def update_status(self, namespace: Namespace) -> Namespace:
        return await self._update(self._store, namespace, "status")

    async def finalize(self, namespace: Namespace) -> Namespace:
        return await self._update(self._finalizing, namespace, "finalize")

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Namespace]]:
        async with self._store.watch(EntrySelection(), Form(V1)) as watcher:
            yield self._namespaces(watcher)

    async def _namespaces(self, batches: AsyncIterator[Any]) -> AsyncIterator[Namespace]:
        async for batch in batches:
            for event in batch:
                if event.entry is not None:
                    yield self._store.decode(event.entry)

    async def _update(
        self, store: ResourceStore[Namespace], namespace: Namespace, subresource: str
    ) -> Namespace:
        name = namespace.metadata.name
        context = context_of("update", V1.with_resource("namespaces"), name=name)
        stored, _ = await store.update(
            name, lambda _: namespace.deep_copy(), context, subresource=subresource
        )
        return stored


class StoredContents:
    """Everything else."""

    def __init__(self, groups: Iterable[Group], stores: Stores) -> None:
        self._stores = stores
        self._resources = [
            GroupVersion(group.name, group.versions[0]).with_resource(resource.name)
            for group in groups
            for resource in group.resources
            if resource.namespaced and resource.answer is None
        ]

    def resources(self) -> Iterable[GroupVersionResource]:
        return self._resources

    async def delete_all(self, resource: GroupVersionResource, namespace: str) -> None:
        context = context_of("deletecollection", resource, namespace=namespace)
        options = DeleteOptions(propagation_policy="Background")
        store = self._stores[resource.group_resource]
        await store.delete_collection(EntrySelection(namespace=namespace), options, context)

    async def remaining(
        self, resource: GroupVersionResource, namespace: str
    ) -> Sequence[ObjectMeta]:
        store = self._stores[resource.group_resource]
        page = await store.list(EntrySelection(namespace=namespace))
        return [store.decode(entry).metadata for entry in page.entries]
