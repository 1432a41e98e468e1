"""Response writer: the ASGI `send` of one request.

The head of a response is sent together with the first part of its body. If the body has no known
length, its head waits only until the event loop has run once: a watch may have nothing to send for
minutes. A large body is handed over as it is, since joining it to its head would copy it.
"""

import re
import time
from collections.abc import Awaitable, Collection, Sequence
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final, Protocol

from apiserver.connections.request_head import RequestHead

NO_COPY_BYTES: Final = 64 * 1024
"""The size from which the parts of a response are not joined."""

_SERVER: Final = b"Server: gunicorn/asgi\r\n"
_CLOSE: Final = b"Connection: close\r\n"
_CHUNKED: Final = (b"transfer-encoding", b"chunked")
_LAST_CHUNK: Final = b"0\r\n\r\n"
_match_headers: Final = re.compile(
    rb"(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]++: [^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+"
).fullmatch

Headers = Sequence[tuple[bytes, bytes]]
"""The headers of a response, with lower-case names as ASGI requires."""


class InvalidResponse(Exception):
    """The application does not keep to ASGI, or a header would end the head."""


class Sink(Protocol):
    """Where a response is written, which is the connection."""

    @property
    def is_open(self) -> bool: ...

    def will_close(self, head: RequestHead) -> bool:
        """Whether the connection ends after a response to this request that starts now."""

    def write(self, *parts: bytes) -> None: ...

    def write_soon(self, writer: "ResponseWriter") -> None:
        """Have `flush` called when the event loop has run once."""

    def drained(self) -> Awaitable[None] | None:
        """Return what to wait for before more is written, None if nothing is."""


class ResponseWriter:
    """Writes the response to one request."""

    __slots__ = (
        "_chunked",
        "_head",
        "_omits_body",
        "_remaining",
        "_request",
        "_sink",
        "closes",
        "complete",
        "started",
    )

    def __init__(self, request: RequestHead, sink: Sink) -> None:
        self._request = request
        self._sink = sink
        self.started = False
        self.complete = False
        self.closes = False
        """Whether the connection ends after this response; decided when it starts."""
        self._head = b""
        """The head, until it is written."""
        self._chunked = False
        self._omits_body = False
        self._remaining: int | None = None
        """Bytes of the body that are still to be sent, None if its length is not known."""

    async def send(self, message: dict[str, Any]) -> None:
        """Send one ASGI message. Raises InvalidResponse."""
        if not self._sink.is_open:
            return  # the application ends in its own time
        kind = message["type"]
        if kind == "http.response.body":
            more = message.get("more_body", False)
            self._send_body(message.get("body", b""), more=more)
            waiting = self._sink.drained()
            if waiting is not None:
                await waiting
        elif kind == "http.response.start":
            self._start(message["status"], message.get("headers", ()))
        else:
            raise InvalidResponse(f"unexpected message {kind}")

    def flush(self) -> None:
        """Write the head if it has not been written."""
        if self._head and self._sink.is_open:
            head, self._head = self._head, b""
            self._sink.write(head)

    @property
    def is_short(self) -> bool:
        """Whether the body is shorter than its announced length."""
        return bool(self._remaining)

    def _start(self, code: int, headers: Headers) -> None:
        if self.started:
            raise InvalidResponse("the response has started already")
        request = self._request
        named = dict(headers)
        self._omits_body = request.method == "HEAD" or code in (204, 304) or code < 200
        if self._omits_body:
            headers = _without_framing(headers, code)
        elif b"transfer-encoding" in named:
            self._chunked = True
        elif b"content-length" in named:
            self._remaining = _length(named[b"content-length"])
        elif request.version == "1.1":
            self._chunked = True
            headers = [*headers, _CHUNKED]
        # A body without a length or chunks ends with the connection.
        ends = not self._omits_body and not self._chunked and self._remaining is None
        closes = ends or self._sink.will_close(request)
        self._head = _response_head(request.version, code, headers, named, closes=closes)
        self.closes = closes
        self.started = True
        if self._chunked:
            self._sink.write_soon(self)

    def _send_body(self, body: bytes, *, more: bool) -> None:
        if not self.started or self.complete:
            raise InvalidResponse("a body without a response")
        if body.__class__ is not bytes:
            # The application may use a bytearray or a memoryview again.
            body = bytes(body)
        if self._omits_body:
            body = b""
        elif self._remaining is not None:
            body = body[: self._remaining]
            self._remaining -= len(body)
        self.complete = not more
        head, self._head = self._head, b""
        if not body and more:
            if head:
                self._sink.write(head)
        elif self._chunked:
            self._send_chunk(head, body, last=not more)
        elif head or body:
            self._write(head, body)

    def _send_chunk(self, head: bytes, body: bytes, *, last: bool) -> None:
        end = _LAST_CHUNK if last else b""
        if body:
            self._write(b"%b%x\r\n" % (head, len(body)), body, b"\r\n" + end)
        else:
            self._write(head + end)

    def _write(self, *parts: bytes) -> None:
        if sum(map(len, parts)) >= NO_COPY_BYTES:
            self._sink.write(*parts)
        else:
            self._sink.write(b"".join(parts))


def _without_framing(headers: Headers, code: int) -> Headers:
    """Return the headers of a response without a body; only some may say how long it would be."""
    forbidden = [b"transfer-encoding"]
    if code == 204 or code < 200:
        forbidden.append(b"content-length")
    return [(name, value) for name, value in headers if name not in forbidden]


def _length(value: bytes) -> int:
    if not value.isdigit():
        raise InvalidResponse("the Content-Length is not a number")
    return int(value)


def _response_head(
    version: str, code: int, headers: Headers, named: Collection[bytes], *, closes: bool
) -> bytes:
    """Return the head of a response. Raises InvalidResponse if a header would end it."""
    lines = [b"%b: %b\r\n" % header for header in headers]
    block = b"".join(lines)
    if not _match_headers(block) or block.count(b"\n") != len(lines):
        raise InvalidResponse("a response header is malformed")
    return b"".join(
        (
            _status_line(version, code),
            block,
            b"" if b"server" in named else _SERVER,
            b"" if b"date" in named else _date(int(time.time())),
            _CLOSE if closes and b"connection" not in named else b"",
            b"\r\n",
        )
    )


@lru_cache(maxsize=256)
def _status_line(version: str, code: int) -> bytes:
    return f"HTTP/{version} {code} {reason_phrase(code)}\r\n".encode()


@lru_cache(maxsize=1)
def _date(seconds: int) -> bytes:
    return f"Date: {formatdate(seconds, usegmt=True)}\r\n".encode()


def reason_phrase(code: int) -> str:
    """Return the words after the code in a status line."""
    # The phrases of HTTPStatus depend on the version of Python.
    if code in _PHRASES:
        return _PHRASES[code]
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Unknown"


_PHRASES: Final = {413: "Payload Too Large", 414: "URI Too Long", 422: "Unprocessable Entity"}


def error_response(code: int, text: str, *, has_body: bool = True, version: str = "") -> bytes:
    """Return the response to a request that is refused before it reaches the application."""
    body = text.encode() if has_body else b""
    described = f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n" if has_body else ""
    extra = f"Sec-WebSocket-Version: {version}\r\n" if version else ""
    return (
        f"HTTP/1.1 {code} {reason_phrase(code)}\r\n{described}{extra}"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    ).encode() + body
