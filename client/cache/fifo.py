"""FIFO: a queue that preserves the order of all changes.

No change is dropped or merged: handlers are notified of each change of each object, and the store
passes through the same states as the server. A list is one entry, so the store goes from one
complete state to the next.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeVar

from apimachinery.meta.types import Object
from client.cache.delta_queue import DeltaQueue, Process
from client.cache.deltas import (
    Bookmark,
    Delta,
    DeltaBatch,
    DeltaType,
    ObjectChange,
    ReplacedAll,
    SyncAll,
    Transform,
)
from client.cache.keys import object_key

T = TypeVar("T", bound=Object)

MAX_BATCH: Final = 1000
"""The largest number of deltas that are applied in one step."""


class FIFO(DeltaQueue[T]):
    """Deltas in order of arrival."""

    def __init__(self, transform: Transform[T] | None = None) -> None:
        super().__init__(transform)
        self._items: deque[Delta[T]] = deque()

    def add(self, obj: T) -> None:
        self._put_change(DeltaType.ADDED, obj)

    def update(self, obj: T) -> None:
        self._put_change(DeltaType.UPDATED, obj)

    def delete(self, obj: T) -> None:
        self._put_change(DeltaType.DELETED, obj)

    def replace(self, objects: Sequence[T], resource_version: str) -> None:
        """Enqueue a list as one entry; if an object has no key or its transform fails, nothing."""
        transformed = {object_key(obj): self._apply_transform(obj) for obj in objects}
        self._put(ReplacedAll(transformed, resource_version))
        if not self._populated:
            self._populated = True
            self._initial = len(self._items)

    def resync(self) -> None:
        self._put(SyncAll())

    def bookmark(self, resource_version: str) -> None:
        self._put(Bookmark(resource_version))

    async def pop(self, process: Process[T]) -> None:
        await self._wait_for_deltas()
        is_initial = not self.has_synced
        deltas = self._take()
        try:
            process(DeltaBatch(deltas, is_initial, _version_after(deltas[-1])))
        finally:
            self._initial = max(0, self._initial - len(deltas))
            self._popped.set()

    def _is_empty(self) -> bool:
        return not self._items

    def _put_change(self, delta_type: DeltaType, obj: T) -> None:
        key = object_key(obj)
        self._populated = True
        self._put(ObjectChange(delta_type, key, self._apply_transform(obj)))

    def _put(self, delta: Delta[T]) -> None:
        self._items.append(delta)
        self._arrived.set()

    def _take(self) -> list[Delta[T]]:
        """Remove and return the next deltas that can be applied in one step: one for each key."""
        items = self._items
        first = items.popleft()
        batch = [first]
        if not isinstance(first, ObjectChange):
            return batch
        keys = {first.key}
        while items and len(batch) < MAX_BATCH:
            following = items[0]
            if not isinstance(following, ObjectChange) or following.key in keys:
                break
            keys.add(following.key)
            batch.append(items.popleft())
        return batch


def _version_after(delta: Delta[T]) -> str:
    if isinstance(delta, ObjectChange):
        obj = delta.last_known
        return "" if obj is None else obj.metadata.resource_version
    return "" if isinstance(delta, SyncAll) else delta.resource_version
