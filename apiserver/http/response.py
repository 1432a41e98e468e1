"""Responses: write documents, streams and errors.

Documents are JSON until they are rendered, except protobuf, which the codec encodes. Large
responses are compressed if the client accepts it, and sent in parts, so that the event loop can
serve other requests in between.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from falcon.asgi import Request, Response

from apimachinery.codec import dump_json
from apimachinery.errors import APIError
from apimachinery.meta.status import Status
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from apimachinery.serialization.serializer import write_json_pretty, write_yaml
from apiserver.http.exchange import KEY, Exchange
from apiserver.http.negotiation import PLAIN, Accepted, accepts_gzip, error_media_type

if TYPE_CHECKING:
    from apimachinery.protobuf import ProtobufCodec

LARGE: Final = 128 * 1024
"""Size in bytes from which a response is sent in parts, and compressed if the client accepts it."""
TEXT: Final = "text/plain; charset=utf-8"

_MAX_WARNINGS_LENGTH: Final = 4096
_TRUNCATED_LENGTH: Final = 256
_GZIP: Final = 16 + zlib.MAX_WBITS


class UTF8HeaderResponse(Response):
    """Falcon's response, with Warning headers in UTF-8: warnings quote text from clients."""

    def _asgi_headers(self, media_type: str | None = None) -> list[tuple[bytes, bytes]]:
        extra, self._extra_headers = self._extra_headers, None
        headers: list[tuple[bytes, bytes]] = super()._asgi_headers(media_type)
        if extra:
            headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in extra]
        return headers


def exchange_of(req: Request) -> Exchange:
    """Return the exchange of a request."""
    exchange: Exchange = req.scope[KEY]
    return exchange


async def respond(req: Request, resp: Response, data: bytes, *, code: int = 200) -> None:
    """Respond like `write`, and render a large document as a heavy step of the request."""
    exchange = exchange_of(req)
    accepted = exchange.accepted
    if accepted.media_type != YAML and not accepted.pretty:
        write(req, resp, data, code=code)
        return
    exchange.workload.add(data, accepted.media_type)
    write_rendered(req, resp, await exchange.workload.run(render, data, accepted), code=code)


def write(req: Request, resp: Response, data: bytes, *, code: int = 200) -> None:
    """Respond with a document: JSON, or protobuf if that was negotiated."""
    write_rendered(req, resp, render(data, exchange_of(req).accepted), code=code)


def write_rendered(req: Request, resp: Response, body: bytes, *, code: int = 200) -> None:
    """Respond with a document in the negotiated form."""
    accepted = exchange_of(req).accepted
    resp.status = code
    resp.content_type = accepted.media_type
    if len(body) > LARGE and accepts_gzip(req.get_header("accept-encoding") or ""):
        write_stream(req, resp, only_part(body))
    else:
        resp.data = body


def render(data: bytes, accepted: Accepted) -> bytes:
    """Render a JSON document in the negotiated form; protobuf is returned unchanged."""
    if accepted.media_type == PROTOBUF:
        return data
    if accepted.media_type == YAML:
        return write_yaml(data)
    return write_json_pretty(data) if accepted.pretty else data + b"\n"


async def only_part(body: bytes) -> AsyncIterator[bytes]:
    """Return a body as the only part of a stream."""
    yield body


def write_stream(req: Request, resp: Response, parts: AsyncIterator[bytes]) -> None:
    """Respond with a large body in parts, each sent before the next is created."""
    if accepts_gzip(req.get_header("accept-encoding") or ""):
        resp.set_header("content-encoding", "gzip")
        resp.append_header("vary", "Accept-Encoding")
        resp.stream = _compress_parts(parts)
    else:
        resp.stream = _send_parts(parts)


async def _send_parts(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for part in parts:
        for piece in _pieces(part):
            yield piece
            # Sending may not block at all; let other requests run in any case.
            await asyncio.sleep(0)


def _pieces(part: bytes) -> Iterator[bytes]:
    """Split a large part: a client that reads nothing keeps several copies of what was written."""
    if len(part) <= 2 * LARGE:
        yield part
        return
    for start in range(0, len(part), LARGE):
        yield part[start : start + LARGE]


async def _compress_parts(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    compressor = zlib.compressobj(1, wbits=_GZIP)
    async for part in parts:
        packed = await asyncio.to_thread(compressor.compress, part)
        if packed:
            yield packed
    yield compressor.flush()


def write_text(resp: Response, text: str, *, code: int = 200) -> None:
    """Respond with plain text."""
    resp.status = code
    resp.content_type = TEXT
    resp.set_header("x-content-type-options", "nosniff")
    resp.data = text.encode("utf-8", "replace")


def write_error(req: Request, resp: Response, error: APIError) -> None:
    """Respond with the Status of an error, in a form that the client accepts."""
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
    resp.data = render(status_bytes(error.status, exchange.accepted), exchange.accepted)


def status_bytes(status: Status, accepted: Accepted = PLAIN) -> bytes:
    """Encode a Status in the negotiated media type."""
    if accepted.media_type == PROTOBUF:
        return protobuf_codec().encode(status, api_version="v1", kind="Status")
    return dump_json(status)


@cache
def protobuf_codec() -> "ProtobufCodec":
    """Return the codec for kinds without a group; cached, because creating one is expensive."""
    # Imported late: most clients use JSON, and then the protobuf library is never loaded.
    from apimachinery.protobuf import ProtobufCodec

    return ProtobufCodec()


def write_warnings(resp: Response, warnings: Iterable[str]) -> None:
    """Add a Warning header for each text."""
    values = list(warning_headers(warnings))
    if values:
        # One header each, as Kubernetes sends them; Falcon would join them with commas.
        resp._extra_headers = [
            *(resp._extra_headers or ()),
            *(("warning", value) for value in values),
        ]


def warning_headers(warnings: Iterable[str]) -> Iterable[str]:
    """Yield the header values; texts are truncated if all of them together are too long."""
    texts = [_printable(text) for text in dict.fromkeys(warnings)]
    too_long = sum(map(len, texts)) > _MAX_WARNINGS_LENGTH
    size = 0
    for text in texts:
        truncated = text[:_TRUNCATED_LENGTH] if too_long else text
        size += len(truncated)
        if size > _MAX_WARNINGS_LENGTH:
            return
        escaped = truncated.replace("\\", "\\\\").replace('"', '\\"')
        yield f'299 - "{escaped}"'.encode().decode("latin-1")


def _printable(text: str) -> str:
    """Replace the characters that a header cannot contain."""
    if text.isprintable() and text.isascii():
        return text
    cleaned = "".join(char if char.isprintable() else " " for char in text)
    return cleaned.encode("utf-8", "replace").decode()
