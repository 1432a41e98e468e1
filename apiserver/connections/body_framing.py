"""Body framing: where the body of a request ends, by its length or in chunks.

Many chunks that arrive together are taken together: a client that sends chunks of one byte could
otherwise hold the event loop for a fifth of a second with every read.
"""

import re
from enum import Enum
from typing import Final, Protocol

from apiserver.connections.request_head import (
    MAX_HEADERS,
    MAX_LINE_BYTES,
    MalformedRequest,
    match_field,
)

MAX_CHUNK_HEAD: Final = 4096
"""The maximum size of the line before a chunk, as in Go."""

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_QUOTED: Final = rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*+"'
# RFC 9112, section 7.1.1. Fifteen digits always fit into 64 bits.
_match_chunk_head: Final = re.compile(
    rb"0*+([0-9A-Fa-f]{1,15}+|(?<=0))"
    rb"(?:[ \t]*+;[ \t]*+"
    + _TOKEN
    + rb"(?:[ \t]*+=[ \t]*+(?:"
    + _TOKEN
    + rb"|"
    + _QUOTED
    + rb"))?+"
    rb")*+\r\n"
).match
_FORBIDDEN_TRAILERS: Final = frozenset(
    (b"host", b"content-length", b"transfer-encoding", b"trailer", b"authorization", b"te")
)
"""The headers that change how a request is read (RFC 9110, section 6.5.1)."""


class BodyFraming(Protocol):
    """Finds the end of one body."""

    @property
    def complete(self) -> bool: ...

    def take(self, received: bytearray) -> bytes:
        """Remove and return what *received* has of the body. Raises MalformedRequest."""


class FixedLength:
    """A body with a Content-Length."""

    __slots__ = ("_remaining",)

    def __init__(self, length: int) -> None:
        self._remaining = length

    @property
    def complete(self) -> bool:
        return not self._remaining

    def take(self, received: bytearray) -> bytes:
        data = bytes(received[: self._remaining])
        del received[: len(data)]
        self._remaining -= len(data)
        return data


class _At(Enum):
    """What comes next in a chunked body."""

    SIZE = "size"
    DATA = "data"
    DATA_END = "data end"
    TRAILER = "trailer"
    END = "end"


class Chunked:
    """A body in chunks, with trailers, which are checked and discarded."""

    __slots__ = ("_at", "_remaining", "_trailers")

    def __init__(self) -> None:
        self._at = _At.SIZE
        self._remaining = 0
        self._trailers = 0

    @property
    def complete(self) -> bool:
        return self._at is _At.END

    def take(self, received: bytearray) -> bytes:
        parts: list[bytes] = []
        if self._at in (_At.DATA, _At.DATA_END):
            self._take_rest(received, parts)
        if self._at is _At.SIZE:
            self._take_chunks(received, parts)
        while self._at is _At.TRAILER and self._take_trailer(received):
            continue
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _take_rest(self, received: bytearray, parts: list[bytes]) -> None:
        """Take the rest of a chunk of which an earlier read had the beginning."""
        if self._at is _At.DATA:
            data = bytes(received[: self._remaining])
            del received[: len(data)]
            self._remaining -= len(data)
            parts.append(data)
            if self._remaining:
                return
            self._at = _At.DATA_END
        if received[:2] == b"\r\n":
            del received[:2]
            self._at = _At.SIZE
        elif len(received) >= 2 or bytes(received[:1]) not in (b"", b"\r"):
            raise MalformedRequest(400, "a chunk is longer than its size")

    def _take_chunks(self, received: bytearray, parts: list[bytes]) -> None:
        """Take all chunks, including the beginning of one that is incomplete."""
        data = bytes(received)
        position = 0
        while (head := _match_chunk_head(data, position)) is not None:
            if head.end() - position > MAX_CHUNK_HEAD + 2:
                raise MalformedRequest(400, "the line before a chunk is too large")
            start, size = head.end(), int(head[1] or b"0", 16)
            position = start
            if not size:
                self._at = _At.TRAILER
                break
            position = end = start + size
            parts.append(data[start:end])
            if data.startswith(b"\r\n", end):
                position = end + 2
                continue
            self._stop_in_chunk(data, end)
            position = min(end, len(data))
            break
        del received[:position]
        if self._at is _At.SIZE:
            _check_chunk_head(received)

    def _stop_in_chunk(self, data: bytes, end: int) -> None:
        """Note that a chunk ends in a later read. Raises MalformedRequest if it does not end."""
        self._remaining = max(0, end - len(data))
        self._at = _At.DATA if self._remaining else _At.DATA_END
        if len(data) >= end + 2 or data[end : end + 1] not in (b"", b"\r"):
            raise MalformedRequest(400, "a chunk is longer than its size")

    def _take_trailer(self, received: bytearray) -> bool:
        """Take a trailer or the end of the body; return False if there is no whole line."""
        end = received.find(b"\r\n")
        if received.find(b"\n", 0, end if end >= 0 else len(received)) >= 0:
            raise MalformedRequest(400, "a line ends without CR")
        if max(end, len(received) - 2 if end < 0 else 0) > MAX_LINE_BYTES:
            raise MalformedRequest(431, "a trailer is too large")
        if end < 0:
            return False
        line = bytes(received[: end + 2])
        del received[: end + 2]
        if line == b"\r\n":
            self._at = _At.END
            return True
        self._trailers += 1
        if self._trailers > MAX_HEADERS:
            raise MalformedRequest(431, "too many trailers")
        if match_field(line) is None or line.partition(b":")[0].lower() in _FORBIDDEN_TRAILERS:
            raise MalformedRequest(400, "malformed trailer")
        return True


def _check_chunk_head(received: bytearray) -> None:
    """Raise MalformedRequest if *received* cannot be the beginning of the line before a chunk."""
    if b"\n" in received:
        raise MalformedRequest(400, "malformed chunk size")
    if len(received) > MAX_CHUNK_HEAD + 1:
        raise MalformedRequest(400, "the line before a chunk is too large")
