"""DeltaFIFO: a queue of keys, each with all changes to its object since it was last popped.

A key waits once, however often its object changes, and is popped with all of its changes together.
The order between objects is not preserved, so the resourceVersion of the store is known only when
the queue is empty. The queue holds at most one entry for each object.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol, TypeVar

from apimachinery.meta.types import Object
from client.cache.delta_queue import DeltaQueue, Process
from client.cache.deltas import Bookmark, Delta, DeltaBatch, DeltaType, ObjectChange, Transform
from client.cache.keys import DeletedObject, object_key

T = TypeVar("T", bound=Object)
T_co = TypeVar("T_co", bound=Object, covariant=True)


class KnownObjects(Protocol[T_co]):
    """The objects that were already processed, usually the store."""

    def get(self, key: str) -> T_co | None: ...

    def keys(self) -> Sequence[str]: ...


class DeltaFIFO(DeltaQueue[T]):
    """Keys in the order of their first change.

    With *known*, `replace` enqueues a deletion for each known object that is not in the list.
    """

    def __init__(
        self, known: KnownObjects[T] | None = None, transform: Transform[T] | None = None
    ) -> None:
        super().__init__(transform)
        self._known = known
        # Both the queue and its items. A plain dict is ordered too, but to find its first key it
        # skips every key that was removed before: draining a long queue would take quadratic time.
        self._items: OrderedDict[str, list[ObjectChange[T]]] = OrderedDict()
        # The newest resourceVersion received; None once it was passed to the informer.
        self._version: str | None = None

    def add(self, obj: T) -> None:
        self._populated = True
        self._put(DeltaType.ADDED, object_key(obj), self._apply_transform(obj))
        self._version = obj.metadata.resource_version

    def update(self, obj: T) -> None:
        self._populated = True
        self._put(DeltaType.UPDATED, object_key(obj), self._apply_transform(obj))
        self._version = obj.metadata.resource_version

    def delete(self, obj: T) -> None:
        """Enqueue a deletion; skip it if the object is neither queued nor known."""
        self._populated = True
        key = object_key(obj)
        if key in self._items or (self._known is not None and self._known.get(key) is not None):
            self._put(DeltaType.DELETED, key, self._apply_transform(obj))
        self._version = obj.metadata.resource_version

    def replace(self, objects: Sequence[T], resource_version: str) -> None:
        """Enqueue the objects of a list, and then the deletion of all others."""
        listed = {object_key(obj): self._apply_transform(obj) for obj in objects}
        for key, obj in listed.items():
            self._put(DeltaType.REPLACED, key, obj)
        missing = [key for key in self._items if key not in listed]
        if self._known is not None:
            queued = self._items
            missing += [k for k in self._known.keys() if k not in listed and k not in queued]  # noqa: SIM118 - no dict
        for key in missing:
            deleted = DeletedObject(key, self._last_known(key), final_state_unknown=True)
            self._put(DeltaType.DELETED, key, deleted)
        self._version = resource_version
        if not self._populated:
            self._populated = True
            self._initial = len(listed) + len(missing)
        self._arrived.set()

    def resync(self) -> None:
        """Enqueue every known object again, except queued ones: their changes are newer."""
        if self._known is None:
            return
        for key in self._known.keys():  # noqa: SIM118 - no dict
            obj = self._known.get(key)
            if obj is not None and key not in self._items:
                self._put(DeltaType.SYNC, key, obj)

    def bookmark(self, resource_version: str) -> None:
        self._version = resource_version
        self._arrived.set()

    async def pop(self, process: Process[T]) -> None:
        """Call *process* with all deltas of the key that has waited longest.

        If no key waits, but a bookmark has arrived, the batch consists of the bookmark.
        """
        await self._wait_for_deltas()
        is_initial = not self.has_synced
        deltas: list[Delta[T]] = []
        if self._items:
            deltas += self._items.popitem(last=False)[1]
            self._initial = max(0, self._initial - 1)
        version = ""
        if not self._items:
            version, self._version = self._version or "", None
        try:
            process(DeltaBatch(deltas or [Bookmark(version)], is_initial, version))
        finally:
            self._popped.set()

    def _is_empty(self) -> bool:
        return not self._items and self._version is None

    def _put(self, delta_type: DeltaType, key: str, obj: T | DeletedObject[T]) -> None:
        change = ObjectChange(delta_type, key, obj)
        queued = self._items.setdefault(key, [])
        if queued and delta_type is DeltaType.DELETED is queued[-1].type:
            # Two deletions in a row become one: the newer, unless its final state is unknown.
            if not isinstance(obj, DeletedObject):
                queued[-1] = change
        else:
            queued.append(change)
        self._arrived.set()

    def _last_known(self, key: str) -> T | None:
        if queued := self._items.get(key):
            return queued[-1].last_known
        return self._known.get(key) if self._known is not None else None
