"""DeltaFIFO: a queue of keys, each with all that happened to its object while it waited.

First come, first served, and no time wasted on outdated information: a key waits once, however
often its object changes, and whoever takes it gets the changes together. The order between
objects is not kept, so which state the store is in can be said only when the queue is empty.

It holds at most one entry for each object that changes; a reflector is held up when 2,000 wait.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from apimachinery.meta.types import Object
from client.cache.deltas import (
    Bookmark,
    Delta,
    DeltaBatch,
    DeltaType,
    FIFOClosed,
    ObjectChange,
    Process,
    Transform,
)
from client.cache.fifo import HOLD_UP
from client.cache.keys import DeletedObject, object_key

T = TypeVar("T", bound=Object)
T_co = TypeVar("T_co", bound=Object, covariant=True)


class KnownObjects(Protocol[T_co]):
    """The objects that were processed: what the queue compares lists with."""

    def get(self, key: str) -> T_co | None: ...

    def keys(self) -> Sequence[str]: ...


class DeltaFIFO(Generic[T]):
    """Keys in the order of their first change; with *known*, deletions are found by comparing."""

    def __init__(
        self, known: KnownObjects[T] | None = None, transform: Transform[T] | None = None
    ) -> None:
        self._known = known
        self._transform = transform
        # The queue and its items in one. A plain dict keeps the order as well, but searches for its
        # first key among all that were taken before: draining a long queue would take for ever.
        self._items: OrderedDict[str, list[ObjectChange[T]]] = OrderedDict()
        # The newest state that was brought; None when the informer has been told of it.
        self._version: str | None = None
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._closed = False
        self._populated = False
        self._initial = 0

    # What the reflector calls

    def add(self, obj: T) -> None:
        self._populated = True
        self._put(DeltaType.ADDED, object_key(obj), self._made(obj))
        self._version = obj.metadata.resource_version

    def update(self, obj: T) -> None:
        self._populated = True
        self._put(DeltaType.UPDATED, object_key(obj), self._made(obj))
        self._version = obj.metadata.resource_version

    def delete(self, obj: T) -> None:
        """Note a deletion, unless the object is neither waiting nor known: that was told before."""
        self._populated = True
        key = object_key(obj)
        if key in self._items or (self._known is not None and self._known.get(key) is not None):
            self._put(DeltaType.DELETED, key, self._made(obj))
        self._version = obj.metadata.resource_version

    def replace(self, objects: Sequence[T], resource_version: str) -> None:
        """Take in a list: each of its objects, and then the deletion of all others."""
        made = {object_key(obj): self._made(obj) for obj in objects}
        for key, obj in made.items():
            self._put(DeltaType.REPLACED, key, obj)
        missing = [key for key in self._items if key not in made]
        if self._known is not None:
            waiting = self._items
            missing += [k for k in self._known.keys() if k not in made and k not in waiting]  # noqa: SIM118 - no dict
        for key in missing:
            gone = DeletedObject(key, self._last_known(key), final_state_unknown=True)
            self._put(DeltaType.DELETED, key, gone)
        self._version = resource_version
        if not self._populated:
            self._populated = True
            self._initial = len(made) + len(missing)
        self._arrived.set()

    def resync(self) -> None:
        """Tell of every known object again, except those that wait: they are newer than known."""
        if self._known is None:
            return
        for key in self._known.keys():  # noqa: SIM118 - no dict
            obj = self._known.get(key)
            if obj is not None and key not in self._items:
                self._put(DeltaType.SYNC, key, obj)

    def bookmark(self, resource_version: str) -> None:
        self._version = resource_version
        self._arrived.set()

    async def room(self) -> None:
        while len(self._items) >= HOLD_UP and not self._closed:
            self._taken.clear()
            await self._taken.wait()

    # What the informer calls

    @property
    def has_synced(self) -> bool:
        """Whether the first list was taken, or something else came before any list."""
        return self._populated and not self._initial

    async def pop(self, process: Process[T]) -> None:
        """Let *process* have all deltas of the key that waits longest.

        With nothing waiting but a bookmark, that is told.
        """
        while not self._items and self._version is None:
            if self._closed:
                raise FIFOClosed
            self._arrived.clear()
            await self._arrived.wait()
        initial = not self.has_synced
        deltas: list[Delta[T]] = []
        if self._items:
            deltas += self._items.popitem(last=False)[1]
            self._initial = max(0, self._initial - 1)
        version = ""
        if not self._items:
            version, self._version = self._version or "", None
        try:
            process(DeltaBatch(deltas or [Bookmark(version)], initial, version))
        finally:
            self._taken.set()

    def close(self) -> None:
        self._closed = True
        self._arrived.set()
        self._taken.set()

    def __len__(self) -> int:
        return len(self._items)

    def _put(self, kind: DeltaType, key: str, obj: T | DeletedObject[T]) -> None:
        change = ObjectChange(kind, key, obj)
        waiting = self._items.setdefault(key, [])
        if waiting and kind is DeltaType.DELETED is waiting[-1].type:
            # Of two deletions the newer, unless only the older one knows the final state.
            if not isinstance(obj, DeletedObject):
                waiting[-1] = change
        else:
            waiting.append(change)
        self._arrived.set()

    def _last_known(self, key: str) -> T | None:
        if waiting := self._items.get(key):
            return waiting[-1].last_known
        return self._known.get(key) if self._known is not None else None

    def _made(self, obj: T) -> T:
        return obj if self._transform is None else self._transform(obj)
