"""Framing: how messages follow each other on a watch stream.

A frame is its length in four bytes, most significant first, and that many bytes.
"""

from apimachinery.protobuf.protobuf_errors import InvalidProtobuf

MAX_FRAME = 16 * 1024 * 1024
"""The longest frame a reader accepts unless told otherwise; Kubernetes' clients have the same."""

_HEADER = 4


def frame(data: bytes) -> bytes:
    """*data* as one frame."""
    return len(data).to_bytes(_HEADER, "big") + data


class Unframer:
    """Takes a stream in pieces of any size and gives the frames in it."""

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame = max_frame
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that are complete now that *data* has come."""
        self._buffer += data
        frames, start = [], 0
        while (end := self._end(start)) is not None:
            frames.append(bytes(self._buffer[start + _HEADER : end]))
            start = end
        del self._buffer[:start]
        return frames

    def close(self) -> None:
        """Say that the stream has ended; it may not end inside a frame."""
        if self._buffer:
            rest = len(self._buffer)
            raise InvalidProtobuf(f"the stream ended inside a frame, after {rest} bytes of it")

    def _end(self, start: int) -> int | None:
        """Where the frame at *start* ends, if all of it is there."""
        header = self._buffer[start : start + _HEADER]
        if len(header) < _HEADER:
            return None
        size = int.from_bytes(header, "big")
        if size > self._max_frame:
            raise InvalidProtobuf(f"a frame of {size} bytes is longer than {self._max_frame}")
        end = start + _HEADER + size
        return end if end <= len(self._buffer) else None
