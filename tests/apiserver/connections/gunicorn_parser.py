"""gunicorn's HTTP/1 parser with the rules of Go's server: the oracle of the differential test.

Beyond gunicorn it refuses HTTP/1.1 without Host, a malformed Host, transfer codings other than
`chunked`, and a Content-Length beyond 64 bits.
"""

import re
from typing import Final

from gunicorn.asgi.parser import (
    ChunkMissingTerminator,
    InvalidHeader,
    InvalidRequestLine,
    PythonProtocol,
)
from gunicorn.http.body import CHUNK_EXT_RE

_MAX_LENGTH_DIGITS: Final = 18
"""The digits of a Content-Length that always fit into 64 bits."""

_MAX_CHUNK_HEAD: Final = 4096
"""The maximum size of the line before a chunk, as in Go."""

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_match_token: Final = re.compile(_TOKEN).fullmatch
_find_control: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]").search
_match_method: Final = re.compile(rb"[!$%&'*+\-.^_`|~0-9A-Z]{3,20}").fullmatch
# The characters that Go's server accepts in a Host header.
_match_host: Final = re.compile(rb"[!$%&'()*+,\-.:;=\[\]_~0-9A-Za-z]*").fullmatch
_match_absolute_form: Final = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.\-]*://([^/?]*)(.*)", re.DOTALL
).fullmatch
_match_chunk_head: Final = re.compile(
    rb"0*([0-9A-Fa-f]{1,15})(?:" + CHUNK_EXT_RE.pattern + rb")\r\n"
).match


class RequestParser(PythonProtocol):  # type: ignore[misc]  # gunicorn has no types
    """Parses the requests of one connection."""

    path: bytes
    _chunk_state: str
    _scan_from: int

    def _is_valid_token(self, data: bytes) -> bool:
        return _match_token(data) is not None

    def _is_valid_method(self, method: bytes) -> bool:
        return _match_method(method) is not None

    def _has_invalid_header_chars(self, value: bytes) -> bool:
        return _find_control(value) is not None

    def _line_limit(self) -> int:
        if self._state == "chunked" and self._chunk_state == "size":
            return _MAX_CHUNK_HEAD
        limit: int = super()._line_limit()
        return limit

    def _parse_request_line(self) -> bool:
        complete: bool = super()._parse_request_line()
        if complete and not self.path.startswith(b"/") and b"://" in self.path:
            self.path = _path_of_absolute_form(self.path)
        return complete

    def _finalize_headers(self) -> None:
        host: bytes | None = None
        for name, value in self._headers_list:
            if name == b"host":
                host = value
            elif name == b"content-length":
                if len(value) > _MAX_LENGTH_DIGITS:
                    raise InvalidHeader("bad Content-Length")
            elif name == b"transfer-encoding" and value.lower() != b"chunked":
                raise InvalidHeader("unsupported transfer encoding")
        if host is None:
            if self.http_version >= (1, 1) and self.method != b"CONNECT":
                raise InvalidHeader("missing required Host header")
        elif _match_host(host) is None:
            raise InvalidHeader("malformed Host header")
        super()._finalize_headers()

    def _parse_chunked_body(self) -> bool:
        if self._chunk_state in ("data", "crlf") and not self._finish_chunk():
            return False
        if self._chunk_state == "size":
            self._take_whole_chunks()
        # What is left is the beginning of a chunk, the end of the body, or malformed.
        return bool(self._buffer) and super()._parse_chunked_body()

    def _finish_chunk(self) -> bool:
        """Take the rest of a chunk that started in an earlier read; return whether it ended."""
        if self._chunk_state == "data":
            data = bytes(self._buffer[: self._chunk_remaining])
            del self._buffer[: len(data)]
            self._chunk_remaining -= len(data)
            self._on_body(data)
            if self._chunk_remaining:
                return False
            self._chunk_state = "crlf"
        if len(self._buffer) < 2:
            return False
        if self._buffer[:2] != b"\r\n":
            raise ChunkMissingTerminator("chunk data not terminated by CRLF")
        del self._buffer[:2]
        self._chunk_state = "size"
        return True

    def _take_whole_chunks(self) -> None:
        """Take the chunks that are complete, as one part of the body."""
        received = bytes(self._buffer)
        position, parts = 0, []
        while (head := _match_chunk_head(received, position)) is not None:
            start = head.end()
            end = start + int(head[1], 16)
            if end == start or not received.startswith(b"\r\n", end):
                break
            parts.append(received[start:end])
            position = end + 2
        if parts:
            del self._buffer[:position]
            self._scan_from = 0
            self._on_body(b"".join(parts))


def _path_of_absolute_form(target: bytes) -> bytes:
    """Return the path and query of a URL with scheme and authority, as proxies send it."""
    parts = _match_absolute_form(target)
    if parts is None or not _match_host(parts[1]) or parts[1].count(b"[") != parts[1].count(b"]"):
        raise InvalidRequestLine("Invalid request line")
    rest = parts[2]
    return rest if rest.startswith(b"/") else b"/" + rest
