"""Frames and header blocks: whatever is written can be read, and any bytes are read or refused."""

import pytest
from hpack import Encoder
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.etcd import http2_frames as h2
from apiserver.storage.etcd.http2_frames import Frame, FrameReader, ProtocolError
from apiserver.storage.etcd.http2_headers import HeaderDecoder, encode_headers

FRAMES = st.lists(
    st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, h2.MAX_WINDOW), st.binary())
)
TOKENS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1)
FIELDS = st.dictionaries(TOKENS.map(str.lower), st.text(st.characters(codec="ascii")))


@given(FRAMES, st.data())
def test_frames_are_read_however_their_bytes_are_cut(
    frames: list[Frame], data: st.DataObject
) -> None:
    written = b"".join(h2.frame(*frame) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)))))
    reader = FrameReader()

    read = [
        frame
        for begin, end in zip([0, *cuts], [*cuts, len(written)], strict=True)
        for frame in reader.feed(written[begin:end])
    ]

    assert read == frames


@given(st.binary())
def test_any_bytes_are_frames_or_refused(data: bytes) -> None:
    try:
        frames = list(FrameReader().feed(data))
    except ProtocolError as error:
        assert error.code == h2.FRAME_SIZE_ERROR
    else:
        assert sum(9 + len(payload) for *_, payload in frames) <= len(data)


@given(st.binary(max_size=300))
@pytest.mark.parametrize(
    "read",
    [
        lambda payload: list(h2.read_settings(payload)),
        h2.read_increment,
        h2.read_goaway,
        lambda payload: h2.without_padding(h2.PADDED, payload),
        lambda payload: h2.header_fragment(h2.PADDED | h2.PRIORITY, payload),
    ],
)
def test_any_payload_is_understood_or_refused(read, payload: bytes) -> None:  # type: ignore[no-untyped-def]
    try:
        read(payload)
    except ProtocolError as error:
        assert error.code in (h2.FRAME_SIZE_ERROR, h2.PROTOCOL_ERROR)


def test_a_frame_that_is_too_large_is_refused_before_it_has_arrived() -> None:
    head = h2.frame(h2.DATA, 0, 1, b"x" * (h2.MAX_FRAME_SIZE + 1))[:9]

    with pytest.raises(ProtocolError, match="16385"):
        list(FrameReader().feed(head))


@given(st.binary(max_size=50), st.integers(0, 20))
def test_padding_is_removed(content: bytes, padding: int) -> None:
    payload = bytes([padding]) + content + bytes(padding)

    assert h2.without_padding(h2.PADDED, payload) == content
    assert (
        h2.header_fragment(
            h2.PADDED | h2.PRIORITY, bytes([padding]) + bytes(5) + content + bytes(padding)
        )
        == content
    )


@pytest.mark.parametrize("size", [0, 1, h2.MAX_FRAME_SIZE, h2.MAX_FRAME_SIZE + 1, 50_000])
def test_a_header_block_of_any_size_is_written_in_frames(size: int) -> None:
    block = b"x" * size

    frames = list(FrameReader().feed(h2.header_frames(7, block)))

    assert b"".join(payload for *_, payload in frames) == block
    assert [kind for kind, *_ in frames] == [h2.HEADERS] + [h2.CONTINUATION] * (len(frames) - 1)
    ends = [flags & h2.END_HEADERS for _, flags, *_ in frames]
    assert ends == [0] * (len(frames) - 1) + [h2.END_HEADERS]


@given(FIELDS)
def test_a_block_stands_for_itself(fields: dict[str, str]) -> None:
    """It is read the same again and by another decoder, with nothing remembered in between."""
    block = encode_headers(fields.items())
    decoder = HeaderDecoder()

    assert decoder.decode(block) == decoder.decode(block) == fields
    assert HeaderDecoder().decode(block) == fields


@given(FIELDS)
def test_a_peer_that_indexes_and_compresses_is_understood(fields: dict[str, str]) -> None:
    """As Go's encoder does with a table of size 0: it says so, and then adds to it in vain."""
    encoder = Encoder()
    encoder.header_table_size = 0
    block = encoder.encode(list(fields.items()), huffman=True)

    assert HeaderDecoder().decode(block) == fields


def test_a_reference_to_the_table_that_we_do_not_keep_is_refused() -> None:
    with pytest.raises(ProtocolError) as refused:
        HeaderDecoder().decode(b"\xbe")

    assert refused.value.code == h2.COMPRESSION_ERROR


@given(st.binary())
def test_any_block_is_decoded_or_refused(block: bytes) -> None:
    try:
        fields = HeaderDecoder().decode(block)
    except ProtocolError as error:
        assert error.code == h2.COMPRESSION_ERROR
    else:
        assert all(isinstance(text, str) for pair in fields.items() for text in pair)


def test_no_field_of_a_request_may_be_indexed() -> None:
    """A token must not enter the table of a proxy."""
    block = encode_headers([("token", "secret")])

    assert block[0] & 0xF0 == 0x10
