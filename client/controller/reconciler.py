"""Reconciler: a function that brings the state of one object in line with its spec.

It receives a name instead of an event and always starts from the current state, so a missed event
or an extra call does no harm. Its `Result` may request another call after some time. If it raises,
the controller retries it with increasing delays.
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
    """The name of an object to reconcile; the namespace of a cluster-scoped object is empty."""

    namespace: str
    name: str

    @classmethod
    def of(cls, obj: Object) -> "NamespacedName":
        return cls(obj.metadata.namespace, obj.metadata.name)

    @classmethod
    def parse(cls, key: str) -> "NamespacedName":
        """Parse the key of a cache. Raises InvalidKey if it is malformed."""
        return cls(*split_key(key))

    def __str__(self) -> str:
        return join_key(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a successful reconcile."""

    requeue_after: timedelta | float | None = None
    """Reconcile again after this time (a number is in seconds), in addition to any change."""
    priority: int | None = None
    """The priority of the requeued name; by default that of the present reconcile."""
    requeue: bool = False
    """Reconcile again after the rate limiter's delay, as after a failure but without an error."""

    @property
    def seconds(self) -> float:
        """Seconds until the next reconcile; zero or less if none was requested."""
        after = self.requeue_after
        if after is None:
            return 0.0
        return after.total_seconds() if isinstance(after, timedelta) else float(after)


class Temporary(Exception):
    """An expected error: retried as any other, but logged without a traceback."""


class Terminal(Exception):
    """An error that is not retried: the object is reconciled again only when it changes."""


class Reconcile(Protocol[T]):
    """A reconciler; most are coroutine functions."""

    def __call__(self, ctx: "Context[T]", /) -> Awaitable[Result | None]: ...
