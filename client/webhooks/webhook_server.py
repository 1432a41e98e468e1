"""WebhookServer: HTTPS for the webhooks of a program.

Servers keep their connections open and send one request at a time on each. Everything that a client
can make large or slow is bounded: connections, heads, bodies, all bodies together, and the time for
each. To stop, the server closes idle connections and lets the others finish.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from apimachinery.errors import APIError, BadRequest, TooManyRequests
from client.monitoring.probes import parse_address
from client.webhooks.http_requests import MAX_HEAD, CallHead, parse_head, read_body
from client.webhooks.webhook_routes import WebhookAnswer, WebhookRequest, WebhookRoutes, refusal

log = logging.getLogger("apimachinery.controller.webhook")

MAX_CONNECTIONS: Final = 512
"""Further connections are closed at once."""
MAX_BUFFERED: Final = 256 * 1024 * 1024
"""Bytes of all bodies together; a request above it is answered with 429."""
MAX_DISCARDED: Final = 16 * 1024 * 1024
"""Bytes of a refused body that are read, so that the client sees the response."""
HANDSHAKE_TIMEOUT: Final = 10.0
HEAD_TIMEOUT: Final = 10.0
BODY_TIMEOUT: Final = 30.0
SEND_TIMEOUT: Final = 30.0
IDLE_TIMEOUT: Final = 120.0
"""Longer than servers keep idle connections, so that they close them and not we."""


class WebhookServer:
    """Serves webhooks at an address, `host:port`; port 0 chooses a free one.

    Raises InvalidProbeAddress if the address is malformed.
    """

    def __init__(
        self,
        address: str,
        routes: WebhookRoutes,
        tls: ssl.SSLContext,
        *,
        head_timeout: float = HEAD_TIMEOUT,
        body_timeout: float = BODY_TIMEOUT,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self._host, self._port = parse_address(address)
        self._routes = routes
        self._tls = tls
        self._head_timeout = head_timeout
        self._body_timeout = body_timeout
        self._max_connections = max_connections
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], bool] = {}
        """Whether each connection is idle."""
        self._buffered = 0
        self._stopping = False
        self._draining = False

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        assert self._server is not None, "not started"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def is_serving(self) -> bool:
        return self._server is not None and self._server.is_serving() and not self._stopping

    def drain(self) -> None:
        """Close each connection after its next response, so that clients go elsewhere."""
        self._draining = True

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._accept,
            self._host or None,
            self._port,
            limit=MAX_HEAD,
            ssl=self._tls,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT,
            ssl_shutdown_timeout=1.0,
        )

    async def stop(self, grace: float = 10.0) -> None:
        """Stop listening, and give open requests *grace* seconds to end."""
        self._stopping = True
        if self._server is not None:
            self._server.close()
        for task, idle in self._connections.items():
            if idle:
                task.cancel()
        if self._connections:
            await asyncio.wait([*self._connections], timeout=grace)
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait([*self._connections])

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self._stopping or len(self._connections) >= self._max_connections:
            writer.transport.abort()
            return
        self._connections[task] = True
        try:
            await self._serve(reader, writer, task)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            log.debug("connection ended: %r", error)
        except asyncio.CancelledError:
            # By `stop`, or with the event loop. Nobody awaits this task, and asyncio would log it.
            log.debug("connection cancelled")
        finally:
            del self._connections[task]
            writer.close()

    async def _serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        task: "asyncio.Task[None]",
    ) -> None:
        peer = str((writer.get_extra_info("peername") or ("",))[0])
        patience = self._head_timeout
        while not self._stopping:
            self._connections[task] = True
            async with asyncio.timeout(patience):
                first = await reader.read(1)
            if not first:
                return
            self._connections[task] = False
            exchange = _Exchange(self._body_timeout, self._reserve, reader, writer)
            try:
                async with asyncio.timeout(self._head_timeout):
                    head = parse_head(first + await reader.readuntil(b"\r\n\r\n"))
            except (APIError, asyncio.LimitOverrunError) as error:
                refused = (
                    error if isinstance(error, APIError) else BadRequest("the head is too long")
                )
                log.info("request of %s: %s", peer, refused)
                await exchange.send(refusal(refused), keep_alive=False)
                return
            try:
                answer = await exchange.answer(self._routes, head, peer)
                ending = self._stopping or self._draining
                keep_alive = head.keeps_alive and exchange.complete and not ending
                await exchange.send(answer, keep_alive=keep_alive)
            finally:
                exchange.release()
            if not keep_alive:
                await exchange.discard(head)
                return
            patience = IDLE_TIMEOUT

    def _reserve(self, size: int) -> None:
        """Account for the bytes of a body. Raises TooManyRequests."""
        if size > 0 and self._buffered + size > MAX_BUFFERED:
            raise TooManyRequests.of("too many large requests at a time")
        self._buffered += size


class _Exchange:
    """One request and its response on a connection."""

    def __init__(
        self,
        body_timeout: float,
        reserve: Callable[[int], None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.complete = False
        """Whether the whole body was read, so that another request may follow."""
        self._body_timeout = body_timeout
        self._reserve = reserve
        self._reserved = 0
        self._reader = reader
        self._writer = writer

    async def answer(self, routes: WebhookRoutes, head: CallHead, peer: str) -> WebhookAnswer:
        request = WebhookRequest(
            head.method, head.path, head.query, head.headers.get("content-type", ""), peer
        )
        self.complete = head.length == 0

        async def read(limit: int) -> bytes:
            size = limit if head.length is None else min(head.length, limit)
            self._reserve(size)
            self._reserved = size
            if head.expects_continue and not self.complete:
                self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            try:
                async with asyncio.timeout(self._body_timeout):
                    body = await read_body(self._reader, head, limit)
            except TimeoutError:
                seconds = f"{self._body_timeout:g}s"
                raise APIError(
                    f"the body was not received within {seconds}", reason="Timeout", code=408
                ) from None
            self.complete = True
            return body

        return await routes.answer(request, read)

    async def send(self, answer: WebhookAnswer, *, keep_alive: bool) -> None:
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(answer.body))),
            ("Connection", "keep-alive" if keep_alive else "close"),
            *answer.headers,
        ]
        lines = [f"HTTP/1.1 {answer.code} {_phrase(answer.code)}"]
        lines += [f"{name}: {value}" for name, value in headers]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body)
        async with asyncio.timeout(SEND_TIMEOUT):
            await self._writer.drain()

    async def discard(self, head: CallHead) -> None:
        """Read the rest of a refused body: closing the connection now could lose the response."""
        if self.complete or head.expects_continue:
            return
        remaining = MAX_DISCARDED if head.length is None else min(head.length, MAX_DISCARDED)
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                while remaining > 0 and (chunk := await self._reader.read(MAX_HEAD)):
                    remaining -= len(chunk)

    def release(self) -> None:
        """Return the memory of the body."""
        self._reserve(-self._reserved)
        self._reserved = 0


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Unknown"
