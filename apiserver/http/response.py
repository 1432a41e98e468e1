"""Answers: bytes, objects and errors as a client gets them.

Whatever is answered is JSON here until the last moment, except protobuf, which the codec writes.
Large answers are compressed if the client can read that, and sent in slices, so that the loop can
serve others in between.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterable
from functools import cache
from typing import Final

from falcon.asgi import Request, Response

from apimachinery.codec import dump_json
from apimachinery.errors import APIError
from apimachinery.meta.status import Status
from apimachinery.protobuf import ProtobufCodec
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from apimachinery.serialization.serializer import write_json_pretty, write_yaml
from apiserver.http.exchange import KEY, Exchange
from apiserver.http.negotiation import PLAIN, Accepted, accepts_gzip, error_media_type

LARGE: Final = 128 * 1024
"""Bytes from which an answer is sent in slices, and compressed for who accepts it."""
TEXT: Final = "text/plain; charset=utf-8"

_LONGEST_WARNINGS: Final = 4096
_CUT_WARNING: Final = 256
_GZIP: Final = 16 + zlib.MAX_WBITS


class WideResponse(Response):
    """Falcon's, with warnings in UTF-8 too: they quote what a client has sent."""

    def _asgi_headers(self, media_type: str | None = None) -> list[tuple[bytes, bytes]]:
        extra, self._extra_headers = self._extra_headers, None
        found: list[tuple[bytes, bytes]] = super()._asgi_headers(media_type)
        if extra:
            found += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in extra]
        return found


def exchange_of(req: Request) -> Exchange:
    """What the server knows of a request."""
    found: Exchange = req.scope[KEY]
    return found


def write(req: Request, resp: Response, data: bytes, *, code: int = 200) -> None:
    """Answer with a document: JSON, or protobuf if that was agreed on."""
    accepted = exchange_of(req).accepted
    resp.status = code
    resp.content_type = accepted.media_type
    body = rendered(data, accepted)
    if len(body) > LARGE and accepts_gzip(req.get_header("accept-encoding") or ""):
        write_stream(req, resp, (body,))
    else:
        resp.data = body


def rendered(data: bytes, accepted: Accepted) -> bytes:
    """A JSON document in the agreed form; protobuf has it already."""
    if accepted.media_type == PROTOBUF:
        return data
    if accepted.media_type == YAML:
        return write_yaml(data)
    return write_json_pretty(data) if accepted.pretty else data + b"\n"


def write_stream(req: Request, resp: Response, parts: Iterable[bytes]) -> None:
    """Answer with a large body in parts, each sent before the next is made."""
    if accepts_gzip(req.get_header("accept-encoding") or ""):
        resp.set_header("content-encoding", "gzip")
        resp.append_header("vary", "Accept-Encoding")
        resp.stream = _compressed(parts)
    else:
        resp.stream = _in_turn(parts)


async def _in_turn(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
        # Sending need not wait for anything; others must get their turn all the same.
        await asyncio.sleep(0)


async def _compressed(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    compressor = zlib.compressobj(1, wbits=_GZIP)
    for part in parts:
        packed = await asyncio.to_thread(compressor.compress, part)
        if packed:
            yield packed
    yield compressor.flush()


def write_text(resp: Response, text: str, *, code: int = 200) -> None:
    """Answer with plain text."""
    resp.status = code
    resp.content_type = TEXT
    resp.set_header("x-content-type-options", "nosniff")
    resp.data = text.encode("utf-8", "replace")


def write_error(req: Request, resp: Response, error: APIError) -> None:
    """Answer with the Status of an error, in a form that the client accepts."""
    exchange = exchange_of(req)
    if error.retry_after > 0:
        resp.set_header("retry-after", str(error.retry_after))
    media_type = error_media_type(req.get_header("accept") or "")
    exchange.accepted = Accepted(media_type or JSON, pretty=exchange.accepted.pretty)
    if not media_type:
        exchange.accepted = Accepted(JSON, pretty=True)
    resp.status = error.code
    resp.content_type = exchange.accepted.media_type
    resp.stream = None
    resp.data = rendered(status_bytes(error.status, exchange.accepted), exchange.accepted)


def status_bytes(status: Status, accepted: Accepted = PLAIN) -> bytes:
    """A Status as a document of the agreed type."""
    if accepted.media_type == PROTOBUF:
        return protobuf_codec().encode(status, api_version="v1", kind="Status")
    return dump_json(status)


@cache
def protobuf_codec() -> ProtobufCodec:
    """The codec of what belongs to no group; making one costs more than many uses of it."""
    return ProtobufCodec()


def write_warnings(resp: Response, warnings: Iterable[str]) -> None:
    """One Warning header for each text."""
    values = list(warning_headers(warnings))
    if values:
        # One header each, as the original sends them; falcon would join them with commas.
        resp._extra_headers = [*(resp._extra_headers or ()), *(("warning", v) for v in values)]


def warning_headers(warnings: Iterable[str]) -> Iterable[str]:
    """The values of the headers; long texts are cut once all of them together are too long."""
    texts = [_printable(text) for text in dict.fromkeys(warnings)]
    too_long = sum(map(len, texts)) > _LONGEST_WARNINGS
    size = 0
    for text in texts:
        shown = text[:_CUT_WARNING] if too_long else text
        size += len(shown)
        if size > _LONGEST_WARNINGS:
            return
        escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
        yield f'299 - "{escaped}"'.encode().decode("latin-1")


def _printable(text: str) -> str:
    """A text without what a header cannot hold."""
    if text.isprintable() and text.isascii():
        return text
    cleaned = "".join(c if c.isprintable() else " " for c in text)
    return cleaned.encode("utf-8", "replace").decode()
