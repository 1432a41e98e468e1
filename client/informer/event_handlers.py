"""Event handlers of an informer, as a class or as single functions.

A method or function may be `async`; it is then awaited before the next notification. A synchronous
one blocks the event loop while it runs, so it should do little more than add a key to a queue.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import DeletedObject, object_key

T = TypeVar("T", bound=Object)

Outcome: TypeAlias = Awaitable[object] | object
"""The return value of a handler: an awaitable is awaited, anything else is ignored."""


class Handler(Generic[T]):
    """Handles added, updated and deleted objects; override the methods you need.

    The objects belong to the cache: read them or copy them (`deep_copy`), but never modify them.
    """

    @property
    def name(self) -> str:
        """The name of the handler in log messages."""
        return type(self).__name__

    def on_add(self, obj: T, is_in_initial_list: bool, /) -> Outcome:
        """Handle an added object, or one that existed when the handler was added."""

    def on_update(self, old: T, new: T, /) -> Outcome:
        """Handle an updated object; a resync repeats objects with equal resourceVersions."""

    def on_delete(self, deleted: DeletedObject[T], /) -> Outcome:
        """Handle a deleted object."""


class HandlerFunctions(Handler[T]):
    """A handler made of functions; notifications without a function are ignored."""

    def __init__(
        self,
        *,
        add: Callable[[T], Outcome] | None = None,
        update: Callable[[T, T], Outcome] | None = None,
        delete: Callable[[DeletedObject[T]], Outcome] | None = None,
    ) -> None:
        self._add = add
        self._update = update
        self._delete = delete

    @property
    def name(self) -> str:
        functions = (self._add, self._update, self._delete)
        return ", ".join(getattr(f, "__qualname__", repr(f)) for f in functions if f)

    def on_add(self, obj: T, is_in_initial_list: bool) -> Outcome:
        return self._add(obj) if self._add is not None else None

    def on_update(self, old: T, new: T) -> Outcome:
        return self._update(old, new) if self._update is not None else None

    def on_delete(self, deleted: DeletedObject[T]) -> Outcome:
        return self._delete(deleted) if self._delete is not None else None


class FilteringHandler(Handler[T]):
    """Notifies another handler only of objects for which *accept* is true.

    An object that starts to be accepted counts as added, one that stops as deleted. The deletion of
    an object whose last state is unknown is passed on, because it may have been accepted before.
    """

    def __init__(self, accept: Callable[[T], bool], handler: Handler[T]) -> None:
        self._accept = accept
        self._handler = handler

    @property
    def name(self) -> str:
        return self._handler.name

    def on_add(self, obj: T, is_in_initial_list: bool) -> Outcome:
        if self._accept(obj):
            return self._handler.on_add(obj, is_in_initial_list)
        return None

    def on_update(self, old: T, new: T) -> Outcome:
        before, after = self._accept(old), self._accept(new)
        if before and after:
            return self._handler.on_update(old, new)
        if after:
            return self._handler.on_add(new, False)
        if before:
            return self._handler.on_delete(DeletedObject(object_key(old), old))
        return None

    def on_delete(self, deleted: DeletedObject[T]) -> Outcome:
        if deleted.object is None or self._accept(deleted.object):
            return self._handler.on_delete(deleted)
        return None
