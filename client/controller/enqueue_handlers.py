"""Enqueue handlers: map a change to the names that must be reconciled because of it.

Most handlers map an object to names. For an update both the old and the new state are mapped, so
that an object which loses a dependent is reconciled as well.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, Protocol, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.controller.changes import Change, RemovedObject, priority_of
from client.controller.reconciler import NamespacedName
from client.workqueue.workqueue import Queue

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)

Names: TypeAlias = Iterable[NamespacedName]
MapFunction: TypeAlias = Callable[[T], Names | Awaitable[Names]]
"""Returns the names to reconcile because of a changed object; may be async."""


class ChangeHandler(Protocol[T]):
    """Enqueues the names that a change concerns."""

    async def handle(self, change: Change[T], queue: Queue[NamespacedName], /) -> None: ...


class ForObject(Generic[T]):
    """Enqueues the changed object itself, like controller-runtime's EnqueueRequestForObject."""

    async def handle(self, change: Change[T], queue: Queue[NamespacedName]) -> None:
        if isinstance(change, RemovedObject):
            queue.add(NamespacedName.parse(change.key))
        else:
            queue.add(NamespacedName.of(change.objects[-1]), priority=priority_of(change))


class Mapped(Generic[T]):
    """Enqueues the names that a function returns, like EnqueueRequestsFromMapFunc."""

    def __init__(self, function: MapFunction[T]) -> None:
        self._function = function

    async def handle(self, change: Change[T], queue: Queue[NamespacedName]) -> None:
        priority = priority_of(change)
        unique: dict[NamespacedName, None] = {}
        for obj in change.objects:
            names = self._function(obj)
            unique |= dict.fromkeys(await names if inspect.isawaitable(names) else names)
        for name in unique:
            queue.add(name, priority=priority)
