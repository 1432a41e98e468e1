"""OwnWrites: objects that a controller has written but its cache does not include yet.

A cache lags behind the server. A reconciler that reads it right after a write would see the old
state and repeat its work. Written objects are therefore kept here until the cache has reached their
resourceVersion, and are returned in place of the cached ones.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from client.cache.keys import object_key
from client.cache.resource_versions import compare, has_reached, is_valid

T = TypeVar("T", bound=Object)

MAX_DELETED: Final = 10_000
"""The number of deletions to remember; the cache has observed the oldest long before."""


class OwnWrites(Generic[T]):
    """The newest writes of one class; *cache_version* returns the cache's resourceVersion."""

    def __init__(self, cache_version: Callable[[], str]) -> None:
        self._cache_version = cache_version
        self._objects: OrderedDict[str, T] = OrderedDict()
        self._deleted: OrderedDict[str, None] = OrderedDict()

    def observe(self, answer: T | Status) -> None:
        """Record the response to a write: the stored object, or the Status of a deletion.

        The object is copied, because the caller that wrote it may change it.
        """
        if not isinstance(answer, Status):
            self.record(answer.deep_copy())
        elif answer.details is not None:
            self.record_deletion(answer.details.uid)

    def record(self, obj: T) -> None:
        """Keep the object that a write returned, unless the cache already includes it."""
        version = obj.metadata.resource_version
        # Without a comparable resourceVersion, only the cache is authoritative.
        if not is_valid(version):
            return
        self._drop_cached()
        if has_reached(self._cache_version(), version):
            return
        key = object_key(obj)
        previous = self._objects.get(key)
        # Responses to concurrent writes may arrive out of order.
        if previous is None or compare(version, previous.metadata.resource_version) > 0:
            self._objects[key] = obj
            self._objects.move_to_end(key)

    def record_deletion(self, uid: str) -> None:
        """Hide the object with this uid from now on; uids are never reused."""
        if uid:
            self._deleted[uid] = None
            while len(self._deleted) > MAX_DELETED:
                self._deleted.popitem(last=False)

    def newest(self, key: str, cached: T | None) -> T | None:
        """Return the newest state of the object that the cache has as *cached*; None if deleted."""
        self._drop_cached()
        newest = self._objects.get(key, cached)
        return None if newest is None or newest.metadata.uid in self._deleted else newest

    def merge(self, cached: Iterable[T]) -> Iterator[T]:
        """Yield the cached objects, replaced by newer writes, and the writes of other objects."""
        self._drop_cached()
        remaining = dict(self._objects)
        for obj in cached:
            newest = remaining.pop(object_key(obj), obj)
            if newest.metadata.uid not in self._deleted:
                yield newest
        for obj in remaining.values():
            if obj.metadata.uid not in self._deleted:
                yield obj

    def __len__(self) -> int:
        """Return the number of writes that the cache does not include yet."""
        self._drop_cached()
        return len(self._objects)

    def _drop_cached(self) -> None:
        cache_version = self._cache_version()
        while self._objects:
            key, oldest = next(iter(self._objects.items()))
            if not has_reached(cache_version, oldest.metadata.resource_version):
                return
            del self._objects[key]
