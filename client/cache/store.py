"""Store: the objects of a cache by key, and indices over them.

It belongs to one event loop and has no locks. Nothing in it waits, so whoever reads sees the
objects and every index in the state after some write and never in between; a list that was
returned is the reader's own. The objects are shared with everybody and must not be changed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import object_key

T = TypeVar("T", bound=Object)

IndexFunction: TypeAlias = Callable[[T], Iterable[str]]
"""The values under which an object is found; none is allowed, and so are many."""

NAMESPACE: Final = "namespace"
"""The index that every informer has."""


class IndexFailed(Exception):
    """An index function raised: without its values the cache would lie, so this is fatal."""


class UnknownIndex(LookupError):
    """There is no index of this name."""


class IndexExists(ValueError):
    """There is an index of this name already."""


def namespace_of(obj: Object) -> tuple[str, ...]:
    """The function of the namespace index."""
    return (obj.metadata.namespace,)


class Store(Generic[T]):
    """The newest known state of the objects of a collection."""

    def __init__(self, indexers: Mapping[str, IndexFunction[T]] | None = None) -> None:
        self._items: dict[str, T] = {}
        self._indices: dict[str, _Index[T]] = {}
        self.resource_version = ""
        """The state of the collection that this is; empty before the first one is known."""
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
        """The objects that an index has under *value*."""
        items = self._items
        return [items[key] for key in self._index(name).keys_of(value)]

    def index_keys(self, name: str, value: str) -> list[str]:
        return list(self._index(name).keys_of(value))

    def index_values(self, name: str) -> list[str]:
        """The values of an index under which there is anything."""
        return list(self._index(name).values)

    def sharing(self, name: str, obj: T) -> list[T]:
        """The objects that have some value of an index in common with *obj*."""
        index = self._index(name)
        keys = {key: None for value in index.compute(obj) for key in index.keys_of(value)}
        return [self._items[key] for key in keys]

    def has_index(self, name: str) -> bool:
        return name in self._indices

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Index everything there is and will be; IndexExists when the name is taken."""
        if name in self._indices:
            raise IndexExists(f"indexer conflict: there is an index {name!r} already")
        index = _Index(name, function)
        for key, obj in self._items.items():
            index.move(key, (), index.compute(obj))
        self._indices[name] = index

    # Writing, by an informer or a reflector

    def put(self, key: str, obj: T) -> T | None:
        """Set the object of *key*; returns the one it had."""
        old = self._items.get(key)
        self._reindex(key, old, obj)
        self._items[key] = obj
        return old

    def remove(self, key: str) -> T | None:
        """Forget the object of *key*; returns it."""
        old = self._items.get(key)
        if old is not None:
            self._reindex(key, old, None)
            del self._items[key]
        return old

    def replace_all(self, items: dict[str, T], resource_version: str) -> dict[str, T]:
        """Set every object at once; returns those it had. The store keeps *items*."""
        fresh = {name: _Index(name, index.function) for name, index in self._indices.items()}
        for index in fresh.values():
            for key, obj in items.items():
                index.move(key, (), index.compute(obj))
        before, self._items = self._items, items
        self._indices = fresh
        self.resource_version = resource_version
        return before

    # Being written by a reflector directly, without a queue

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
        """Note that nothing else happened up to *resource_version*."""
        self.resource_version = resource_version

    def resync(self) -> None:
        """Nobody is told of anything here, so there is nothing to tell again."""

    async def room(self) -> None:
        """There is always room."""

    def _index(self, name: str) -> "_Index[T]":
        try:
            return self._indices[name]
        except KeyError:
            raise UnknownIndex(f"index with name {name!r} does not exist") from None

    def _reindex(self, key: str, old: T | None, new: T | None) -> None:
        # All values first: an index function that raises must leave everything as it was.
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
    """One index: value -> keys, in the order they came."""

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
                # Values come and go, names of nodes for one; an empty entry must not stay.
                if not keys:
                    del self.values[value]
        for value in after:
            self.values.setdefault(value, {})[key] = None
