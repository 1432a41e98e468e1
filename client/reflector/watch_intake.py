"""Intake: one watch stream, read to its end into a store or a queue.

What is no event of the collection is logged and skipped. Which errors end what is not decided
here: an ERROR event is raised as the error that it tells of.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar

from apimachinery.meta.types import Object, ObjectMeta, TypeMeta
from apimachinery.schema import GroupVersionKind
from apimachinery.watch import INITIAL_EVENTS_END, EventType, ObjectEvent
from client.reflector.error_policy import VeryShortWatch
from client.reflector.list_watch import EventStream
from client.runtime.clock import Clock

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)

log = logging.getLogger("apimachinery.client.informer")

VERY_SHORT: Final = 1.0
"""Seconds that a watch without an event must last to be believed."""
_MODIFYING: Final = (EventType.MODIFIED, EventType.DELETED, EventType.BOOKMARK)


class IntakeTarget(Protocol[T_contra]):
    """Where a reflector puts what it sees: a store, or the queue before one."""

    def add(self, obj: T_contra) -> None: ...

    def update(self, obj: T_contra) -> None: ...

    def delete(self, obj: T_contra) -> None: ...

    def replace(self, objects: Sequence[T_contra], resource_version: str) -> None: ...

    def bookmark(self, resource_version: str) -> None: ...

    def resync(self) -> None: ...

    async def wait_for_room(self) -> None:
        """Return when there is room for more."""


class Intake(Generic[T]):
    """Reads watches of objects of one class, or of one kind where no class tells them apart."""

    def __init__(
        self,
        name: str,
        clock: Clock,
        *,
        expected: type[T] | None = None,
        kind: GroupVersionKind | None = None,
    ) -> None:
        self._name = name
        self._clock = clock
        self._expected = expected
        self._kind = kind

    async def read(
        self,
        stream: EventStream[T],
        target: IntakeTarget[T],
        *,
        start: float,
        began_at: str,
        advance: Callable[[str], None],
    ) -> None:
        """Read until the stream ends; VeryShortWatch when there was nothing in it.

        *advance* is told how far the stream has come. A stream that *began_at* no particular
        state begins with what exists, in no order, which says nothing about how far it is.
        """
        ordered = began_at not in ("", "0")
        count = 0
        while (event := await next_event(stream)) is not None:
            obj = self.understood(event)
            if obj is None:
                continue
            ordered = ordered or event.type in _MODIFYING
            put(self._name, target, event.type, obj)
            count += 1
            version = obj.metadata.resource_version
            if ordered and version:
                advance(version)
            await target.wait_for_room()
        if not count and self._clock.monotonic() - start < VERY_SHORT:
            raise VeryShortWatch(self._name)
        log.debug("%s: watch closed, %d items received", self._name, count)

    async def read_initial(
        self,
        stream: EventStream[T],
        target: IntakeTarget[T],
        *,
        start: float,
        heard: Callable[[], None],
    ) -> str:
        """Read until the bookmark after the objects that exist; returns its resourceVersion.

        *heard* is called for each event. Empty when the stream ended without that bookmark.
        """
        count = 0
        while (event := await next_event(stream)) is not None:
            obj = self.understood(event)
            if obj is None:
                continue
            heard()
            count += 1
            if event.type is not EventType.BOOKMARK:
                put(self._name, target, event.type, obj)
            elif obj.metadata.annotations.get(INITIAL_EVENTS_END) == "true":
                return obj.metadata.resource_version
        if not count and self._clock.monotonic() - start < VERY_SHORT:
            raise VeryShortWatch(self._name)
        return ""

    def understood(self, event: ObjectEvent[TypeMeta]) -> T | None:
        """The object of an event; None, and a line in the log, when it is not one of ours."""
        obj = event.object
        problem = self._problem(obj)
        if problem is None:
            return obj  # type: ignore[return-value]  # that is what was checked
        log.error("%s: %s event skipped: %s", self._name, event.type, problem)
        return None

    def _problem(self, obj: TypeMeta) -> str | None:
        cls = type(obj)
        expected = self._expected
        if expected is not None and cls is not expected and not issubclass(cls, expected):
            return f"expected type {expected.__name__}, but its object has type {cls.__name__}"
        if not isinstance(getattr(obj, "metadata", None), ObjectMeta):
            return f"its object has no metadata: {obj!r}"[:200]
        if self._kind is not None:
            found = (obj.api_version, obj.kind)
            if found != (str(self._kind.group_version), self._kind.kind):
                return f"expected {self._kind}, but its object is {' '.join(found)}"
        return None


async def next_event(stream: EventStream[T]) -> ObjectEvent[TypeMeta] | None:
    """The next event, or None at the end; raises what an ERROR event tells of."""
    try:
        event = await stream.__anext__()
    except StopAsyncIteration:
        return None
    if event.type is EventType.ERROR:
        raise event.error
    return event


def put(name: str, target: IntakeTarget[T], kind: EventType, obj: T) -> None:
    """Hand one event on; what refuses it is logged, and the stream goes on."""
    try:
        if kind is EventType.ADDED:
            target.add(obj)
        elif kind is EventType.MODIFIED:
            target.update(obj)
        elif kind is EventType.DELETED:
            target.delete(obj)
        else:
            target.bookmark(obj.metadata.resource_version)
    except Exception:  # an object that cannot be cached must not hold up all others
        log.exception("%s: unable to store the object of a %s event", name, kind)
