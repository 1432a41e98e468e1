"""Request head: the request line and the headers, read as strictly as by Go's server.

Regular expressions accept exactly what is allowed, over the whole head at once: in CPython they
cost as little as a parser in C that calls back for each header. Most requests of a connection have
the same headers as the one before, byte for byte, and those are not parsed again.

An incomplete head is checked line by line as it arrives, so that what is no HTTP is refused at once
and no byte is looked at twice.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_LINE_BYTES: Final = 65536
"""The maximum size of the request line, and of one header."""
MAX_HEADERS: Final = 200
MAX_HEAD_BYTES: Final = 128 * 1024
"""The maximum size of the request line and all headers together."""

_REMEMBERED_BYTES: Final = 4096
"""The size up to which the headers of a request are kept, to be compared with the next one's."""
_MAX_LENGTH_DIGITS: Final = 18
"""The digits of a Content-Length that always fit into 64 bits."""

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_FIELD: Final = _TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*+\r\n"
_match_request_line: Final = re.compile(
    rb"([!$%&'*+\-.^_`|~0-9A-Z]{3,20}) ([!-~]++) HTTP/(1\.[01]\r\n)"
).match
match_field: Final = re.compile(_FIELD).fullmatch
"""Match a header or a trailer with its line end: no folding, and no control characters."""
_match_fields: Final = re.compile(rb"1\.[01]\r\n(?:" + _FIELD + rb")*+\r\n").fullmatch
# The characters that Go's server accepts in a Host header.
_match_host: Final = re.compile(rb"[!$%&'()*+,\-.:;=\[\]_~0-9A-Za-z]*").fullmatch
_match_absolute_form: Final = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.\-]*://([^/?]*)(.*)", re.DOTALL
).fullmatch

Headers = tuple[tuple[bytes, bytes], ...]


class MalformedRequest(Exception):
    """A request is refused with *code* before it reaches the application."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """The headers of a request, with lower-case names, and what they mean for the connection."""

    headers: Headers
    length: int
    """The length of the body, 0 without one and for a chunked one."""
    chunked: bool
    closes: bool
    """Whether the connection ends after the response."""
    expects_continue: bool
    has_host: bool
    upgrades: bool
    """Whether the client asks for a WebSocket."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of a request."""

    method: str
    target: bytes
    """The path and the query, as they were sent."""
    version: str
    fields: HeaderFields


class HeadReader:
    """Reads the heads of the requests of one connection."""

    __slots__ = ("_checked", "_fields", "_lines", "_remembered")

    def __init__(self) -> None:
        self._remembered = b""
        self._fields: HeaderFields | None = None
        self._checked = 0
        """How many bytes of an incomplete head have been checked: all lines up to there."""
        self._lines = 0

    def read(self, received: bytes | bytearray) -> tuple[RequestHead, int] | None:
        """Return the head with which *received* begins and its length, None if it is incomplete.

        After None, *received* is passed again, with more bytes. Raises MalformedRequest.
        """
        # One empty line before a request is ignored (RFC 9112, section 2.2).
        start = 2 if received.startswith(b"\r\n") else 0
        # The end may overlap with the last line that was complete.
        end = received.find(b"\r\n\r\n", max(start, self._checked - 2))
        if end < 0 or end > MAX_HEAD_BYTES:
            self._check_lines(received, start)
            if len(received) > MAX_HEAD_BYTES:
                raise _too_large()
            return None
        end += 4
        line = _match_request_line(received, start)
        if line is None or line.end() - start > MAX_LINE_BYTES + 2:
            raise self._fault(received, start)
        method, target, _ = line.groups()
        block = received[line.start(3) : end]
        fields = self._fields
        if fields is None or block != self._remembered:
            fields = self._parse(received, start, bytes(block))
        if not fields.has_host and block[2:3] == b"1" and method != b"CONNECT":
            raise MalformedRequest(400, "missing required Host header")
        self._checked = self._lines = 0
        version = "1.1" if block[2:3] == b"1" else "1.0"
        return RequestHead(method.decode(), _path_of_target(method, target), version, fields), end

    def _parse(self, received: bytes | bytearray, start: int, block: bytes) -> HeaderFields:
        if _match_fields(block) is None:
            raise self._fault(received, start)
        lines = block.split(b"\r\n")[1:-2]
        if len(lines) > MAX_HEADERS:
            raise MalformedRequest(431, "too many headers")
        if len(block) > MAX_LINE_BYTES and max(map(len, lines)) + 2 > MAX_LINE_BYTES:
            raise MalformedRequest(431, "a request header is too large")
        fields = _fields_of(lines, block[:3])
        if len(block) <= _REMEMBERED_BYTES:
            self._remembered, self._fields = block, fields
        return fields

    def _fault(self, received: bytes | bytearray, start: int) -> MalformedRequest:
        """Return what is wrong with a head that does not match."""
        try:
            self._check_lines(received, start)
        except MalformedRequest as error:
            return error
        return MalformedRequest(400, "malformed request")

    def _check_lines(self, received: bytes | bytearray, start: int) -> None:
        """Check the complete lines that have not been checked, and the beginning of the next."""
        position = max(start, self._checked)
        while (end := received.find(b"\r\n", position)) >= 0:
            if end == position and self._lines:
                return  # the end of the head
            self._check_line(bytes(received[position : end + 2]))
            self._lines += 1
            self._checked = position = end + 2
        if received.find(b"\n", position) >= 0:
            raise MalformedRequest(400, "a line ends without CR")
        if len(received) - position > MAX_LINE_BYTES + 1:
            raise self._line_too_large()

    def _check_line(self, line: bytes) -> None:
        if not self._lines:
            if len(line) > MAX_LINE_BYTES + 2:
                raise self._line_too_large()
            if _match_request_line(line) is None:
                raise MalformedRequest(400, "malformed request line")
            return
        if len(line) > MAX_LINE_BYTES:
            raise self._line_too_large()
        if self._lines > MAX_HEADERS:
            raise MalformedRequest(431, "too many headers")
        if match_field(line) is None:
            raise MalformedRequest(400, "malformed header")

    def _line_too_large(self) -> MalformedRequest:
        if self._lines:
            return MalformedRequest(431, "a request header is too large")
        return MalformedRequest(414, "the request line is too large")


