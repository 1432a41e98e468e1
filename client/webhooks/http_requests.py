"""HTTP/1.1 requests of webhooks: the head of a request, and its body in either framing.

Strict where ambiguity would let two readers disagree on where a request ends: the connection of
such a request is closed with a 400.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from apimachinery.errors import BadRequest, RequestEntityTooLarge

MAX_HEAD: Final = 32 * 1024
"""Bytes of the largest request line with headers, and of the largest line within a body."""

_REQUEST_LINE: Final = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (/[!-~]*) HTTP/1\.([0-9])")
_FIELD: Final = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_SINGLE: Final = frozenset({"content-length", "transfer-encoding", "content-type", "host"})


@dataclass(frozen=True, slots=True)
class CallHead:
    """The request line and headers of a request, without its body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """By name in lower case; of repeated headers the last."""
    keeps_alive: bool
    length: int | None
    """Bytes of the body; None if it comes in chunks."""

    @property
    def expects_continue(self) -> bool:
        return self.headers.get("expect", "").lower() == "100-continue"


def parse_head(data: bytes) -> CallHead:
    """Parse the head of a request, which ends in an empty line. Raises BadRequest."""
    first, *lines = data.removesuffix(b"\r\n\r\n").split(b"\r\n")
    request_line = _REQUEST_LINE.fullmatch(first)
    if request_line is None:
        raise BadRequest("the request line is malformed")
    headers: dict[str, str] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadRequest("a header is malformed")
        name = field[1].decode("ascii").lower()
        if name in headers and name in _SINGLE:
            raise BadRequest(f"header {name} is repeated")
        headers[name] = field[2].decode("latin-1").rstrip(" \t")
    path, _, query = request_line[2].decode("ascii").partition("?")
    return CallHead(
        request_line[1].decode("ascii"),
        path,
        query,
        headers,
        keeps_alive=_keeps_alive(headers, request_line[3]),
        length=_length(headers),
    )


async def read_body(reader: asyncio.StreamReader, head: CallHead, limit: int) -> bytes:
    """Read the body of a request. Raises RequestEntityTooLarge, BadRequest."""
    if head.length is None:
        return await _read_chunks(reader, limit)
    if head.length > limit:
        raise RequestEntityTooLarge.of(limit)
    return await reader.readexactly(head.length)


async def _read_chunks(reader: asyncio.StreamReader, limit: int) -> bytes:
    body = bytearray()
    while True:
        line = _CHUNK.fullmatch(await reader.readuntil(b"\r\n"))
        if line is None:
            raise BadRequest("the length of a chunk is malformed")
        length = int(line[1], 16)
        if len(body) + length > limit:
            raise RequestEntityTooLarge.of(limit)
        if not length:
            break
        body += await reader.readexactly(length)
        if await reader.readexactly(2) != b"\r\n":
            raise BadRequest("a chunk is longer than its length")
    trailers = 0
    while (trailer := await reader.readuntil(b"\r\n")) != b"\r\n":
        trailers += len(trailer)
        if trailers > MAX_HEAD:
            raise BadRequest("the trailers are too large")
    return bytes(body)


def _keeps_alive(headers: Mapping[str, str], minor_version: bytes) -> bool:
    options = {option.strip().lower() for option in headers.get("connection", "").split(",")}
    return "keep-alive" in options if minor_version == b"0" else "close" not in options


def _length(headers: Mapping[str, str]) -> int | None:
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if length is not None:
            raise BadRequest("the request has both Content-Length and Transfer-Encoding")
        if coding.lower() != "chunked":
            raise BadRequest("Transfer-Encoding: must be chunked")
        return None
    if length is None:
        return 0
    if _LENGTH.fullmatch(length) is None:
        raise BadRequest("Content-Length: must be a number of bytes")
    return int(length)
