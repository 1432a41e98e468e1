"""Frames of a watch stream, fed in chunks of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.protobuf import InvalidProtobuf, Unframer, frame


def test_a_frame_is_its_length_and_its_bytes() -> None:
    assert frame(b"abc") == b"\x00\x00\x00\x03abc"
    assert frame(b"x" * 70000)[:4] == b"\x00\x01\x11\x70"


@given(st.lists(st.binary(max_size=50)), st.lists(st.integers(1, 30)))
def test_frames_come_out_however_the_stream_is_cut(frames: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(map(frame, frames))
    unframer, found = Unframer(), []

    for size in sizes:
        found += unframer.feed(stream[:size])
        stream = stream[size:]
    found += unframer.feed(stream)
    unframer.close()

    assert found == frames


def test_a_frame_comes_out_as_soon_as_it_is_whole() -> None:
    unframer = Unframer()

    assert unframer.feed(frame(b"a") + frame(b"bc")[:-1]) == [b"a"]
    assert unframer.feed(b"") == []
    assert unframer.feed(b"c") == [b"bc"]


def test_a_stream_may_not_end_inside_a_frame() -> None:
    unframer = Unframer()
    unframer.feed(frame(b"abc")[:-1])

    with pytest.raises(InvalidProtobuf, match="ended inside a frame, after 6 bytes of it"):
        unframer.close()


def test_a_frame_that_is_too_long_is_refused_before_it_has_come() -> None:
    assert Unframer(max_frame=3).feed(frame(b"abc")) == [b"abc"]

    with pytest.raises(InvalidProtobuf, match="frame of 4 bytes exceeds the limit of 3"):
        Unframer(max_frame=3).feed(b"\x00\x00\x00\x04")
