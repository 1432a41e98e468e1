"""Finalizers: cleanup that must be done before an object is deleted.

A finalizer is a name in the object's metadata. While an object has one, a delete only marks it as
terminating; the controller that added the finalizer cleans up and removes it.
"""

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from apimachinery.meta.types import Object

if TYPE_CHECKING:
    from client.controller.context import Context

T = TypeVar("T", bound=Object)

_QUALIFIED: Final = re.compile(r"[^/\s]+/[^/\s]+")


class Finalize(Protocol[T]):
    """Cleans up before the object is deleted. Raises an exception if it has to be retried."""

    def __call__(self, ctx: "Context[T]", /) -> Awaitable[object]: ...


class InvalidFinalizer(ValueError):
    """A finalizer with an unqualified name, or one that is already registered."""


def has_finalizer(obj: Object, name: str) -> bool:
    return name in obj.metadata.finalizers


def add_finalizer(obj: Object, name: str) -> bool:
    """Add a finalizer and return whether it was missing."""
    if name in obj.metadata.finalizers:
        return False
    obj.metadata.finalizers.append(name)
    return True


def remove_finalizer(obj: Object, name: str) -> bool:
    """Remove a finalizer and return whether it was present."""
    before = len(obj.metadata.finalizers)
    obj.metadata.finalizers = [
        finalizer for finalizer in obj.metadata.finalizers if finalizer != name
    ]
    return len(obj.metadata.finalizers) < before


class Finalizers(Generic[T]):
    """The finalizers of one controller, each with its cleanup function.

    finalizers = Finalizers()

    @finalizers.register("gadgets.example.io/archive")
    async def archive(ctx): ...

    async def reconcile(ctx):
        if not await finalizers.run(ctx):
            return None         # the object is terminating, and its cleanup is complete
    """

    def __init__(self) -> None:
        self._registered: dict[str, Finalize[T]] = {}

    def register(self, name: str) -> Callable[[Finalize[T]], Finalize[T]]:
        """Decorate a function that is called before an object is deleted.

        Raises InvalidFinalizer if the name is not qualified or is already registered.
        """
        if _QUALIFIED.fullmatch(name) is None:
            raise InvalidFinalizer(f"finalizer {name!r}: must be qualified like example.io/name")
        if name in self._registered:
            raise InvalidFinalizer(f"finalizer for key {name} already registered")

        def register(function: Finalize[T]) -> Finalize[T]:
            self._registered[name] = function
            return function

        return register

    async def run(self, ctx: "Context[T]") -> bool:
        """Add missing finalizers to an object; run the cleanup of a terminating one.

        Returns whether to reconcile the object: False if it is terminating or does not exist.
        Cleanup functions run in order of registration, and each finalizer is removed when its
        function has succeeded.
        """
        obj = await ctx.get()
        if obj is None:
            return False
        if obj.metadata.deletion_timestamp is None:
            missing = [name for name in self._registered if not has_finalizer(obj, name)]
            if missing:
                await ctx.modify(
                    lambda newest: newest.metadata.finalizers.extend(
                        name for name in missing if not has_finalizer(newest, name)
                    )
                )
            return True
        for name, function in self._registered.items():
            if has_finalizer(obj, name):
                await function(ctx)
                await ctx.remove_finalizer(name)
        return False
