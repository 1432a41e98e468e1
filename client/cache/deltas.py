"""Deltas: the changes that a reflector observes, on their way through a queue to the store.

An `ObjectChange` concerns one object. The other deltas concern the whole collection and are not
split up: a list replaces the contents of the store in one step or not at all.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import DeletedObject

T = TypeVar("T", bound=Object)

Transform: TypeAlias = Callable[[T], T]
"""Returns the object to cache for one that was received: the same, changed in place, or another."""


class DeltaType(StrEnum):
    """The kind of a change to one object."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    """The object was in a list."""
    SYNC = "Sync"
    """The object did not change; a resync repeats it."""


class ObjectChange(NamedTuple, Generic[T]):
    """A change to one object."""

    type: DeltaType
    key: str
    object: T | DeletedObject[T]
    """The object after the change; a DeletedObject if it was missing from a list."""

    @property
    def last_known(self) -> T | None:
        return self.object.object if isinstance(self.object, DeletedObject) else self.object


class ReplacedAll(NamedTuple, Generic[T]):
    """A list: the collection now consists of exactly these objects."""

    objects: dict[str, T]
    resource_version: str


class SyncAll(NamedTuple):
    """A resync: handlers are notified of every object in the store again."""


class Bookmark(NamedTuple):
    """A bookmark: nothing else changed up to this resourceVersion."""

    resource_version: str


Delta: TypeAlias = ObjectChange[T] | ReplacedAll[T] | SyncAll | Bookmark


class DeltaBatch(NamedTuple, Generic[T]):
    """Deltas that are applied to the store in one step."""

    deltas: Sequence[Delta[T]]
    is_in_initial_list: bool
    resource_version: str
    """The state of the collection after this batch; empty if the batch does not determine it."""
