"""HTTP/2 frames: reading and writing them, without the state of a connection (RFC 9113).

A frame is a tuple and its parts are integers and bytes: this code runs for every frame.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
MAX_FRAME_SIZE: Final = 16384
"""The largest payload that we accept: the size that every peer may send without asking."""
MAX_WINDOW: Final = (1 << 31) - 1

DATA: Final = 0
HEADERS: Final = 1
RST_STREAM: Final = 3
SETTINGS: Final = 4
PUSH_PROMISE: Final = 5
PING: Final = 6
GOAWAY: Final = 7
WINDOW_UPDATE: Final = 8
CONTINUATION: Final = 9

ACK: Final = 0x1
END_STREAM: Final = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
PRIORITY: Final = 0x20

HEADER_TABLE_SIZE: Final = 1
ENABLE_PUSH: Final = 2
MAX_CONCURRENT_STREAMS: Final = 3
INITIAL_WINDOW_SIZE: Final = 4
LARGEST_FRAME: Final = 5

NO_ERROR: Final = 0
PROTOCOL_ERROR: Final = 1
FLOW_CONTROL_ERROR: Final = 3
FRAME_SIZE_ERROR: Final = 6
REFUSED_STREAM: Final = 7
CANCEL: Final = 8
COMPRESSION_ERROR: Final = 9
ENHANCE_YOUR_CALM: Final = 11

Frame: TypeAlias = tuple[int, int, int, bytes]
"""Type, flags, stream and payload."""

_HEAD: Final = struct.Struct(">BHBBL")
_HEAD_SIZE: Final = 9
_SETTING: Final = struct.Struct(">HL")
_NUMBER: Final = struct.Struct(">L")
_STREAM_BITS: Final = 0x7FFFFFFF
_PRIORITY_SIZE: Final = 5


class ProtocolError(Exception):
    """The peer violates the protocol; the connection cannot be used any more."""

    def __init__(self, message: str, code: int = PROTOCOL_ERROR) -> None:
        super().__init__(message)
        self.code = code


class FrameReader:
    """Splits the bytes of a connection into frames; keeps at most one incomplete frame."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that *data* completes. Raises ProtocolError."""
        if self._rest:
            data = self._rest + data
        position, size = 0, len(data)
        while size - position >= _HEAD_SIZE:
            high, low, kind, flags, stream = _HEAD.unpack_from(data, position)
            length = high << 16 | low
            if length > MAX_FRAME_SIZE:
                raise ProtocolError(f"a frame of {length} bytes", FRAME_SIZE_ERROR)
            end = position + _HEAD_SIZE + length
            if end > size:
                break
            yield kind, flags, stream & _STREAM_BITS, data[position + _HEAD_SIZE : end]
            position = end
        self._rest = data[position:]


def frame(kind: int, flags: int, stream: int, payload: bytes | memoryview = b"") -> bytes:
    """Return the bytes of a frame."""
    size = len(payload)
    return _HEAD.pack(size >> 16, size & 0xFFFF, kind, flags, stream) + payload


def header_frames(stream: int, block: bytes, *, flags: int = 0) -> bytes:
    """Return the frames of a header block of any size."""
    first, rest = block[:MAX_FRAME_SIZE], block[MAX_FRAME_SIZE:]
    if not rest:
        return frame(HEADERS, flags | END_HEADERS, stream, first)
    frames = [frame(HEADERS, flags, stream, first)]
    while rest:
        part, rest = rest[:MAX_FRAME_SIZE], rest[MAX_FRAME_SIZE:]
        frames.append(frame(CONTINUATION, 0 if rest else END_HEADERS, stream, part))
    return b"".join(frames)


def settings_frame(settings: Mapping[int, int]) -> bytes:
    payload = b"".join(_SETTING.pack(name, value) for name, value in settings.items())
    return frame(SETTINGS, 0, 0, payload)


def read_settings(payload: bytes) -> Iterator[tuple[int, int]]:
    """Yield the names and values of a SETTINGS frame. Raises ProtocolError."""
    if len(payload) % _SETTING.size:
        raise ProtocolError(f"settings of {len(payload)} bytes", FRAME_SIZE_ERROR)
    yield from _SETTING.iter_unpack(payload)


def window_update(stream: int, increment: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, _NUMBER.pack(increment))


def read_increment(payload: bytes) -> int:
    """Return the increment of a WINDOW_UPDATE frame. Raises ProtocolError."""
    increment = read_number(payload, size=_NUMBER.size) & _STREAM_BITS
    if not increment:
        raise ProtocolError("a window update of 0")
    return increment


def reset_frame(stream: int, code: int) -> bytes:
    return frame(RST_STREAM, 0, stream, _NUMBER.pack(code))


def goaway_frame(code: int) -> bytes:
    """Return the frame that ends a connection on which the peer has opened no stream."""
    return frame(GOAWAY, 0, 0, _NUMBER.pack(0) + _NUMBER.pack(code))


def read_goaway(payload: bytes) -> tuple[int, int, bytes]:
    """Return the last stream, the code and the text of a GOAWAY frame. Raises ProtocolError."""
    if len(payload) < 2 * _NUMBER.size:
        raise ProtocolError(f"a GOAWAY of {len(payload)} bytes", FRAME_SIZE_ERROR)
    last, code = struct.unpack_from(">LL", payload)
    return last & _STREAM_BITS, code, payload[2 * _NUMBER.size :]


def read_number(payload: bytes, *, size: int) -> int:
    """Return the number in a frame whose payload has exactly *size* bytes."""
    if len(payload) != size:
        raise ProtocolError(f"a payload of {len(payload)} bytes, not {size}", FRAME_SIZE_ERROR)
    return int.from_bytes(payload, "big")


def without_padding(flags: int, payload: bytes) -> bytes:
    """Return the content of a DATA or HEADERS frame. Raises ProtocolError."""
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise ProtocolError("more padding than payload")
    return payload[1 : len(payload) - payload[0]]


def header_fragment(flags: int, payload: bytes) -> bytes:
    """Return the part of a header block in a HEADERS frame. Raises ProtocolError."""
    content = without_padding(flags, payload)
    if not flags & PRIORITY:
        return content
    if len(content) < _PRIORITY_SIZE:
        raise ProtocolError("a HEADERS frame without its priority", FRAME_SIZE_ERROR)
    return content[_PRIORITY_SIZE:]
