"""Events on the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import Expired
from apimachinery.meta.types import ObjectMeta, PartialObjectMetadata, WatchEvent
from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.serializer import LineFrames
from apimachinery.watch import (
    INITIAL_EVENTS_END,
    EventType,
    ObjectEvent,
    decode_frame,
    encode_event,
    encode_frame,
    error_of,
    is_initial_events_end,
)


def test_an_event_is_one_line() -> None:
    obj = PartialObjectMetadata(kind="K", api_version="v1", metadata=ObjectMeta(name="a\nb"))

    line = encode_event(ObjectEvent(EventType.ADDED, obj))

    assert line == (
        b'{"type":"ADDED","object":{"kind":"K","apiVersion":"v1","metadata":{"name":"a\\nb"}}}\n'
    )


@given(st.sampled_from(EventType), st.dictionaries(st.text(max_size=3), st.integers(), max_size=3))
def test_what_is_written_is_read(event_type: EventType, content: dict[str, int]) -> None:
    body = WatchEvent(type="", object=content).model_dump_json().encode()
    obj = body.partition(b'"object":')[2][:-1]

    (line,) = LineFrames().feed(encode_frame(event_type, obj))

    assert decode_frame(line) == WatchEvent(type=event_type, object=content)


def test_an_error_event_tells_the_error() -> None:
    line = encode_event(ObjectEvent(EventType.ERROR, Expired("too old").status))

    error = error_of(decode_frame(line))

    assert isinstance(error, Expired)
    assert str(error) == "too old"


def test_other_events_are_no_errors() -> None:
    assert error_of(WatchEvent(type="ADDED", object={"kind": "Status"})) is None


def test_an_error_event_must_hold_a_status() -> None:
    with pytest.raises(DecodeError, match=r"Status\.code of type int32"):
        error_of(WatchEvent(type="ERROR", object={"code": 2**70}))


@pytest.mark.parametrize(
    ("event_type", "content", "ends"),
    [
        ("BOOKMARK", {"metadata": {"annotations": {INITIAL_EVENTS_END: "true"}}}, True),
        ("ADDED", {"metadata": {"annotations": {INITIAL_EVENTS_END: "true"}}}, False),
        ("BOOKMARK", {"metadata": {"annotations": {INITIAL_EVENTS_END: "false"}}}, False),
        ("BOOKMARK", {"metadata": {"resourceVersion": "5"}}, False),
        ("BOOKMARK", {"metadata": 5}, False),
        ("BOOKMARK", {"metadata": {"annotations": ["x"]}}, False),
    ],
)
def test_the_end_of_the_initial_events_is_a_marked_bookmark(
    event_type: str, content: dict[str, object], ends: bool
) -> None:
    assert is_initial_events_end(WatchEvent(type=event_type, object=content)) is ends
