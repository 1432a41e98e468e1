"""Garbage collection: what the deletion of an owner means for its dependents.

- *Background*: once an owner is deleted, objects without another owner are deleted.
- *Foreground*: the owner stays, with the finalizer `foregroundDeletion`, until all dependents that
  block its deletion are deleted; they are deleted first.
- *Orphan*: the owner stays, with the finalizer `orphan`, until no object names it as owner.

The controller watches the metadata of every resource and keeps a graph of the objects that have
owners or are being deleted, no others. It never acts on the graph alone: it reads the live object
and its owners before each step, and every write carries a uid and, where it changes an object, a
resourceVersion. The key of a reconcile request is the uid of an object, since the objects are of
any kind.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from apimachinery.errors import Conflict, NotFound
from apimachinery.meta.types import ObjectMeta, OwnerReference, PartialObjectMetadata
from apimachinery.resources import Scope, ServedResource
from apimachinery.schema import GroupVersion, GroupVersionResource
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataFeed
from client.controller.reconciler import NamespacedName, Result
from client.controller.sources import SourceScope
from client.interface import ResourceClient
from client.transport.request import ALL_NAMESPACES, InvalidRequest
from client.workqueue.rate_limiters import ExponentialFailure

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"
WORKERS: Final = 8
TURN: Final = 50
"""Owners of an object examined before other tasks run."""
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last attempts at an object, doubling in between."""
MAX_ABSENT: Final = 500
"""Owners that are remembered to be deleted; a uid is never used again."""

