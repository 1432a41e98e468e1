"""What a reconciler is: a function that makes one object's world as its spec says.

It is told a name and not what happened, so it always starts from what is there now: missing an
event, or being called once too often, does no harm. It returns when it should be called again,
and raises when it could not do its work; the controller then calls it again, later and later.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import join_key, split_key

if TYPE_CHECKING:
    from client.controller.context import Context

T = TypeVar("T", bound=Object)


class NamespacedName(NamedTuple):
    """Which object is to be reconciled; the namespace is empty where there is none."""

    namespace: str
    name: str

    @classmethod
    def of(cls, obj: Object) -> "NamespacedName":
        return cls(obj.metadata.namespace, obj.metadata.name)

    @classmethod
    def parse(cls, key: str) -> "NamespacedName":
        """From the key of a cache; InvalidKey when it is none."""
        return cls(*split_key(key))

    def __str__(self) -> str:
        return join_key(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Result:
    """How a reconcile ended, when it ended well."""

    requeue_after: timedelta | float | None = None
    """Call again after this long (a number is seconds), whatever happens until then."""
    priority: int | None = None
    """The priority of that call; the present one unless given."""
    requeue: bool = False
    """Call again when the rate limiter allows it, as after a failure but without an error."""

    @property
    def seconds(self) -> float:
        """Until the next call; zero or less is none."""
        after = self.requeue_after
        if after is None:
            return 0.0
        return after.total_seconds() if isinstance(after, timedelta) else float(after)


class Terminal(Exception):
    """An error that trying again cannot mend; the object is left alone until it changes."""


class Reconcile(Protocol[T]):
    """A reconciler; most are coroutine functions."""

    def __call__(self, ctx: "Context[T]", /) -> Awaitable[Result | None]: ...
