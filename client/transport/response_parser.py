"""ResponseParser: parses one HTTP/1.1 response from the bytes of a connection, as they arrive.

It knows the three ways in which a body ends: by its length, by its last chunk, and with the
connection. What is ambiguous is refused, because the end of one response is the start of the next.
"""

import re
from dataclasses import dataclass
from typing import Final

from client.transport.transport import Headers

MAX_HEAD: Final = 128 * 1024
"""Bytes of the status line and the headers together."""
MAX_CHUNK_LINE: Final = 4096
"""Bytes of the line in front of a chunk, with its extensions."""

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\0\r\n]*)?\Z")
_HEADER: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*?)[ \t]*\Z")
_DIGITS: Final = re.compile(r"[0-9]{1,18}")
_CHUNK: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\0\r\n]*)?\r\n")
_NEXT_CHUNK: Final = re.compile(rb"\r\n" + _CHUNK.pattern)
_WITHOUT_BODY: Final = (204, 304)


class MalformedResponse(Exception):
    """The bytes are not an HTTP/1.1 response, or one whose end is ambiguous."""


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The status and the headers of a response."""

    status: int
    headers: Headers
    keeps_alive: bool
    """Whether the server accepts another request on the connection."""


class ResponseParser:
    """Parses the response to one request; `feed` returns the body, without its framing."""

    def __init__(self, method: str) -> None:
        self.head: ResponseHead | None = None
        self.complete = False
        self.surplus = False
        """Whether bytes followed the response."""
        self._has_body = method != "HEAD"
        self._partial = b""
        self._chunked = self._in_trailers = False
        self._chunk = _CHUNK
        self._left: int | None = None
        """Bytes left of the body or of its chunk; None if the connection's end is that of both."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the pieces of the body in *data*; raises MalformedResponse."""
        if self.head is None:
            data = self._feed_head(data)
        if self.complete:
            self.surplus = self.surplus or bool(data)
            return []
        if not data or self.head is None:
            return []
        if self._chunked:
            return self._feed_chunks(data)
        if self._left is None:
            return [data]
        return self._feed_length(data, self._left)

    def end(self) -> bool:
        """Return whether the response is complete now that its connection has ended."""
        if self.head is not None and self._left is None and not self._chunked:
            self.complete = True
        return self.complete

    def _feed_head(self, data: bytes) -> bytes:
        """Return the bytes after the head, once it is complete."""
        data = self._partial + data
        while True:
            head, separator, rest = data.partition(b"\r\n\r\n")
            if len(head) > MAX_HEAD:
                raise MalformedResponse(f"the headers exceed {MAX_HEAD} bytes")
            if not separator:
                self._partial = data
                return b""
            self._partial = b""
            status = self._parse_head(head)
            if status >= 200:
                return rest
            data = rest  # an interim response, after which the real one follows

    def _parse_head(self, data: bytes) -> int:
        first, *lines = data.split(b"\r\n")
        match = _STATUS_LINE.match(first)
        if match is None:
            raise MalformedResponse(f"malformed status line {first[:80]!r}")
        status = int(match[2])
        if status == 101:
            raise MalformedResponse("the server changed the protocol unasked")
        if status < 200:
            return status
        headers = Headers(_parse_header(line) for line in lines)
        framed = self._frame(status, headers)
        connection = ",".join(headers.all("connection")).lower()
        keeps_alive = match[1] == b"1" and framed and "close" not in connection
        self.head = ResponseHead(status, headers, keeps_alive)
        return status

    def _frame(self, status: int, headers: Headers) -> bool:
        """Set how the body ends; return whether the connection can outlive it."""
        encodings, lengths = headers.all("transfer-encoding"), set(headers.all("content-length"))
        if encodings and (lengths or [e.lower() for e in encodings] != ["chunked"]):
            raise MalformedResponse(f"ambiguous transfer-encoding {', '.join(encodings)!r}")
        if len(lengths) > 1 or not all(map(_DIGITS.fullmatch, lengths)):
            raise MalformedResponse(f"malformed content-length {', '.join(sorted(lengths))!r}")
        if not self._has_body or status in _WITHOUT_BODY:
            self.complete = True
        elif encodings:
            self._chunked, self._left = True, 0
        elif lengths:
            self._left = int(lengths.pop())
            self.complete = self._left == 0
        else:
            return False
        return True

    def _feed_length(self, data: bytes, left: int) -> list[bytes]:
        self._left = max(left - len(data), 0)
        self.complete = not self._left
        if len(data) <= left:
            return [data]
        self.surplus = True
        return [data[:left]]

    def _feed_chunks(self, data: bytes) -> list[bytes]:
        if self._partial:
            data, self._partial = self._partial + data, b""
        pieces: list[bytes] = []
        at, size, left = 0, len(data), self._left or 0
        while at < size and not self._in_trailers:
            if left:
                piece = data[at : at + left]
                pieces.append(piece)
                left -= len(piece)
                at += len(piece)
                continue
            match = self._chunk.match(data, at)
            if match is None:
                self._keep_chunk_line(data[at:])
                break
            self._chunk = _NEXT_CHUNK
            at, left = match.end(), int(match[1], 16)
            self._in_trailers = not left
        self._left = left
        if self._in_trailers:
            # With the end of the last chunk's line, so that no trailers look like the end of some.
            self._feed_trailers(data[at:])
        return pieces

    def _keep_chunk_line(self, line: bytes) -> None:
        """Keep the incomplete line in front of a chunk for more bytes."""
        start = 0 if self._chunk is _CHUNK else 2
        malformed = b"\r\n" in line[start:] or line[:start] != b"\r\n"[: len(line[:start])]
        if malformed or len(line) > MAX_CHUNK_LINE:
            raise MalformedResponse(f"malformed chunk {line[:80]!r}")
        self._partial = line

    def _feed_trailers(self, data: bytes) -> None:
        """Skip the trailers, which nothing reads."""
        if data.startswith(b"\r\n"):
            end = 2
        else:
            end = data.find(b"\r\n\r\n") + 4
            if end < 4:
                self._partial = data
                if len(data) > MAX_HEAD:
                    raise MalformedResponse(f"the trailers exceed {MAX_HEAD} bytes")
                return
        self.complete = True
        self.surplus = len(data) > end


def _parse_header(line: bytes) -> tuple[str, str]:
    match = _HEADER.match(line)
    if match is None:
        raise MalformedResponse(f"malformed header {line[:80]!r}")
    return match[1].decode("ascii"), match[2].decode("utf-8", "surrogateescape")
