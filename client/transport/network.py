"""NetworkTransport: HTTP/1.1 and WebSockets over aiohttp, which only this module imports.

It supports keep-alive connections, TLS configured from memory, proxies and streamed responses.
Every aiohttp error is translated into a TransportError.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from yarl import URL

from client.config import Config
from client.errors import ConfigError
from client.transport.proxy import is_socks, proxy_from_environment
from client.transport.request import Request
from client.transport.tls import ClientCertificate, ssl_context
from client.transport.transport import (
    ConnectionLost,
    ConnectionRefused,
    Headers,
    RequestTimeout,
    Response,
    TransportError,
)

if TYPE_CHECKING:
    from client.transport.socks import SocksConnector

KEEPALIVE: Final = 30
"""Seconds without traffic after which TCP sends a keep-alive probe."""
MAX_HEADER: Final = 128 * 1024
MAX_MESSAGE: Final = 48 * 1024 * 1024
"""Bytes of the largest WebSocket message, and so of the largest event, that is accepted."""


class NetworkTransport:
    """Sends requests to the server of one configuration."""

    def __init__(
        self,
        config: Config,
        *,
        environ: Mapping[str, str] | None = None,
        redirects: bool = True,
    ) -> None:
        """Without *redirects* a response that names another location is returned as it is."""
        self._config = config
        self._redirects = redirects
        self._secure = config.server.startswith("https:")
        self._proxy = config.proxy_url
        if not self._proxy and config.trust_env:
            variables = os.environ if environ is None else environ
            self._proxy = proxy_from_environment(config.server, variables)
        self._socks = _socks_connector(self._proxy, config) if is_socks(self._proxy) else None
        self._contexts: dict[ClientCertificate | None, ssl.SSLContext] = {}
        self._open_session: aiohttp.ClientSession | None = None
        self._closing: set[asyncio.Task[Any]] = set()

    async def prepare(self, certificate: ClientCertificate | None = None) -> None:
        """Load the certificates in another thread, which `open` would do in this one.

        Raises ConfigError.
        """
        if self._secure and certificate not in self._contexts:
            context = await asyncio.to_thread(ssl_context, self._config.tls, certificate)
            self._keep(certificate, context)

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        url = URL(self._config.server + request.target, encoded=True)
        with _transport_errors(f"{request.method} {url.origin()}{request.path}"):
            if request.websocket:
                return await self._open_websocket(request, url, certificate)
            response = await self._session().request(
                request.method,
                url,
                data=request.body or None,
                headers=[*request.headers, ("Accept-Encoding", self._encoding(request))],
                allow_redirects=self._redirects,
                **self._connection(certificate),
            )
        return _HTTPResponse(response)

    async def aclose(self) -> None:
        if self._closing:
            await asyncio.wait(self._closing)
        if self._open_session is not None:
            await self._open_session.close()
            self._open_session = None
        # asyncio releases aborted connections in later iterations of the event loop.
        for _ in range(3):
            await asyncio.sleep(0)

    async def _open_websocket(
        self, request: Request, url: URL, certificate: ClientCertificate | None
    ) -> Response:
        try:
            socket = await self._session().ws_connect(
                url,
                headers=request.headers,
                max_msg_size=MAX_MESSAGE,
                **self._connection(certificate),
            )
        except aiohttp.WSServerHandshakeError as error:
            headers = Headers(error.headers.items() if error.headers else ())
            return _RejectedWebSocket(error.status, headers)
        return _WebSocketResponse(socket, self._closing)

    def _connection(self, certificate: ClientCertificate | None) -> dict[str, Any]:
        return {
            # Loading the system's CA certificates is slow, and plain HTTP does not need them.
            "ssl": self._context(certificate) if self._secure else True,
            "server_hostname": self._config.tls.server_name or None,
            "proxy": None if self._socks else self._proxy or None,
        }

    def _encoding(self, request: Request) -> str:
        # Compression would delay the events of a watch until a block is full.
        uncompressed = self._config.disable_compression or request.verb == "watch"
        return "identity" if uncompressed else "gzip"

    def _context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        context = self._contexts.get(certificate)
        if context is None:
            context = ssl_context(self._config.tls, certificate)
            self._keep(certificate, context)
        return context

    def _keep(self, certificate: ClientCertificate | None, context: ssl.SSLContext) -> None:
        # A certificate renewed by a credential plugin replaces the previous one.
        self._contexts.clear()
        self._contexts[certificate] = context

    def _connector(self) -> aiohttp.TCPConnector:
        if self._socks is not None:
            return self._socks(self._proxy, limit=0, keepalive_timeout=90)
        return aiohttp.TCPConnector(limit=0, keepalive_timeout=90, socket_factory=_socket)

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


class _HTTPResponse:
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


def _socks_connector(proxy: str, config: Config) -> "type[SocksConnector]":
    try:
        from client.transport.socks import SocksConnector
    except ImportError:
        raise ConfigError(
            f"proxy-url {proxy!r}: a SOCKS proxy requires an optional dependency:"
            " pip install 'apimachinery[socks]'"
        ) from None
    if config.tls.server_name:
        raise ConfigError(
            f"proxy-url {proxy!r}: tls-server-name is not supported with a SOCKS proxy"
        )
    return SocksConnector


def _socket(address: Any) -> socket.socket:
    sock = socket.socket(family=address[0], type=address[1], proto=address[2])
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), KEEPALIVE)
    return sock


@contextmanager
def _transport_errors(operation: str) -> Iterator[None]:
    """Translate errors raised in the block into TransportErrors that name *operation*."""
    try:
        yield
    except TransportError:
        raise
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise _error_class(error)(f"{operation}: {error or type(error).__name__}") from error


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
