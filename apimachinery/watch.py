"""What a watch is made of: the types of events, an event, and the watch itself.

Apart from any server and any client because both speak of the same stream: a server writes frames,
a client reads them, and an in-process watch is neither.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from pydantic_core import to_json

from apimachinery.codec import dump_json
from apimachinery.errors import APIError, from_status
from apimachinery.meta.status import Status
from apimachinery.meta.types import WatchEvent
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model

T_co = TypeVar("T_co", covariant=True)

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
"""The annotation of the bookmark after the objects that existed when the watch began."""


class EventType(StrEnum):
    """What happened to the object of an event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    """Nothing happened; the object has only the resourceVersion that the stream has reached."""
    ERROR = "ERROR"
    """The stream ends here; the object is a Status that says why."""


@dataclass(frozen=True, slots=True)
class ObjectEvent(Generic[T_co]):
    """One change, and the object as it is after it (for DELETED, as it was at the end)."""

    type: EventType
    object: T_co

    @property
    def error(self) -> APIError:
        """What an ERROR event tells of."""
        if isinstance(self.object, Status):
            return from_status(self.object)
        return APIError(f"unexpected object in a watch: {self.object!r}")


class WatchInterface(Protocol[T_co]):
    """A stream of changes, read with `async for`; it ends when it is stopped or the server ends it.

    Whoever has a watch stops it, in a `finally` at the latest.
    """

    def __aiter__(self) -> Self: ...

    async def __anext__(self) -> T_co: ...

    def stop(self) -> None:
        """End the stream; what is waiting in it may be lost. Stopping again does nothing."""

    def result(self) -> APIError | None:
        """Why the server ended the stream; None while it runs and if it ended in peace."""


def encode_frame(event_type: EventType, obj: bytes) -> bytes:
    """One line of a JSON watch stream; *obj* is the object as compact JSON."""
    return b'{"type":"%b","object":%b}\n' % (event_type.value.encode(), obj)


def encode_event(event: ObjectEvent[Model]) -> bytes:
    """One line of a JSON watch stream; the object says itself what kind it is."""
    return encode_frame(event.type, dump_json(event.object))


def decode_frame(line: bytes) -> WatchEvent:
    """Read one line of a JSON watch stream, or raise DecodeError."""
    event = decode_json(WatchEvent, line, find_unknown=False).object
    if event.type not in tuple(EventType):
        raise DecodeError(f"type: {event.type[:64]!r} is not the type of an event")
    return event


def error_of(event: WatchEvent) -> APIError | None:
    """The error that an ERROR event tells of; None for any other event."""
    if event.type != EventType.ERROR:
        return None
    return from_status(decode_json(Status, to_json(event.object), find_unknown=False).object)


def is_initial_events_end(event: WatchEvent) -> bool:
    """Whether this is the bookmark that ends the objects which existed when the watch began."""
    if event.type != EventType.BOOKMARK:
        return False
    metadata: Any = event.object.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and annotations.get(INITIAL_EVENTS_END) == "true"
