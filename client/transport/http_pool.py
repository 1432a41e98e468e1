"""HTTPPool: the connections to one server, kept alive between requests.

There is no limit to their number: the rate limiter of the client, and the server, have theirs.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from client.transport.http_connection import HTTPResponse, PooledConnection
from client.transport.request import Pairs, Request
from client.transport.transport import (
    ConnectionLost,
    ConnectionRefused,
    RequestTimeout,
    TransportError,
)

IDLE_SECONDS: Final = 90.0
"""Seconds after which a connection without requests is closed."""
KEEPALIVE: Final = 30
"""Seconds without traffic after which TCP sends a keep-alive probe."""
_HAPPY_EYEBALLS: Final = 0.25
"""Seconds before the next address of a host is tried beside the first."""
_WITHOUT_BODY: Final = ("GET", "HEAD", "OPTIONS", "TRACE")


class HTTPPool:
    """Connections to the host of one URL, with one TLS context."""

    def __init__(
        self,
        server: str,
        context: ssl.SSLContext | None,
        *,
        server_name: str,
        timeout: float,
        connections: set[PooledConnection],
    ) -> None:
        """Open connections, each within *timeout* seconds, and keep them in *connections*."""
        self._connections = connections
        url = urlsplit(server)
        self._host = (url.hostname or "").rstrip(".")
        self._port = url.port or (80 if context is None else 443)
        self._host_header = _host_header(self._host, url.port, context is not None)
        self._prefix = url.path
        self._origin = f"{url.scheme}://{url.netloc}"
        self._context = context
        self._server_name = server_name
        self._timeout = timeout
        self._idle: list[PooledConnection] = []
        self._sweep: asyncio.TimerHandle | None = None
        self._retired = False

    async def send(self, request: Request, headers: Pairs) -> HTTPResponse:
        """Send *request* and return its response, of which the head has arrived.

        Raises TransportError.
        """
        operation = f"{request.method} {self._origin}{request.path}"
        message = self._message(request, headers)
        while True:
            connection = self._take_idle()
            was_idle = connection is not None
            if connection is None:
                connection = await self._connect(operation)
            response = connection.send(request.method, message)
            try:
                await response.start()
            except ConnectionLost as error:
                # The server may have closed the idle connection while the request was under way.
                if was_idle and request.method in _WITHOUT_BODY:
                    continue
                raise ConnectionLost(f"{operation}: {error}") from error
            except TransportError as error:
                raise TransportError(f"{operation}: {error}") from error
            except BaseException:
                connection.abort()
                raise
            return response

    def retire(self) -> None:
        """Close the idle connections, and the others when their response is complete."""
        self._retired = True
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in self._idle:
            connection.abort()
        self._idle.clear()

    def _message(self, request: Request, headers: Pairs) -> bytes:
        lines = [f"{request.method} {self._prefix}{request.target} HTTP/1.1"]
        if all(name.lower() != "host" for name, _ in headers):
            lines.append(f"Host: {self._host_header}")
        lines += [f"{name}: {value}" for name, value in headers]
        if request.body or request.method not in _WITHOUT_BODY:
            lines.append(f"Content-Length: {len(request.body)}")
        text = "\r\n".join(lines)
        if text.count("\n") != len(lines) - 1 or text.count("\r") != len(lines) - 1:
            raise TransportError(f"{request.method} {request.path}: a header has a line break")
        return text.encode("utf-8", "surrogateescape") + b"\r\n\r\n" + request.body

    def _take_idle(self) -> PooledConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self, operation: str) -> PooledConnection:
        secure = self._context is not None
        loop = asyncio.get_running_loop()
        connect: Callable[..., Awaitable[tuple[Any, PooledConnection]]] = loop.create_connection
        if isinstance(loop, asyncio.BaseEventLoop) and not _is_address(self._host):
            # The loop of the server, uvloop, tries one address after the other. And a race between
            # addresses that is cancelled may leave a socket open.
            connect = partial(connect, happy_eyeballs_delay=_HAPPY_EYEBALLS)
        try:
            async with asyncio.timeout(self._timeout):
                _, connection = await connect(
                    lambda: PooledConnection(self._release, self._connections),
                    self._host,
                    self._port,
                    ssl=self._context,
                    server_hostname=(self._server_name or self._host) if secure else None,
                )
        except (OSError, ValueError) as error:
            text = f"{operation}: {str(error) or 'no connection in time'}"
            raise _connect_error(error)(text) from error
        probe_when_idle(connection.transport.get_extra_info("socket"))
        return connection

    def _release(self, connection: PooledConnection) -> None:
        if self._retired:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.append(connection)
        if self._sweep is None:
            self._sweep = loop.call_later(IDLE_SECONDS, self._close_old)

    def _close_old(self) -> None:
        """Close the connections that have been idle for too long; the oldest are first."""
        loop = asyncio.get_running_loop()
        oldest = loop.time() - IDLE_SECONDS
        kept = []
        for connection in self._idle:
            if connection.usable and connection.idle_since > oldest:
                kept.append(connection)
            else:
                connection.abort()
        self._idle = kept
        delay = kept[0].idle_since - oldest if kept else 0.0
        self._sweep = loop.call_later(delay, self._close_old) if kept else None


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdecimal()


def _host_header(host: str, port: int | None, secure: bool) -> str:
    address = f"[{host}]" if ":" in host else host
    return address if port in (None, 443 if secure else 80) else f"{address}:{port}"


def probe_when_idle(sock: socket.socket) -> None:
    """Let TCP find out that the other end has gone, which a watch would wait for in vain."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), KEEPALIVE)


def _connect_error(error: Exception) -> type[TransportError]:
    # asyncio joins the errors of several addresses in the text of one.
    refused = f"[Errno {errno.ECONNREFUSED}]" in str(error)
    if isinstance(error, ConnectionRefusedError) or refused:
        return ConnectionRefused
    if isinstance(error, TimeoutError):
        return RequestTimeout
    if isinstance(error, ConnectionError) and not isinstance(error, ssl.SSLError):
        return ConnectionLost
    return TransportError
