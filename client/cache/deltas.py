"""Deltas: what a reflector has seen, on its way through a queue to the store.

An `ObjectChange` is about one object. The others are about all of them at once, which is why they
are not taken apart: a list replaces the whole store in one step or not at all.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import DeletedObject

T = TypeVar("T", bound=Object)

Transform: TypeAlias = Callable[[T], T]
"""Makes the object that is cached of the one that came: changed in place, or another."""


class DeltaType(StrEnum):
    """What happened to one object."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    """It was in a list."""
    SYNC = "Sync"
    """Nothing happened; it is only told again."""


class ObjectChange(NamedTuple, Generic[T]):
    """What happened to one object."""

    type: DeltaType
    key: str
    object: T | DeletedObject[T]
    """The object after the change; a DeletedObject if it was only found to be missing."""

    @property
    def last_known(self) -> T | None:
        return self.object.object if isinstance(self.object, DeletedObject) else self.object


class ReplacedAll(NamedTuple, Generic[T]):
    """A list: from here on these are the objects, and no others."""

    objects: dict[str, T]
    resource_version: str


class SyncAll(NamedTuple):
    """Every object of the store is to be told again."""


class Bookmark(NamedTuple):
    """Nothing happened up to this resourceVersion."""

    resource_version: str


Delta: TypeAlias = ObjectChange[T] | ReplacedAll[T] | SyncAll | Bookmark


class DeltaBatch(NamedTuple, Generic[T]):
    """Deltas that are applied in one step."""

    deltas: Sequence[Delta[T]]
    is_in_initial_list: bool
    """Whether they belong to the first list."""
    resource_version: str
    """The state that the store is in afterwards; empty when that cannot be said."""


Process: TypeAlias = Callable[[DeltaBatch[T]], None]


class FIFOClosed(Exception):
    """The queue was closed, and everything in it has been taken."""


class DeltaQueue(Protocol[T]):
    """What stands between a reflector and a store: filled by one, emptied by the other."""

    def add(self, obj: T) -> None: ...

    def update(self, obj: T) -> None: ...

    def delete(self, obj: T) -> None: ...

    def replace(self, objects: Sequence[T], resource_version: str) -> None: ...

    def resync(self) -> None: ...

    def bookmark(self, resource_version: str) -> None: ...

    async def room(self) -> None:
        """Return when there is room for more; the only thing that holds up a reflector."""

    @property
    def has_synced(self) -> bool:
        """Whether everything of the first list has been processed."""

    async def pop(self, process: Process[T]) -> None:
        """Wait for a batch and let *process* apply it; FIFOClosed when there will be none.

        There is one caller at a time.
        """

    def close(self) -> None: ...

    def __len__(self) -> int: ...
