"""Watch events."""

from apimachinery.errors import Expired
from apimachinery.meta.types import PartialObjectMetadata
from apimachinery.watch import EventType, ObjectEvent


def test_an_error_event_has_the_error_of_its_status() -> None:
    event = ObjectEvent(EventType.ERROR, Expired("too old").status)

    assert isinstance(event.error, Expired)
    assert str(event.error) == "too old"


def test_an_object_that_is_no_status_is_an_unexpected_error() -> None:
    event = ObjectEvent(EventType.ERROR, PartialObjectMetadata())

    assert str(event.error).startswith("unexpected object in a watch: PartialObjectMetadata")