def _too_large() -> MalformedRequest:
    return MalformedRequest(431, "the request head is too large\n")


def _path_of_target(method: bytes, target: bytes) -> bytes:
    """Return the path and query of a request target. Raises MalformedRequest."""
    if target.startswith(b"/"):
        return target
    if b"://" in target:
        return _path_of_absolute_form(target)
    if method == b"CONNECT" or (target == b"*" and method == b"OPTIONS"):
        return target
    raise MalformedRequest(400, "malformed request target")


def _path_of_absolute_form(target: bytes) -> bytes:
    """Return the path and query of a URL with scheme and authority, as proxies send it."""
    parts = _match_absolute_form(target)
    if parts is None or not _match_host(parts[1]) or parts[1].count(b"[") != parts[1].count(b"]"):
        raise MalformedRequest(400, "malformed request target")
    rest = parts[2]
    return rest if rest.startswith(b"/") else b"/" + rest


def _fields_of(lines: Sequence[bytes], version: bytes) -> HeaderFields:
    """Parse headers. Raises MalformedRequest if they are ambiguous."""
    headers = []
    single: dict[bytes, bytes] = {}
    connections = []
    upgrade = b""
    for line in lines:
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        if name in _SINGLE:
            if name in single:
                raise MalformedRequest(400, f"duplicate {name.decode()} header")
            single[name] = value
        elif name == b"connection":
            connections.append(value.lower())
        elif name == b"upgrade":
            upgrade = value.lower()
        # As between gunicorn and WSGI: x_y and x-y could be taken for the same header.
        if b"_" not in name:
            headers.append((name, value))
    host = single.get(b"host")
    if host is not None and _match_host(host) is None:
        raise MalformedRequest(400, "malformed Host header")
    chunked = b"transfer-encoding" in single
    if chunked:
        _check_coding(single, version)
    is_new = version == b"1.1"
    return HeaderFields(
        headers=tuple(headers),
        length=_body_length(single.get(b"content-length")),
        chunked=chunked,
        closes=_closes(connections, is_new=is_new),
        expects_continue=is_new and _EXPECT in [(name, value.lower()) for name, value in headers],
        has_host=host is not None,
        upgrades=upgrade == b"websocket" and bool(connections) and b"upgrade" in connections[-1],
    )


_EXPECT: Final = (b"expect", b"100-continue")
_SINGLE: Final = frozenset((b"host", b"content-type", b"content-length", b"transfer-encoding"))
"""The headers that must not be repeated: which one counts would be ambiguous."""


def _check_coding(single: dict[bytes, bytes], version: bytes) -> None:
    if single[b"transfer-encoding"].lower() != b"chunked":
        raise MalformedRequest(400, "unsupported transfer encoding")
    if version != b"1.1":
        raise MalformedRequest(400, "chunked encoding in HTTP/1.0")
    if b"content-length" in single:
        raise MalformedRequest(400, "Content-Length with Transfer-Encoding")


def _body_length(value: bytes | None) -> int:
    if value is None:
        return 0
    if not value.isdigit() or len(value) > _MAX_LENGTH_DIGITS:
        raise MalformedRequest(400, "bad Content-Length")
    return int(value)


def _closes(connections: Sequence[bytes], *, is_new: bool) -> bool:
    """Return whether a client wants the connection to end: in HTTP/1.0 unless it says otherwise."""
    if any(b"close" in value for value in connections):
        return True
    return not is_new and b"keep-alive" not in connections
