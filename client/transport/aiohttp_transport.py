"""AiohttpTransport: proxies, WebSockets and redirects with aiohttp, which only this module imports.

`network` imports it when one of them occurs. Every aiohttp error is translated into a
TransportError.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import aiohttp
from yarl import URL

from client.config import Config
from client.transport.http_pool import IDLE_SECONDS, probe_when_idle
from client.transport.proxy import is_socks
from client.transport.request import Pairs, Request
from client.transport.transport import (
    ConnectionLost,
    ConnectionRefused,
    Headers,
    RequestTimeout,
    Response,
    TransportError,
)

MAX_HEADER: Final = 128 * 1024
MAX_MESSAGE: Final = 48 * 1024 * 1024
"""Bytes of the largest WebSocket message, and so of the largest event, that is accepted."""


class AiohttpTransport:
    """Sends requests through the proxy of a configuration, if it has one, and over WebSockets."""

    def __init__(self, config: Config, proxy: str, *, redirects: bool) -> None:
        self._config = config
        self._proxy = proxy
        self._redirects = redirects
        self._open_session: aiohttp.ClientSession | None = None
        self._closing: set[asyncio.Task[Any]] = set()

    async def open(
        self, request: Request, headers: Pairs, context: ssl.SSLContext | None
    ) -> Response:
        url = URL(self._config.server + request.target, encoded=True)
        with _transport_errors(f"{request.method} {url.origin()}{request.path}"):
            if request.websocket:
                return await self._open_websocket(request, url, context)
            response = await self._session().request(
                request.method,
                url,
                data=request.body or None,
                headers=headers,
                allow_redirects=self._redirects,
                **self._connection(context),
            )
        return _AiohttpResponse(response)

    async def aclose(self) -> None:
        if self._closing:
            await asyncio.wait(self._closing)
        if self._open_session is not None:
            await self._open_session.close()
            self._open_session = None

    async def _open_websocket(
        self, request: Request, url: URL, context: ssl.SSLContext | None
    ) -> Response:
        try:
            socket = await self._session().ws_connect(
                url,
                headers=request.headers,
                max_msg_size=MAX_MESSAGE,
                **self._connection(context),
            )
        except aiohttp.WSServerHandshakeError as error:
            headers = Headers(error.headers.items() if error.headers else ())
            return _RejectedWebSocket(error.status, headers)
        return _WebSocketResponse(socket, self._closing)

    def _connection(self, context: ssl.SSLContext | None) -> dict[str, Any]:
        return {
            # Loading the system's CA certificates is slow, and plain HTTP does not need them.
            "ssl": context or True,
            "server_hostname": self._config.tls.server_name or None,
            "proxy": None if is_socks(self._proxy) else self._proxy or None,
        }

    def _connector(self) -> aiohttp.TCPConnector:
        if is_socks(self._proxy):
            # Imported late: it needs an optional dependency.
            from client.transport.socks import SocksConnector

            return SocksConnector(self._proxy, limit=0, keepalive_timeout=IDLE_SECONDS)
        return aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS, socket_factory=_socket)

    def _session(self) -> aiohttp.ClientSession:
        if self._open_session is None:
            self._open_session = aiohttp.ClientSession(
                connector=self._connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._config.connect_timeout
                ),
                max_line_size=MAX_HEADER,
                max_field_size=MAX_HEADER,
                skip_auto_headers=("User-Agent", "Content-Type"),
                raise_for_status=False,
            )
        return self._open_session


class _AiohttpResponse:
    """An HTTP response of aiohttp."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self._closed = False
        self.status = response.status
        self.headers = Headers(response.headers.items())

    async def read(self) -> bytes:
        with _transport_errors(str(self._response.url.path)):
            return await self._response.read()

    async def chunk(self) -> bytes:
        if self._closed:
            return b""
        try:
            with _transport_errors(str(self._response.url.path)):
                return await self._response.content.readany()
        except TransportError:
            if self._closed:
                return b""
            raise

    def close(self) -> None:
        self._closed = True
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            # A graceful TLS shutdown waits for the server, perhaps longer than the loop runs.
            connection.transport.abort()
        self._response.close()


class _WebSocketResponse:
    """A WebSocket read as a stream of lines, one message per line."""

    status = 101

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, closing: set[asyncio.Task[Any]]
    ) -> None:
        self.headers = Headers()
        self._socket = socket
        self._closing = closing
        self._closed = False

    async def read(self) -> bytes:
        chunks = []
        while chunk := await self.chunk():
            chunks.append(chunk)
        return b"".join(chunks)

    async def chunk(self) -> bytes:
        if self._closed:
            return b""
        message = await self._socket.receive()
        if message.type is aiohttp.WSMsgType.TEXT:
            return bytes(message.data, "utf-8") + b"\n"
        if message.type is aiohttp.WSMsgType.BINARY:
            return bytes(message.data) + b"\n"
        if message.type is aiohttp.WSMsgType.ERROR:
            raise ConnectionLost(f"WebSocket: {message.data}")
        return b""

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            task = asyncio.ensure_future(self._socket.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


class _RejectedWebSocket:
    """The empty response of a server that rejected a WebSocket."""

    def __init__(self, status: int, headers: Headers) -> None:
        self.status = status
        self.headers = headers

    async def read(self) -> bytes:
        return b""

    async def chunk(self) -> bytes:
        return b""

    def close(self) -> None:
        return None


def _socket(address: Any) -> socket.socket:
    sock = socket.socket(family=address[0], type=address[1], proto=address[2])
    probe_when_idle(sock)
    return sock


@contextmanager
def _transport_errors(operation: str) -> Iterator[None]:
    """Translate errors raised in the block into TransportErrors that name *operation*."""
    try:
        yield
    except TransportError:
        raise
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise _error_class(error)(f"{operation}: {str(error) or type(error).__name__}") from error


def _error_class(error: Exception) -> type[TransportError]:
    if isinstance(error.__cause__, TransportError):  # raised by SocksConnector
        return type(error.__cause__)
    cause = getattr(error, "os_error", None) or error
    if isinstance(cause, ConnectionRefusedError):
        return ConnectionRefused
    if isinstance(error, TimeoutError):
        return RequestTimeout
    if isinstance(error, aiohttp.ClientSSLError | aiohttp.ClientConnectorError):
        return TransportError
    if isinstance(
        error,
        aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | aiohttp.ClientOSError,
    ) or isinstance(cause, ConnectionError):
        return ConnectionLost
    return TransportError
