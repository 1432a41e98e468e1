"""Handlers: from a change to the names that have to be reconciled because of it.

Most are a mapping from an object to names. It is asked for both states of an update, because what
an object no longer belongs to has to hear of it as well.
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
"""The objects to reconcile because of one that changed; it may look things up and be async."""


class ChangeHandler(Protocol[T]):
    """Puts the names that a change concerns into a queue."""

    async def handle(self, change: Change[T], queue: Queue[NamespacedName], /) -> None: ...


class ForObject(Generic[T]):
    """The object that changed is the one to reconcile."""

    async def handle(self, change: Change[T], queue: Queue[NamespacedName]) -> None:
        if isinstance(change, RemovedObject):
            queue.add(NamespacedName.parse(change.key))
        else:
            queue.add(NamespacedName.of(change.objects[-1]), priority=priority_of(change))


class Mapped(Generic[T]):
    """What a function finds for an object is to be reconciled."""

    def __init__(self, function: MapFunction[T]) -> None:
        self._function = function

    async def handle(self, change: Change[T], queue: Queue[NamespacedName]) -> None:
        priority = priority_of(change)
        found: dict[NamespacedName, None] = {}
        for obj in change.objects:
            names = self._function(obj)
            found |= dict.fromkeys(await names if inspect.isawaitable(names) else names)
        for name in found:
            queue.add(name, priority=priority)