Resources = Callable[[], Awaitable[Sequence[ServedResource]]]
DisownUnserved = Callable[[str, str], Awaitable[None]]
"""Removes the owner with this uid from objects in its namespace that only other servers serve."""
Propagation = Literal["Background", "Foreground", "Orphan"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ObjectIdentity:
    """Where an object is served."""

    resource: ServedResource
    namespace: str
    name: str


@dataclass(slots=True)
class OwnerGraph:
    """Objects that have owners or are being deleted, by uid, and the edges between them."""

    identities: dict[str, ObjectIdentity] = field(default_factory=dict)
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dependents: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Owner -> dependent -> whether the dependent blocks the owner's deletion."""
    unlisted: set[ServedResource] = field(default_factory=set)
    """Resources whose objects are not all in the graph yet."""

    def note(self, resource: ServedResource, change: MetadataChange) -> Iterable[str]:
        """Record a change; return the uids of the objects to reconcile because of it."""
        metadata = change.metadata
        uid = metadata.uid
        former = self.owners.pop(uid, ())
        for owner in former:
            self.dependents[owner].pop(uid, None)
            if not self.dependents[owner]:
                del self.dependents[owner]
        if change.deleted:
            self.identities.pop(uid, None)
            return (*former, *self.dependents.get(uid, ()))
        if not is_tracked(metadata):
            self.identities.pop(uid, None)
            return former
        self.identities[uid] = ObjectIdentity(resource, metadata.namespace, metadata.name)
        if metadata.owner_references:
            # Several references may have the same uid, with different names.
            self.owners[uid] = tuple(
                {reference.uid: None for reference in metadata.owner_references}
            )
        for reference in metadata.owner_references:
            blocking = self.dependents.setdefault(reference.uid, {})
            blocking[uid] = blocking.get(uid, False) or bool(reference.block_owner_deletion)
        # An owner that waits for its dependents may have one less to wait for.
        return (uid, *(set(former) - set(self.owners.get(uid, ()))))

    def is_blocked(self, uid: str) -> bool:
        """Return whether a dependent blocks, or may block, the deletion of the object."""
        return bool(self.unlisted) or any(self.dependents.get(uid, {}).values())

    def forget(self, resource: GroupVersionResource) -> list[MetadataChange]:
        """Return the deletion of every object of a resource that is no longer served."""
        return [
            MetadataChange(
                ObjectMeta(uid=uid, namespace=identity.namespace, name=identity.name), deleted=True
            )
            for uid, identity in self.identities.items()
            if identity.resource.resource == resource
        ]


class GarbageCollector:
    """Reconciles each object of the graph, by its uid.

    *resources* returns what is served, each resource in one version; *changed* returns at the first
    change after it was called.
    """

    def __init__(
        self,
        client: AsyncClient,
        resources: Resources,
        changed: Callable[[], Awaitable[object]],
        disown_unserved: DisownUnserved,
    ) -> None:
        self._client = client
        self._resources = resources
        self._changed = changed
        self._disown_unserved = disown_unserved
        self.graph = OwnerGraph()
        self._absent: OrderedDict[tuple[ObjectIdentity, str], None] = OrderedDict()

    def add_to(self, manager: Manager) -> None:
        self.graph = OwnerGraph()
        manager.controller(
            PartialObjectMetadata,
            name="garbage-collector",
            source=_GraphSource(self._client, self.graph, self._resources, self._changed),
            workers=WORKERS,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, uid: str) -> bool:
        """Do for one object what can be done now; return False to be called again."""
        identity = self.graph.identities.get(uid)
        metadata = await self._get(identity, uid) if identity else None
        if identity is None or metadata is None:
            return True
        try:
            if metadata.deletion_timestamp is not None:
                return await self._finalize(identity, metadata)
            if metadata.owner_references:
                await self._collect(identity, metadata)
        except NotFound:
            return True
        except Conflict:
            return False
        return True

    async def _reconcile(self, ctx: Context[PartialObjectMetadata]) -> Result | None:
        return None if await self.sync(ctx.name) else Result(requeue=True)

    # An object that is being deleted

    async def _finalize(self, identity: ObjectIdentity, metadata: ObjectMeta) -> bool:
        """Remove the finalizers of garbage collection once their condition is met.

        Returns False if no event will announce that; the deletion of a blocking dependent does.
        """
        if ORPHAN in metadata.finalizers:
            async for dependent, its_metadata in self._dependents(identity, metadata.uid):
                await self._disown(dependent, its_metadata, {metadata.uid})
            await self._disown_unserved(metadata.uid, identity.namespace)
            await self._remove_finalizer(identity, metadata, ORPHAN)
        elif FOREGROUND in metadata.finalizers:
            for uid in list(self.graph.dependents.get(metadata.uid, ())):
                await self._delete_dependent(uid)
            if self.graph.is_blocked(metadata.uid):
                return not self.graph.unlisted
            await self._remove_finalizer(identity, metadata, FOREGROUND)
        return True

    async def _dependents(
        self, owner: ObjectIdentity, uid: str
    ) -> AsyncIterator[tuple[ObjectIdentity, ObjectMeta]]:
        """Find all dependents in the newest state: one that is missed here would be deleted later.

        The dependents of an object in a namespace are in the same namespace.
        """
        for resource in await self._resources():
            if owner.namespace and resource.scope is not Scope.NAMESPACED:
                continue
            async for obj in collection(self._client, resource, owner.namespace).list():
                metadata = obj.metadata
                if any(reference.uid == uid for reference in metadata.owner_references):
                    yield ObjectIdentity(resource, metadata.namespace, metadata.name), metadata

    async def _delete_dependent(self, uid: str) -> None:
        identity = self.graph.identities.get(uid)
        metadata = await self._get(identity, uid) if identity else None
        if identity is None or metadata is None or metadata.deletion_timestamp is not None:
            return
        has_dependents = uid in self.graph.dependents
        await self._delete(identity, metadata, "Foreground" if has_dependents else "Background")

    async def _remove_finalizer(
        self, identity: ObjectIdentity, metadata: ObjectMeta, finalizer: str
    ) -> None:
        rest = [name for name in metadata.finalizers if name != finalizer]
        await self._patch(identity, metadata, {"finalizers": rest})

    # An object that has owners

    async def _collect(self, identity: ObjectIdentity, metadata: ObjectMeta) -> None:
        """Delete an object whose owners are all gone; remove references to some that are."""
        gone: set[str] = set()
        remaining = 0
        resources = _by_kind(await self._resources())
        for position, reference in enumerate(metadata.owner_references):
            if position % TURN == TURN - 1:
                await asyncio.sleep(0)  # absent owners are remembered, and cost no request
            if await self._is_solid(reference, metadata.namespace, resources):
                remaining += 1
            else:
                gone.add(reference.uid)
        if remaining and gone:
            await self._disown(identity, metadata, gone)
        elif gone:
            await self._delete(identity, metadata, "Background")

    async def _is_solid(
        self,
        reference: OwnerReference,
        namespace: str,
        resources: Mapping[tuple[str, str], ServedResource],
    ) -> bool:
        """Return whether an owner exists and does not wait for its dependents to be deleted."""
        # Whatever the version in which the reference names the kind.
        group = GroupVersion.parse(reference.api_version).group
        resource = resources.get((group, reference.kind))
        if resource is None:
            return True  # a kind that is not served now may be served later
        if resource.scope is Scope.NAMESPACED and not namespace:
            return True  # Kubernetes, too, leaves objects alone that cannot have such an owner
        identity = ObjectIdentity(
            resource, namespace if resource.scope is Scope.NAMESPACED else "", reference.name
        )
        # The same uid may be named with a wrong namespace or kind: that says nothing about others.
        if (identity, reference.uid) in self._absent:
            return False
        owner = await self._get(identity, reference.uid)
        if owner is None:
            self._absent[identity, reference.uid] = None
            if len(self._absent) > MAX_ABSENT:
                self._absent.popitem(last=False)
            return False
        return owner.deletion_timestamp is None or FOREGROUND not in owner.finalizers

    # Requests

    async def _get(self, identity: ObjectIdentity, uid: str) -> ObjectMeta | None:
        """Read the newest metadata of the object that has this uid, None if there is none."""
        try:
            obj = await self._collection(identity).get(identity.name)
        except (NotFound, InvalidRequest):
            return None  # no object can have a name that is not valid in a URL
        return obj.metadata if obj.metadata.uid == uid else None

    async def _disown(
        self, identity: ObjectIdentity, metadata: ObjectMeta, owners: set[str]
    ) -> None:
        rest = [reference for reference in metadata.owner_references if reference.uid not in owners]
        try:
            await self._patch(identity, metadata, {"ownerReferences": rest})
        except NotFound:
            return

    async def _patch(
        self, identity: ObjectIdentity, metadata: ObjectMeta, fields: dict[str, Any]
    ) -> None:
        guard = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        await self._collection(identity).patch(identity.name, {"metadata": {**guard, **fields}})

    async def _delete(
        self, identity: ObjectIdentity, metadata: ObjectMeta, propagation: Propagation
    ) -> None:
        """Delete an object unless it has been changed since it was read."""
        try:
            await self._collection(identity).delete(
                identity.name,
                uid=metadata.uid,
                resource_version=metadata.resource_version,
                propagation=propagation,
            )
        except NotFound:
            return

    def _collection(self, identity: ObjectIdentity) -> ResourceClient[PartialObjectMetadata]:
        return collection(self._client, identity.resource, identity.namespace)


def _by_kind(resources: Iterable[ServedResource]) -> dict[tuple[str, str], ServedResource]:
    """Return the first resource of each kind, by group and kind."""
    found: dict[tuple[str, str], ServedResource] = {}
    for resource in resources:
        found.setdefault((resource.kind.group, resource.kind.kind), resource)
    return found


def is_tracked(metadata: ObjectMeta) -> bool:
    """Return whether garbage collection has to remember an object."""
    return bool(metadata.owner_references) or metadata.deletion_timestamp is not None


def collection(
    client: AsyncClient, resource: ServedResource, namespace: str
) -> ResourceClient[PartialObjectMetadata]:
    """Return the metadata of a resource's objects, in all namespaces if *namespace* is empty."""
    return client.of(
        PartialObjectMetadata,
        namespace=namespace or ALL_NAMESPACES,
        resource=resource.plural,
        namespaced=resource.scope is Scope.NAMESPACED,
        api_version=str(resource.kind.group_version),
    ).metadata


class _GraphSource:
    """Feeds the graph from one metadata watch for each resource that is served."""

    name = "metadata of all resources"
    idle = True

    def __init__(
        self,
        client: AsyncClient,
        graph: OwnerGraph,
        resources: Resources,
        changed: Callable[[], Awaitable[object]],
    ) -> None:
        self._client = client
        self._graph = graph
        self._resources = resources
        self._changed = changed

    async def warm_up(self, scope: SourceScope) -> None:
        """Do nothing: the graph is built when the controller starts."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        # Workers need not wait for the graph: only foreground deletion depends on its being whole.
        synced()
        following: dict[ServedResource, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            while True:
                served = set(await self._resources())
                for resource in following.keys() - served:
                    following.pop(resource).cancel()
                    self._forget(scope, resource)
                for resource in served - following.keys():
                    self._graph.unlisted.add(resource)
                    follow = self._follow(scope, resource)
                    following[resource] = tasks.create_task(follow, name=f"gc {resource.plural}")
                await self._changed()

    async def _follow(self, scope: SourceScope, resource: ServedResource) -> None:
        feed = MetadataFeed(
            collection(self._client, resource, ""),
            tracks=is_tracked,
            clock=scope.clock,
            name=f"garbage collection of {resource.plural}",
        )
        async for change in feed.changes():
            if change is not None:
                self._enqueue(scope, self._graph.note(resource, change))
            elif resource in self._graph.unlisted:
                self._graph.unlisted.discard(resource)
            else:
                # Owners may have been deleted unobserved between the last watch and this list.
                self._enqueue(scope, list(self._graph.identities))

    def _forget(self, scope: SourceScope, resource: ServedResource) -> None:
        self._graph.unlisted.discard(resource)
        for change in self._graph.forget(resource.resource):
            self._enqueue(scope, self._graph.note(resource, change))

    def _enqueue(self, scope: SourceScope, uids: Iterable[str]) -> None:
        for uid in uids:
            scope.queue.add(NamespacedName("", uid))
