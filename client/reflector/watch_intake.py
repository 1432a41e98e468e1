"""Watch intake: reads one watch stream to its end into a store or a queue.

Events whose object does not belong to the collection are logged and skipped. An ERROR event is
raised as the error it contains; the reflector decides how to handle it.
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
"""Seconds; a watch that ends sooner without an event counts as failed."""
_ORDERED: Final = (EventType.MODIFIED, EventType.DELETED, EventType.BOOKMARK)


class IntakeTarget(Protocol[T_contra]):
    """The receiver of a reflector's changes: a store, or the queue in front of one."""

    def add(self, obj: T_contra) -> None: ...

    def update(self, obj: T_contra) -> None: ...

    def delete(self, obj: T_contra) -> None: ...

    def replace(self, objects: Sequence[T_contra], resource_version: str) -> None: ...

    def bookmark(self, resource_version: str) -> None: ...

    def resync(self) -> None: ...

    async def wait_for_room(self) -> None:
        """Return when the target accepts more changes."""


class Intake(Generic[T]):
    """Reads watches of objects of one class, or of one kind if all kinds share a class."""

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
        resource_version: str,
        advance: Callable[[str], None],
    ) -> None:
        """Read until the stream ends. Raises VeryShortWatch if it ended at once without an event.

        *resource_version* is the state at which the watch started; *advance* is called with each
        newer one. A watch that started at no particular state begins with the existing objects in
        no order: their resourceVersions do not show how far the watch has progressed.
        """
        ordered = resource_version not in ("", "0")
        count = 0
        while (event := await next_event(stream)) is not None:
            obj = self.object_of(event)
            if obj is None:
                continue
            ordered = ordered or event.type in _ORDERED
            self._store(target, event.type, obj)
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
        on_event: Callable[[], None],
    ) -> str:
        """Read the existing objects up to the bookmark after them; return its resourceVersion.

        Returns an empty string if the stream ended without that bookmark. *on_event* is called for
        each event.
        """
        count = 0
        while (event := await next_event(stream)) is not None:
            obj = self.object_of(event)
            if obj is None:
                continue
            on_event()
            count += 1
            if event.type is not EventType.BOOKMARK:
                self._store(target, event.type, obj)
            elif obj.metadata.annotations.get(INITIAL_EVENTS_END) == "true":
                return obj.metadata.resource_version
        if not count and self._clock.monotonic() - start < VERY_SHORT:
            raise VeryShortWatch(self._name)
        return ""

    def object_of(self, event: ObjectEvent[TypeMeta]) -> T | None:
        """Return the object of an event; log and return None if it is of another class or kind."""
        obj = event.object
        problem = self._find_problem(obj)
        if problem is None:
            return obj  # type: ignore[return-value]  # checked by _find_problem
        log.error("%s: %s event skipped: %s", self._name, event.type, problem)
        return None

    def _find_problem(self, obj: TypeMeta) -> str | None:
        cls = type(obj)
        expected = self._expected
        if expected is not None and cls is not expected and not issubclass(cls, expected):
            return f"expected type {expected.__name__}, but its object has type {cls.__name__}"
        if not isinstance(getattr(obj, "metadata", None), ObjectMeta):
            return f"its object has no metadata: {obj!r}"[:200]
        if self._kind is not None:
            actual = (obj.api_version, obj.kind)
            if actual != (str(self._kind.group_version), self._kind.kind):
                return f"expected {self._kind}, but its object is {' '.join(actual)}"
        return None

    def _store(self, target: IntakeTarget[T], event_type: EventType, obj: T) -> None:
        try:
            if event_type is EventType.ADDED:
                target.add(obj)
            elif event_type is EventType.MODIFIED:
                target.update(obj)
            elif event_type is EventType.DELETED:
                target.delete(obj)
            else:
                target.bookmark(obj.metadata.resource_version)
        except Exception:  # one object that cannot be cached must not block the others
            log.exception("%s: unable to store the object of a %s event", self._name, event_type)


async def next_event(stream: EventStream[T]) -> ObjectEvent[TypeMeta] | None:
    """Return the next event, or None at the end. Raises the error that an ERROR event contains."""
    try:
        event = await stream.__anext__()
    except StopAsyncIteration:
        return None
    if event.type is EventType.ERROR:
        raise event.error
    return event
