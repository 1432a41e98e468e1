"""FIFO: a queue in which everything keeps the order in which it arrived.

Nothing is dropped or merged: whoever reads it sees each change of each object, and the store goes
through the same states as the server. A list is one element, so the store steps from one whole
state to the next.

It holds what the reflector brings until it is processed; when 2,000 deltas wait, the reflector is
held up, and through it the server, which may end a watch that is too slow.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from apimachinery.meta.types import Object
from client.cache.deltas import (
    Bookmark,
    Delta,
    DeltaBatch,
    DeltaType,
    FIFOClosed,
    ObjectChange,
    Process,
    ReplacedAll,
    SyncAll,
    Transform,
)
from client.cache.keys import object_key

T = TypeVar("T", bound=Object)

BATCH: Final = 1000
"""The most deltas that are applied in one step."""
HOLD_UP: Final = 2 * BATCH
"""When so many wait, there is no room for more."""


class FIFO(Generic[T]):
    """Deltas in the order of their arrival."""

    def __init__(self, transform: Transform[T] | None = None) -> None:
        self._transform = transform
        self._items: deque[Delta[T]] = deque()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._closed = False
        self._populated = False
        self._initial = 0

    # What the reflector calls

    def add(self, obj: T) -> None:
        self._put_change(DeltaType.ADDED, obj)

    def update(self, obj: T) -> None:
        self._put_change(DeltaType.UPDATED, obj)

    def delete(self, obj: T) -> None:
        self._put_change(DeltaType.DELETED, obj)

    def replace(self, objects: Sequence[T], resource_version: str) -> None:
        """Take in a list as one element; if one object is refused, all are."""
        self._put(
            ReplacedAll({object_key(obj): self._made(obj) for obj in objects}, resource_version)
        )
        if not self._populated:
            self._populated = True
            self._initial = len(self._items)

    def resync(self) -> None:
        self._put(SyncAll())

    def bookmark(self, resource_version: str) -> None:
        self._put(Bookmark(resource_version))

    async def room(self) -> None:
        while len(self._items) >= HOLD_UP and not self._closed:
            self._taken.clear()
            await self._taken.wait()

    # What the informer calls

    @property
    def has_synced(self) -> bool:
        """Whether the first list was processed, or something else came before any list."""
        return self._populated and not self._initial

    async def pop(self, process: Process[T]) -> None:
        while not self._items:
            if self._closed:
                raise FIFOClosed
            self._arrived.clear()
            await self._arrived.wait()
        initial = not self.has_synced
        deltas = self._take()
        try:
            process(DeltaBatch(deltas, initial, _version_after(deltas[-1])))
        finally:
            self._initial = max(0, self._initial - len(deltas))
            self._taken.set()

    def close(self) -> None:
        self._closed = True
        self._arrived.set()
        self._taken.set()

    def __len__(self) -> int:
        return len(self._items)

    def _put_change(self, kind: DeltaType, obj: T) -> None:
        key = object_key(obj)
        self._populated = True
        self._put(ObjectChange(kind, key, self._made(obj)))

    def _put(self, delta: Delta[T]) -> None:
        self._items.append(delta)
        self._arrived.set()

    def _made(self, obj: T) -> T:
        return obj if self._transform is None else self._transform(obj)

    def _take(self) -> list[Delta[T]]:
        """The next deltas that can be applied in one step: each of another key."""
        items = self._items
        first = items.popleft()
        taken = [first]
        if not isinstance(first, ObjectChange):
            return taken
        keys = {first.key}
        while items and len(taken) < BATCH:
            following = items[0]
            if not isinstance(following, ObjectChange) or following.key in keys:
                break
            keys.add(following.key)
            taken.append(items.popleft())
        return taken


def _version_after(delta: Delta[T]) -> str:
    if isinstance(delta, ObjectChange):
        known = delta.last_known
        return "" if known is None else known.metadata.resource_version
    return "" if isinstance(delta, SyncAll) else delta.resource_version
