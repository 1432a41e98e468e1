"""Context: the argument of a reconciler, through which it reads and writes objects.

A context belongs to one object of class T. Reads come from the cache and are never older than the
manager's own writes; writes go to the server.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from apimachinery.errors import Conflict, NotFound
from apimachinery.meta.conditions import condition
from apimachinery.meta.owner_references import set_controller
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.meta.unstructured import Unstructured
from apimachinery.schema import GroupVersionKind
from client.client import AsyncClient
from client.controller import finalizers
from client.controller.caches import Caches
from client.controller.conditions import set_condition
from client.controller.reconciler import NamespacedName
from client.events.recorder import EventRecorder
from client.interface import Labels, ResourceClient
from client.object_codec import Document
from client.runtime.clock import Clock
from client.transport.request import ALL_NAMESPACES

T = TypeVar("T", bound=Object)
OtherT = TypeVar("OtherT", bound=Object)


class NoObject(LookupError):
    """The operation needs the reconciled object, which does not exist or was not read yet."""


class ControllerClient:
    """The client of one controller: records its writes and uses its name as field manager."""

    def __init__(self, client: AsyncClient, caches: Caches, field_manager: str) -> None:
        self.plain = client
        """The underlying client, whose writes are not recorded."""
        self.field_manager = field_manager
        self._caches = caches

    def of(self, cls: type[OtherT], *, namespace: str | None = None) -> ResourceClient[OtherT]:
        """Return the client of a class; *namespace* defaults to that of the configuration."""
        return self._caches.client_of(cls, namespace=namespace, field_manager=self.field_manager)

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> ResourceClient[Unstructured]:
        """Return the client of a kind that has no class; its writes are not recorded."""
        unstructured = self.plain.kind(kind, api_version, namespace=namespace)
        return unstructured.as_manager(self.field_manager)


class Context(Generic[T]):
    """One call of a reconciler for one object."""

    def __init__(
        self,
        cls: type[T],
        request: NamespacedName,
        *,
        client: ControllerClient,
        caches: Caches,
        events: EventRecorder,
        clock: Clock,
        log: "logging.LoggerAdapter[Any]",
        reconcile_id: str,
        priority: int = 0,
    ) -> None:
        self.request = request
        self.client = client
        self.clock = clock
        self.log = log
        self.reconcile_id = reconcile_id
        """Unique to this call; part of every record of `log`."""
        self.priority = priority
        self._cls = cls
        self._caches = caches
        self._events = events
        self._root: T | None = None
        self._generation = 0

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def namespace(self) -> str:
        """Empty for a cluster-scoped object."""
        return self.request.namespace

    @property
    def kind(self) -> GroupVersionKind:
        return self._caches.kind_of(self._cls)

    @property
    def objects(self) -> ResourceClient[T]:
        """The client of this class in the namespace of this object."""
        return self.client.of(self._cls, namespace=self.namespace or None)

    # Reads from the cache

    async def get(self) -> T | None:
        """Return a copy of the reconciled object, or None if it does not exist."""
        self._root = await self._read_cached()
        if self._root is None:
            return None
        self._generation = self._root.metadata.generation
        return self._root.deep_copy()

    async def find(
        self, cls: type[OtherT], name: str, *, namespace: str | None = None
    ) -> OtherT | None:
        """Return another object, or None; *namespace* defaults to that of the reconciled object."""
        reader = await self._caches.synced(cls)
        return reader.get(self.namespace if namespace is None else namespace, name)

    async def list(
        self, cls: type[OtherT], *, labels: Labels = "", namespace: str | None = None
    ) -> Sequence[OtherT]:
        """Return objects of this namespace, of another *namespace*, or of ALL_NAMESPACES."""
        reader = await self._caches.synced(cls)
        scope = self.namespace if namespace is None else namespace
        return reader.list("" if scope == ALL_NAMESPACES else scope, labels)

    async def children(self, cls: type[OtherT]) -> Sequence[OtherT]:
        """Return the objects of a class whose controlling owner is the reconciled object.

        Raises NoObject if the reconciled object does not exist.
        """
        reader = await self._caches.synced(cls)
        return reader.controlled_by((await self._require_object()).metadata.uid)

    async def orphans(self, cls: type[OtherT]) -> Sequence[OtherT]:
        """Return the objects of a class in this namespace that no owner controls."""
        return (await self._caches.synced(cls)).orphans(self.namespace)

    # Writes to the server

    def owned(self, cls: type[OtherT], *, name: str, **fields: Any) -> OtherT:
        """Return a new object of another class, owned by the reconciled one, to apply or create.

        *labels*, *annotations* and *namespace* (by default that of the owner) are metadata; all
        other arguments are fields of the class. Raises NoObject if the owner was not read yet.
        """
        if self._root is None:
            raise NoObject(f"{self.request}: get() the owner before creating owned objects")
        metadata = ObjectMeta(
            name=name,
            namespace=fields.pop("namespace", self.namespace),
            labels=dict(fields.pop("labels", {})),
            annotations=dict(fields.pop("annotations", {})),
        )
        obj = cls(metadata=metadata, **fields)
        set_controller(self._root, obj, self.kind)
        return obj

    async def apply(self, obj: OtherT, *, force: bool = True) -> OtherT:
        """Apply *obj* with server-side apply, as the field manager of this controller.

        *force* takes over fields of other managers, as recommended for controllers.
        """
        namespace = obj.metadata.namespace or None
        return await self.client.of(type(obj), namespace=namespace).apply(obj, force=force)

    async def delete(self, obj: Object) -> None:
        """Delete *obj*, identified by its uid; ignore that it was deleted or replaced already."""
        meta = obj.metadata
        resource = self.client.of(type(obj), namespace=meta.namespace or None)
        try:
            await resource.delete(meta.name, uid=meta.uid)
        except (NotFound, Conflict):
            self.log.debug("%s %s was already deleted", type(obj).__kind__, meta.name)

    async def modify(self, change: Callable[[T], None]) -> T:
        """Change the reconciled object; after a Conflict *change* is called with a newer state.

        Nothing is written if *change* changes nothing. Raises NotFound if the object is not cached.
        """
        return await self._modify(change, self.objects.update, self.objects.modify)

    async def modify_status(self, change: Callable[[T], None]) -> T:
        """Change the status of the reconciled object, under the same rules as `modify`."""
        status = self.objects.status
        return await self._modify(change, status.update, status.modify)

    async def patch_status(self, status: Mapping[str, Any]) -> T:
        """Merge fields into the status; they are named as in JSON, in camelCase."""
        document: Document = {"status": status}
        return await self.objects.status.patch(self.name, document)

    async def set_condition(
        self,
        type: str,  # noqa: A002  # the name of the field on the wire
        status: bool | str | None,
        *,
        reason: str,
        message: str = "",
    ) -> bool:
        """Set a condition in the object's status and return whether the status changed.

        A *status* of None means Unknown. The condition's observedGeneration is the generation of
        the object that `get` returned.
        """
        await self._require_object()
        new = condition(type, status, reason, message, observed_generation=self._generation)
        changed = False

        def change(newest: T) -> None:
            nonlocal changed
            changed = set_condition(newest, new, self.clock.now())

        await self.modify_status(change)
        return changed

    async def add_finalizer(self, name: str) -> None:
        await self.modify(lambda obj: cast(None, finalizers.add_finalizer(obj, name)))

    async def remove_finalizer(self, name: str) -> None:
        """Remove a finalizer; the server deletes a terminating object that has no other left."""
        try:
            await self.modify(lambda obj: cast(None, finalizers.remove_finalizer(obj, name)))
        except NotFound:
            self.log.debug("deleted before finalizer %s was removed", name)

    def event(
        self,
        type: str,  # noqa: A002  # the name of the field on the wire
        reason: str,
        message: str,
        *,
        about: Object | None = None,
    ) -> None:
        """Record an Event about the reconciled object, or about another one.

        The event is written in the background, and repetitions are counted. Raises NoObject if the
        reconciled object was not read yet.
        """
        subject = about if about is not None else self._root
        if subject is None:
            raise NoObject(f"{self.request}: get() the object before recording events about it")
        self._events.event(subject, type, reason, message)

    async def _read_cached(self) -> T | None:
        return (await self._caches.synced(self._cls)).get(*self.request)

    async def _require_object(self) -> T:
        obj = self._root or await self.get()
        if obj is None:
            raise NoObject(f"{self.kind.kind} {self.request} does not exist")
        return obj

    async def _modify(
        self,
        change: Callable[[T], None],
        update: Callable[[T], Any],
        modify: Callable[[str, Callable[[T], None]], Any],
    ) -> T:
        """Change and update the cached state; if that is outdated, use the server's state."""
        before = await self._read_cached()
        if before is None:
            raise NotFound.of(self._caches.reader(self._cls).informer.resource, self.name)
        after = before.deep_copy()
        change(after)
        if after == before:
            return after
        try:
            written: T = await update(after)
        except Conflict:
            written = await modify(self.name, change)
        self._root = written
        return written.deep_copy()
