"""Finalizers: what has to be done before an object goes away.

A finalizer is a name in the object's metadata. While there is one the object is marked as deleted
and stays; whoever put the name there does its work and takes it off.
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
    """Does what is due before the object goes; raises if it could not be done."""

    def __call__(self, ctx: "Context[T]", /) -> Awaitable[object]: ...


class InvalidFinalizer(ValueError):
    """A finalizer that cannot be used; the message says why."""


def has_finalizer(obj: Object, name: str) -> bool:
    return name in obj.metadata.finalizers


def add_finalizer(obj: Object, name: str) -> bool:
    """Add a finalizer; tell whether it was missing."""
    if name in obj.metadata.finalizers:
        return False
    obj.metadata.finalizers.append(name)
    return True


def remove_finalizer(obj: Object, name: str) -> bool:
    """Take a finalizer off; tell whether it was there."""
    before = len(obj.metadata.finalizers)
    obj.metadata.finalizers = [each for each in obj.metadata.finalizers if each != name]
    return len(obj.metadata.finalizers) < before


class Finalizers(Generic[T]):
    """The finalizers of one controller, each with its work.

    finalizers = Finalizers()

    @finalizers.register("gadgets.example.io/archive")
    async def archive(ctx): ...

    async def reconcile(ctx):
        if not await finalizers.run(ctx):
            return None         # it is being deleted, and everything for that has been done
    """

    def __init__(self) -> None:
        self._registered: dict[str, Finalize[T]] = {}

    def register(self, name: str) -> Callable[[Finalize[T]], Finalize[T]]:
        """A decorator: the function is called before an object goes away."""
        if _QUALIFIED.fullmatch(name) is None:
            raise InvalidFinalizer(f"finalizer {name!r}: must be like example.io/name")
        if name in self._registered:
            raise InvalidFinalizer(f"finalizer for key {name} already registered")

        def keep(function: Finalize[T]) -> Finalize[T]:
            self._registered[name] = function
            return function

        return keep

    async def run(self, ctx: "Context[T]") -> bool:
        """Add what is missing to a living object; do what is due for one that is being deleted.

        Whether the object lives on: if not, there is nothing left to reconcile. The work is done
        in the order of registration, and each finalizer is taken off when its work has succeeded.
        """
        obj = await ctx.get()
        if obj is None:
            return False
        if obj.metadata.deletion_timestamp is None:
            missing = [name for name in self._registered if not has_finalizer(obj, name)]
            if missing:
                await ctx.modify(
                    lambda it: it.metadata.finalizers.extend(
                        name for name in missing if not has_finalizer(it, name)
                    )
                )
            return True
        for name, function in self._registered.items():
            if has_finalizer(obj, name):
                await function(ctx)
                await ctx.remove_finalizer(name)
        return False
