"""Watch events: the types of event and the event itself, shared by servers and clients."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from apimachinery.errors import APIError, from_status
from apimachinery.meta.status import Status

T_co = TypeVar("T_co", covariant=True)

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
"""The annotation of the bookmark that follows the objects which existed when the watch began."""


class EventType(StrEnum):
    """The change that an event reports."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    """No change: the object carries only the resourceVersion that the stream has reached."""
    ERROR = "ERROR"
    """The stream ends here; the object is a Status with the reason."""


@dataclass(frozen=True, slots=True)
class ObjectEvent(Generic[T_co]):
    """One change and the object after it (for DELETED, its last state)."""

    type: EventType
    object: T_co

    @property
    def error(self) -> APIError:
        """The error that an ERROR event reports."""
        if isinstance(self.object, Status):
            return from_status(self.object)
        return APIError(f"unexpected object in a watch: {self.object!r}")
