"""Handlers: what is told of changes, as a class or as single functions.

A method or function may be `async`; it is then awaited before the next notification. One that is
not runs on the event loop and holds up everything else there: it should only take note, as by
putting a key into a queue.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import DeletedObject, object_key

T = TypeVar("T", bound=Object)

Outcome: TypeAlias = Awaitable[object] | object
"""What a handler returns: something to await, or anything else, which is ignored."""


class Handler(Generic[T]):
    """What happens to the objects of an informer; override what you care for.

    The objects are those of the cache: read them, copy them (`deep_copy`), never change them.
    """

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return type(self).__name__

    def on_add(self, obj: T, is_in_initial_list: bool, /) -> Outcome:
        """An object is there; perhaps it was so before anybody looked."""

    def on_update(self, old: T, new: T, /) -> Outcome:
        """An object changed, or (with equal resourceVersions) is only told again by a resync."""

    def on_delete(self, deleted: DeletedObject[T], /) -> Outcome:
        """An object is gone."""


class Functions(Handler[T]):
    """A handler made of functions; missing ones ignore what they would be told."""

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
        given = (self._add, self._update, self._delete)
        return ", ".join(getattr(each, "__qualname__", repr(each)) for each in given if each)

    def on_add(self, obj: T, is_in_initial_list: bool) -> Outcome:
        return self._add(obj) if self._add is not None else None

    def on_update(self, old: T, new: T) -> Outcome:
        return self._update(old, new) if self._update is not None else None

    def on_delete(self, deleted: DeletedObject[T]) -> Outcome:
        return self._delete(deleted) if self._delete is not None else None


class Filtered(Handler[T]):
    """Lets another handler see only objects for which *accept* is true.

    An object that begins to pass is added, one that ceases to is deleted. Of an object whose last
    state is not known nobody can tell whether it passed; its deletion is passed on.
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
