"""Bridge transport: sends the requests of another thread on the event loop of the test."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from client.transport.request import Request
from client.transport.tls import ClientCertificate
from client.transport.transport import Headers, Response, Transport

T = TypeVar("T")


class BridgeTransport:
    """Passes requests to a transport that belongs to another event loop."""

    def __init__(self, inner: Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        response = await _await_on(self._loop, self._inner.open(request, certificate))
        return _BridgedResponse(response, self._loop)

    async def aclose(self) -> None:
        """Do nothing: the transport on the other side belongs to the test."""


class _BridgedResponse:
    def __init__(self, inner: Response, loop: asyncio.AbstractEventLoop) -> None:
        self.status: int = inner.status
        self.headers: Headers = inner.headers
        self._inner = inner
        self._loop = loop

    async def read(self) -> bytes:
        return await _await_on(self._loop, self._inner.read())

    async def chunk(self) -> bytes:
        return await _await_on(self._loop, self._inner.chunk())

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._inner.close)


async def _await_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
