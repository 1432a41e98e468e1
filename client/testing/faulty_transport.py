"""A transport with faults: carries requests by another one, unless something shall go wrong.

It also knows how many requests are under way, for whoever waits until there are none.
"""

import asyncio
from typing import Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import APIError
from apimachinery.serialization.media_types import JSON
from client.runtime.clock import Clock
from client.testing.faults import Broken, Effect, Fault, Faults, Latency, subresource_of
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
    """Carries requests; closing it leaves the one underneath open, which others use as well."""

    def __init__(self, inner: Transport, faults: Faults, clock: Clock) -> None:
        self.requests = 0
        """How many have been made, watches apart."""
        self._inner = inner
        self._faults = faults
        self._clock = clock
        self._under_way = 0
        self._streams: list[_Stream] = []
        faults.on_planned = self._strike_open_streams

    @property
    def busy(self) -> bool:
        """Whether a request waits for its answer, and not for the test's clock."""
        return self._under_way > 0

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        lost = False
        for fault in self._faults.striking(request, in_stream=False):
            effect = fault.take(request)
            if isinstance(effect, Latency):
                await self._clock.sleep(effect.seconds)
            elif isinstance(effect, APIError):
                return _Said(effect)
            elif effect is Broken.REFUSED:
                raise ConnectionRefused("nobody listens: a fault of the test")
            else:
                lost = True
                break
        if request.verb == "watch":
            return self._stream(request, await self._inner.open(request, certificate))
        return await self._exchange(request, certificate, lost=lost)

    async def aclose(self) -> None:
        for stream in [*self._streams]:
            stream.close()

    async def _exchange(
        self, request: Request, certificate: ClientCertificate | None, *, lost: bool
    ) -> Response:
        # The whole answer is read here, so that what is under way can be counted.
        self.requests += 1
        self._under_way += 1
        try:
            response = await self._inner.open(request, certificate)
            body = await response.read()
        finally:
            self._under_way -= 1
        if lost:
            raise ConnectionLost(_LOST)
        return _Whole(response.status, response.headers, body)

    def _stream(self, request: Request, response: Response) -> Response:
        if response.status not in (101, 200):
            return response
        made = _Stream(request, response, self._streams)
        for fault in self._faults.striking(request, in_stream=True):
            made.strike_later(fault.take(request), fault.after)
            break
        return made

    def _strike_open_streams(self, fault: Fault) -> None:
        if not fault.in_stream:
            return
        for stream in [*self._streams]:
            if fault.is_for(stream.request, subresource_of(stream.request)):
                stream.strike(fault.take(stream.request))


class _Whole:
    """An answer that has been read."""

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
        """There is nothing to let go of."""


class _Said(_Whole):
    """An error that the server might have answered."""

    def __init__(self, error: APIError) -> None:
        pairs = [("Content-Type", JSON)]
        if error.retry_after:
            pairs.append(("Retry-After", str(error.retry_after)))
        super().__init__(error.code, Headers(pairs), dump_json(error.status))


class _Stream:
    """An open watch that something may strike."""

    def __init__(self, request: Request, inner: Response, among: "list[_Stream]") -> None:
        self.request = request
        self.status = inner.status
        self.headers = inner.headers
        self._inner = inner
        self._among = among
        self._reading: asyncio.Future[bytes] | None = None
        self._effect: Effect | None = None
        self._struck = asyncio.Event()
        self._left_until: int | None = None
        self._planned: Effect | None = None
        among.append(self)

    def strike(self, effect: Effect) -> None:
        """Now, whatever the stream is doing."""
        self._effect = effect
        self._struck.set()
        if self in self._among:
            self._among.remove(self)

    def strike_later(self, effect: Effect, after: int) -> None:
        """When so many pieces have been read."""
        self._planned, self._left_until = effect, after
        self._count(0)

    async def read(self) -> bytes:
        parts = []
        while part := await self.chunk():
            parts.append(part)
        return b"".join(parts)

    async def chunk(self) -> bytes:
        if not self._struck.is_set():
            piece = await self._next_piece()
            if piece is not None:
                self._count(1)
                return piece
        effect, self._effect = self._effect, None
        self.close()
        if isinstance(effect, APIError):
            frame = {"type": "ERROR", "object": orjson.Fragment(dump_json(effect.status))}
            return orjson.dumps(frame) + b"\n"
        if effect is Broken.CUT:
            raise ConnectionLost(_LOST)
        return b""

    def close(self) -> None:
        if self in self._among:
            self._among.remove(self)
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        self._inner.close()

    async def _next_piece(self) -> bytes | None:
        """The next piece, None if something has struck before it came."""
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._inner.chunk())
        struck = asyncio.ensure_future(self._struck.wait())
        reading = self._reading
        try:
            await asyncio.wait((reading, struck), return_when=asyncio.FIRST_COMPLETED)
        finally:
            struck.cancel()
        if reading.cancelled():
            return b""
        if not reading.done():
            return None
        self._reading = None
        return reading.result()

    def _count(self, pieces: int) -> None:
        if self._left_until is None or self._planned is None:
            return
        self._left_until -= pieces
        if self._left_until <= 0:
            effect, self._planned = self._planned, None
            self.strike(effect)
