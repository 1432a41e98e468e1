"""Context: what a reconciler is called with, and what it does to the world by it.

It is about one object of class T. Reading comes from the cache and is never older than what this
manager's controllers wrote themselves; writing goes to the server.
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
    """Something was asked that only an object can answer, and there is none."""


class ControllerClient:
    """The server as one controller sees it: what it writes is noted, and written by its name."""

    def __init__(self, client: AsyncClient, caches: Caches, field_manager: str) -> None:
        self.plain = client
        """The client without any of that."""
        self.field_manager = field_manager
        self._caches = caches

    def of(self, cls: type[OtherT], *, namespace: str | None = None) -> ResourceClient[OtherT]:
        """The objects of a class; without *namespace* those of the client's usual one."""
        return self._caches.noting(cls, namespace=namespace, field_manager=self.field_manager)

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> ResourceClient[Unstructured]:
        """The objects of a kind for which there is no class; caches do not note their writes."""
        found = self.plain.kind(kind, api_version, namespace=namespace)
        return found.as_manager(self.field_manager)


class Context(Generic[T]):
    """One call of a reconciler."""

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
        """Unique to this call; in every line that `log` writes."""
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
        """Empty for an object without one."""
        return self.request.namespace

    @property
    def kind(self) -> GroupVersionKind:
        return self._caches.kind_of(self._cls)

    @property
    def objects(self) -> ResourceClient[T]:
        """The client for objects of this class beside this one."""
        return self.client.of(self._cls, namespace=self.namespace or None)

    # Reading, from the cache

    async def get(self) -> T | None:
        """The object, None when there is none; it is a copy and may be changed."""
        self._root = await self._read()
        if self._root is None:
            return None
        self._generation = self._root.metadata.generation
        return self._root.deep_copy()

    async def find(
        self, cls: type[OtherT], name: str, *, namespace: str | None = None
    ) -> OtherT | None:
        """Another object, beside this one unless *namespace* says where; None if there is none."""
        reader = await self._caches.synced(cls)
        return reader.get(self.namespace if namespace is None else namespace, name)

    async def list(
        self, cls: type[OtherT], *, labels: Labels = "", namespace: str | None = None
    ) -> Sequence[OtherT]:
        """Other objects, of this namespace unless *namespace* names one or ALL_NAMESPACES."""
        reader = await self._caches.synced(cls)
        where = self.namespace if namespace is None else namespace
        return reader.list("" if where == ALL_NAMESPACES else where, labels)

    async def children(self, cls: type[OtherT]) -> Sequence[OtherT]:
        """The objects of a class that this one is the controller of."""
        reader = await self._caches.synced(cls)
        return reader.controlled_by((await self._existing()).metadata.uid)

    # Writing

    def owned(self, cls: type[OtherT], *, name: str, **fields: Any) -> OtherT:
        """An object of another class that belongs to this one, to be applied or created.

        *labels* and *annotations* are its metadata, everything else are fields of the class. It is
        in the namespace of this object, unless *namespace* is given.
        """
        if self._root is None:
            raise NoObject(f"{self.request}: get() the owner before making what it owns")
        metadata = ObjectMeta(
            name=name,
            namespace=fields.pop("namespace", self.namespace),
            labels=dict(fields.pop("labels", {})),
            annotations=dict(fields.pop("annotations", {})),
        )
        made = cls(metadata=metadata, **fields)
        set_controller(self._root, made, self.kind)
        return made

    async def apply(self, obj: OtherT, *, force: bool = True) -> OtherT:
        """Have an object be like *obj*, by server-side apply as this controller.

        With *force* what others set is taken over, as a controller should: it knows.
        """
        where = obj.metadata.namespace or None
        return await self.client.of(type(obj), namespace=where).apply(obj, force=force)

    async def delete(self, obj: Object) -> None:
        """Delete just this object; that it is gone already is as good."""
        meta = obj.metadata
        resource = self.client.of(type(obj), namespace=meta.namespace or None)
        try:
            await resource.delete(meta.name, uid=meta.uid)
        except (NotFound, Conflict):
            self.log.debug("%s %s is gone already", type(obj).__kind__, meta.name)

    async def modify(self, change: Callable[[T], None]) -> T:
        """Change the object itself; *change* may be called again, for a newer state."""
        return await self._modify(change, self.objects.update, self.objects.modify)

    async def modify_status(self, change: Callable[[T], None]) -> T:
        """Change the status of the object; nothing is written when nothing changes."""
        status = self.objects.status
        return await self._modify(change, status.update, status.modify)

    async def patch_status(self, status: Mapping[str, Any]) -> T:
        """Merge fields, named as on the wire, into the status."""
        document: Document = {"status": status}
        return await self.objects.status.patch(self.name, document)

    async def set_condition(
        self,
        type: str,  # noqa: A002  # the wire's own word
        status: bool | str | None,
        *,
        reason: str,
        message: str = "",
    ) -> bool:
        """Set a condition in the object's status; tell whether anything changed.

        A status of None is Unknown. The condition is said to be about the generation of the object
        that `get` returned.
        """
        await self._existing()
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
        """Take a finalizer off; when it was the last one of a deleted object, that goes away."""
        try:
            await self.modify(lambda obj: cast(None, finalizers.remove_finalizer(obj, name)))
        except NotFound:
            self.log.debug("gone already, without finalizer %s", name)

    def event(
        self,
        type: str,  # noqa: A002  # the wire's own word
        reason: str,
        message: str,
        *,
        about: Object | None = None,
    ) -> None:
        """Tell people what happened, as an Event about this object or another.

        It is written by and by, never waited for, and repetitions are counted.
        """
        subject = about if about is not None else self._root
        if subject is None:
            raise NoObject(f"{self.request}: get() the object before telling of it")
        self._events.event(subject, type, reason, message)

    async def _read(self) -> T | None:
        return (await self._caches.synced(self._cls)).get(*self.request)

    async def _existing(self) -> T:
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
        """Try with what the cache has; where that is too old, with what the server has."""
        before = await self._read()
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
