"""Framing of protobuf messages on a watch stream.

A frame is the length of the message, as four big-endian bytes, followed by the message.
"""

from apimachinery.protobuf.protobuf_errors import InvalidProtobuf

MAX_FRAME = 16 * 1024 * 1024
"""Default limit on the size of a frame, the same as in Kubernetes' clients."""

_HEADER = 4


def frame(data: bytes) -> bytes:
    """Return *data* as one frame."""
    return len(data).to_bytes(_HEADER, "big") + data


class Unframer:
    """Splits a stream, fed in chunks of any size, into frames."""

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame = max_frame
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Add *data* to the buffer and return the frames that it completes.

        Raises InvalidProtobuf if a frame exceeds the limit.
        """
        self._buffer += data
        frames, start = [], 0
        while (end := self._end(start)) is not None:
            frames.append(bytes(self._buffer[start + _HEADER : end]))
            start = end
        del self._buffer[:start]
        return frames

    def close(self) -> None:
        """End the stream; raise InvalidProtobuf if it ends inside a frame."""
        if self._buffer:
            size = len(self._buffer)
            raise InvalidProtobuf(f"the stream ended inside a frame, after {size} bytes of it")

    def _end(self, start: int) -> int | None:
        """Return the end of the frame at *start*, or None if it is incomplete."""
        header = self._buffer[start : start + _HEADER]
        if len(header) < _HEADER:
            return None
        size = int.from_bytes(header, "big")
        if size > self._max_frame:
            raise InvalidProtobuf(f"frame of {size} bytes exceeds the limit of {self._max_frame}")
        end = start + _HEADER + size
        return end if end <= len(self._buffer) else None
