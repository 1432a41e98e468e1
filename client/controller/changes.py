"""Changes: what sources tell a controller of, before it becomes a name in a queue."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.workqueue.priority_queue import LOW_PRIORITY

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class CreatedObject(Generic[T]):
    """An object is there; *is_in_initial_list* when it was so before the controller started."""

    object: T
    is_in_initial_list: bool = False

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.object,)


@dataclass(frozen=True, slots=True)
class UpdatedObject(Generic[T]):
    """An object changed, or is only told again: then both have one resourceVersion."""

    old: T
    new: T

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.old, self.new)


@dataclass(frozen=True, slots=True)
class RemovedObject(Generic[T]):
    """An object is gone; with *state_unknown* its last state is a guess, or None."""

    key: str
    object: T | None
    state_unknown: bool = False

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.object,) if self.object is not None else ()


@dataclass(frozen=True, slots=True)
class ExternalObject(Generic[T]):
    """Something outside the cluster happened that has to do with an object."""

    object: T

    @property
    def objects(self) -> tuple[T, ...]:
        return (self.object,)


Change: TypeAlias = CreatedObject[T] | UpdatedObject[T] | RemovedObject[T] | ExternalObject[T]


def priority_of(change: Change[T]) -> int:
    """What was there all along and what has not changed can wait for what has."""
    if isinstance(change, CreatedObject) and change.is_in_initial_list:
        return LOW_PRIORITY
    if isinstance(change, UpdatedObject):
        old, new = change.old.metadata, change.new.metadata
        return LOW_PRIORITY if old.resource_version == new.resource_version else 0
    return 0
