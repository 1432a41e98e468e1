"""Store: cached objects by key, with indices.

A store belongs to one event loop and has no locks. No method waits, so a reader sees the objects
and all indices as they are after a write, never in between. Returned lists are copies; the objects
in them are shared with all readers and must not be modified.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import object_key

T = TypeVar("T", bound=Object)

IndexFunction: TypeAlias = Callable[[T], Iterable[str]]
"""Returns the values under which an object is indexed: none, one or several."""

NAMESPACE: Final = "namespace"
"""The name of the index by namespace, which every informer has."""


class IndexFailed(Exception):
    """An index function raised an exception; fatal, because the index would be incomplete."""


class UnknownIndex(LookupError):
    """There is no index of this name."""


class IndexExists(ValueError):
    """An index of this name already exists."""


def namespace_of(obj: Object) -> tuple[str, ...]:
    """Return the value of the namespace index."""
    return (obj.metadata.namespace,)


class Store(Generic[T]):
    """The newest known state of the objects of a collection."""

    def __init__(self, indexers: Mapping[str, IndexFunction[T]] | None = None) -> None:
        self._items: dict[str, T] = {}
        self._indices: dict[str, _Index[T]] = {}
        self.resource_version = ""
        """The state of the collection that the store reflects; empty before the first list."""
        for name, function in (indexers or {}).items():
            self.add_index(name, function)

    # Reading

    def get(self, key: str) -> T | None:
        return self._items.get(key)

    def objects(self) -> list[T]:
        return list(self._items.values())

    def keys(self) -> list[str]:
        return list(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def by_index(self, name: str, value: str) -> list[T]:
        """Return the objects that the index *name* has under *value*.

        Raises UnknownIndex if there is no such index.
        """
        items = self._items
        return [items[key] for key in self._index(name).keys_of(value)]

    def index_keys(self, name: str, value: str) -> list[str]:
        """Return the keys of the objects that the index *name* has under *value*."""
        return list(self._index(name).keys_of(value))

    def index_values(self, name: str) -> list[str]:
        """Return the values that an index has for at least one object."""
        return list(self._index(name).values)

    def has_index(self, name: str) -> bool:
        return name in self._indices

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Index all present and future objects. Raises IndexExists if the name is taken."""
        if name in self._indices:
            raise IndexExists(f"indexer conflict: index {name!r} already exists")
        index = _Index(name, function)
        for key, obj in self._items.items():
            index.move(key, (), index.compute(obj))
        self._indices[name] = index

    # Writing, by the informer

    def put(self, key: str, obj: T) -> T | None:
        """Store *obj* under *key* and return the previous object."""
        old = self._items.get(key)
        self._reindex(key, old, obj)
        self._items[key] = obj
        return old

    def remove(self, key: str) -> T | None:
        """Remove the object of *key* and return it."""
        old = self._items.get(key)
        if old is not None:
            self._reindex(key, old, None)
            del self._items[key]
        return old

    def replace_all(self, items: dict[str, T], resource_version: str) -> dict[str, T]:
        """Replace all objects at once and return the previous ones. The store keeps *items*."""
        indices = {name: _Index(name, index.function) for name, index in self._indices.items()}
        for index in indices.values():
            for key, obj in items.items():
                index.move(key, (), index.compute(obj))
        previous, self._items = self._items, items
        self._indices = indices
        self.resource_version = resource_version
        return previous

    # Writing, by a reflector that has no queue in between

    def add(self, obj: T) -> None:
        self.put(object_key(obj), obj)
        self.resource_version = obj.metadata.resource_version

    def update(self, obj: T) -> None:
        self.add(obj)

    def delete(self, obj: T) -> None:
        self.remove(object_key(obj))
        self.resource_version = obj.metadata.resource_version

    def replace(self, objects: Iterable[T], resource_version: str) -> None:
        self.replace_all({object_key(obj): obj for obj in objects}, resource_version)

    def bookmark(self, resource_version: str) -> None:
        """Record that nothing else changed up to *resource_version*."""
        self.resource_version = resource_version

    def resync(self) -> None:
        """Do nothing: a store without an informer has no handlers to notify."""

    async def wait_for_room(self) -> None:
        """Return at once: a store is never full."""

    def _index(self, name: str) -> "_Index[T]":
        try:
            return self._indices[name]
        except KeyError:
            raise UnknownIndex(f"index with name {name!r} does not exist") from None

    def _reindex(self, key: str, old: T | None, new: T | None) -> None:
        # Compute all values first: if an index function raises, no index may have changed.
        moves = [
            (
                index,
                index.compute(old) if old is not None else (),
                index.compute(new) if new is not None else (),
            )
            for index in self._indices.values()
        ]
        for index, before, after in moves:
            if before != after:
                index.move(key, before, after)


class _Index(Generic[T]):
    """One index: the keys for each value, in order of insertion."""

    __slots__ = ("function", "name", "values")

    def __init__(self, name: str, function: IndexFunction[T]) -> None:
        self.name = name
        self.function = function
        self.values: dict[str, dict[str, None]] = {}

    def compute(self, obj: T) -> tuple[str, ...]:
        try:
            return tuple(self.function(obj))
        except Exception as error:
            key = object_key(obj)
            raise IndexFailed(
                f"unable to calculate an index entry for key {key!r} on index {self.name!r}:"
                f" {error}"
            ) from error

    def keys_of(self, value: str) -> Iterable[str]:
        return self.values.get(value, ())

    def move(self, key: str, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        for value in before:
            if value not in after and (keys := self.values.get(value)) is not None:
                keys.pop(key, None)
                # Values such as node names change over time: empty entries would leak memory.
                if not keys:
                    del self.values[value]
        for value in after:
            self.values.setdefault(value, {})[key] = None
