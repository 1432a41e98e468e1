"""Faulty transport: sends requests by another transport and applies the planned faults.

It also counts the requests in flight, so that a test can wait until there are none.
"""

import asyncio
from typing import Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import APIError
from apimachinery.serialization.media_types import JSON
from client.runtime.clock import Clock
from client.testing.faults import ConnectionFault, Effect, Fault, Faults, Latency, subresource_of
from client.transport.request import Request
from client.transport.tls import ClientCertificate
from client.transport.transport import (
    ConnectionLost,
    ConnectionRefused,
    Headers,
    Response,
    Transport,
)

_LOST: Final = "the connection was lost: a fault of the test"


class FaultyTransport:
    """Sends requests; closing it leaves the inner transport open, which others use as well."""

    def __init__(self, inner: Transport, faults: Faults, clock: Clock) -> None:
        self.requests = 0
        """Requests sent so far, without watches."""
        self._inner = inner
        self._faults = faults
        self._clock = clock
        self._in_flight = 0
        self._streams: list[_Stream] = []
        faults.on_planned = self._apply_to_open_streams

    @property
    def busy(self) -> bool:
        """Whether a request waits for its response, and not for the test's clock."""
        return self._in_flight > 0

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        lose_response = False
        for fault in self._faults.matching(request, in_stream=False):
            effect = fault.consume(request)
            if isinstance(effect, Latency):
                await self._clock.sleep(effect.seconds)
            elif isinstance(effect, APIError):
                return _ErrorResponse(effect)
            elif effect is ConnectionFault.REFUSED:
                raise ConnectionRefused("connection refused: a fault of the test")
            else:
                lose_response = True
                break
        if request.verb == "watch":
            return self._stream(request, await self._inner.open(request, certificate))
        return await self._exchange(request, certificate, lose_response=lose_response)

    async def aclose(self) -> None:
        for stream in [*self._streams]:
            stream.close()

    async def _exchange(
        self, request: Request, certificate: ClientCertificate | None, *, lose_response: bool
    ) -> Response:
        # The whole response is read here: it counts as in flight until its end.
        self.requests += 1
        self._in_flight += 1
        try:
            response = await self._inner.open(request, certificate)
            body = await response.read()
        finally:
            self._in_flight -= 1
        if lose_response:
            raise ConnectionLost(_LOST)
        return _ReadResponse(response.status, response.headers, body)

    def _stream(self, request: Request, response: Response) -> Response:
        if response.status not in (101, 200):
            return response
        stream = _Stream(request, response, self._streams)
        for fault in self._faults.matching(request, in_stream=True):
            stream.apply_later(fault.consume(request), fault.after)
            break
        return stream

    def _apply_to_open_streams(self, fault: Fault) -> None:
        if not fault.in_stream:
            return
        for stream in [*self._streams]:
            if fault.matches(stream.request, subresource_of(stream.request)):
                stream.apply(fault.consume(stream.request))


class _ReadResponse:
    """A response whose body has been read."""

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self._body = body

    async def read(self) -> bytes:
        return self._body

    async def chunk(self) -> bytes:
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Do nothing: the body has been read."""


class _ErrorResponse(_ReadResponse):
    """An error response, as the server would send it."""

    def __init__(self, error: APIError) -> None:
        pairs = [("Content-Type", JSON)]
        if error.retry_after:
            pairs.append(("Retry-After", str(error.retry_after)))
        super().__init__(error.code, Headers(pairs), dump_json(error.status))


class _Stream:
    """An open watch to which a fault may apply."""

    def __init__(self, request: Request, inner: Response, open_streams: "list[_Stream]") -> None:
        self.request = request
        self.status = inner.status
        self.headers = inner.headers
        self._inner = inner
        self._open_streams = open_streams
        self._reading: asyncio.Future[bytes] | None = None
        self._effect: Effect | None = None
        self._fault_applied = asyncio.Event()
        self._chunks_left: int | None = None
        self._planned: Effect | None = None
        open_streams.append(self)

    def apply(self, effect: Effect) -> None:
        """End the stream with *effect*, even while a read is pending."""
        self._effect = effect
        self._fault_applied.set()
        if self in self._open_streams:
            self._open_streams.remove(self)

    def apply_later(self, effect: Effect, after: int) -> None:
        """Apply *effect* after *after* chunks."""
        self._planned, self._chunks_left = effect, after
        self._count(0)

    async def read(self) -> bytes:
        chunks = []
        while chunk := await self.chunk():
            chunks.append(chunk)
        return b"".join(chunks)

    async def chunk(self) -> bytes:
        if not self._fault_applied.is_set():
            chunk = await self._next_chunk()
            if chunk is not None:
                self._count(1)
                return chunk
        effect, self._effect = self._effect, None
        self.close()
        if isinstance(effect, APIError):
            frame = {"type": "ERROR", "object": orjson.Fragment(dump_json(effect.status))}
            return orjson.dumps(frame) + b"\n"
        if effect is ConnectionFault.CUT:
            raise ConnectionLost(_LOST)
        return b""

    def close(self) -> None:
        if self in self._open_streams:
            self._open_streams.remove(self)
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        self._inner.close()

    async def _next_chunk(self) -> bytes | None:
        """Return the next chunk, or None if a fault applied before it arrived."""
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._inner.chunk())
        applied = asyncio.ensure_future(self._fault_applied.wait())
        reading = self._reading
        try:
            await asyncio.wait((reading, applied), return_when=asyncio.FIRST_COMPLETED)
        finally:
            applied.cancel()
        if reading.cancelled():
            return b""
        if not reading.done():
            return None
        self._reading = None
        return reading.result()

    def _count(self, chunks: int) -> None:
        if self._chunks_left is None or self._planned is None:
            return
        self._chunks_left -= chunks
        if self._chunks_left <= 0:
            effect, self._planned = self._planned, None
            self.apply(effect)
