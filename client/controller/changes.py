"""Changes: the notifications of a source, before they are mapped to names in a queue."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.workqueue.priority_queue import LOW_PRIORITY

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class CreatedObject(Generic[T]):
    """An object was created, or, with *is_in_initial_list*, existed when the controller started."""

    object: T
    is_in_initial_list: bool = False

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.object,)


@dataclass(frozen=True, slots=True)
class UpdatedObject(Generic[T]):
    """An object was updated; a resync repeats it with equal resourceVersions."""

    old: T
    new: T

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.old, self.new)


@dataclass(frozen=True, slots=True)
class RemovedObject(Generic[T]):
    """An object was deleted; with *state_unknown*, *object* may be stale or None."""

    key: str
    object: T | None
    state_unknown: bool = False

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.object,) if self.object is not None else ()


@dataclass(frozen=True, slots=True)
class ExternalObject(Generic[T]):
    """An event outside the cluster concerns an object."""

    object: T

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.object,)


Change: TypeAlias = CreatedObject[T] | UpdatedObject[T] | RemovedObject[T] | ExternalObject[T]


def priority_of(change: Change[T]) -> int:
    """Return LOW_PRIORITY for objects of the initial list and for updates that change nothing."""
    if isinstance(change, CreatedObject) and change.is_in_initial_list:
        return LOW_PRIORITY
    if isinstance(change, UpdatedObject):
        old, new = change.old.metadata, change.new.metadata
        return LOW_PRIORITY if old.resource_version == new.resource_version else 0
    return 0
