"""Writes: what a controller has written and its cache has not shown yet.

A cache is a moment behind. A reconciler that reads it right after a write would see the past, and
do its work a second time. What was written is therefore kept here until the cache has come as far,
and read in place of what the cache has.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from client.cache.keys import object_key
from client.cache.resource_versions import compare, has_reached, is_valid

T = TypeVar("T", bound=Object)

DELETED_KEPT: Final = 10_000
"""So many deletions are remembered; by then the cache has long heard of the oldest."""


class Writes(Generic[T]):
    """The newest own writes of one class; *cache_version* is how far the cache has come."""

    def __init__(self, cache_version: Callable[[], str]) -> None:
        self._cache_version = cache_version
        self._objects: OrderedDict[str, T] = OrderedDict()
        self._deleted: OrderedDict[str, None] = OrderedDict()

    def observe(self, answer: T | Status) -> None:
        """Record the answer to a write: the stored object, or the Status of a deletion.

        The object is copied, because the caller that wrote it may change it.
        """
        if not isinstance(answer, Status):
            self.wrote(answer.deep_copy())
        elif answer.details is not None:
            self.deleted(answer.details.uid)

    def wrote(self, obj: T) -> None:
        """Note the state that a write was answered with."""
        version = obj.metadata.resource_version
        if not is_valid(version):
            return
        self._forget_known()
        if has_reached(self._cache_version(), version):
            return
        key = object_key(obj)
        known = self._objects.get(key)
        if known is None or compare(version, known.metadata.resource_version) > 0:
            self._objects[key] = obj
            self._objects.move_to_end(key)

    def deleted(self, uid: str) -> None:
        """Note that an object is gone; uids are never used again."""
        if uid:
            self._deleted[uid] = None
            while len(self._deleted) > DELETED_KEPT:
                self._deleted.popitem(last=False)

    def newest(self, key: str, cached: T | None) -> T | None:
        """What is known of an object of which the cache has *cached*."""
        self._forget_known()
        found = self._objects.get(key, cached)
        return None if found is None or found.metadata.uid in self._deleted else found

    def over(self, cached: Iterable[T]) -> Iterator[T]:
        """All objects: those of the cache, with own writes in their place or beside them."""
        self._forget_known()
        waiting = dict(self._objects)
        for obj in cached:
            newest = waiting.pop(object_key(obj), obj)
            if newest.metadata.uid not in self._deleted:
                yield newest
        for obj in waiting.values():
            if obj.metadata.uid not in self._deleted:
                yield obj

    def __len__(self) -> int:
        """How many writes the cache has not shown yet."""
        self._forget_known()
        return len(self._objects)

    def _forget_known(self) -> None:
        reached = self._cache_version()
        while self._objects:
            key, oldest = next(iter(self._objects.items()))
            if not has_reached(reached, oldest.metadata.resource_version):
                return
            del self._objects[key]
