"""NetworkTransport: sends requests to a server, over its own HTTP/1.1 connections or aiohttp.

Requests that go straight to the server, which is nearly all, use `http_pool`, which loads and costs
little. Proxies, WebSockets and redirects need aiohttp, which is imported when they occur.
"""

import asyncio
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from client.config import Config
from client.errors import ConfigError
from client.transport.http_connection import PooledConnection
from client.transport.http_pool import HTTPPool
from client.transport.proxy import is_socks, proxy_from_environment
from client.transport.request import Pairs, Request
from client.transport.tls import ClientCertificate, ssl_context
from client.transport.transport import Response

if TYPE_CHECKING:
    from client.transport.aiohttp_transport import AiohttpTransport

_REDIRECTS: Final = (301, 302, 303, 307, 308)


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
        if is_socks(self._proxy):
            _check_socks(self._proxy, config)
        # aiohttp sends the user of a URL as credentials, and encodes international host names.
        address = urlsplit(config.server).netloc
        self._direct = not self._proxy and "@" not in address and address.isascii()
        self._contexts: dict[ClientCertificate | None, ssl.SSLContext] = {}
        self._pools: dict[ClientCertificate | None, HTTPPool] = {}
        self._connections: set[PooledConnection] = set()
        self._aiohttp: AiohttpTransport | None = None

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
        headers = (*request.headers, ("Accept-Encoding", self._encoding(request)))
        if request.websocket or not self._direct:
            return await self._open_with_aiohttp(request, headers, certificate)
        response = await self._pool(certificate).send(request, headers)
        if response.status in _REDIRECTS and self._redirects and response.headers.get("location"):
            response.close()
            return await self._open_with_aiohttp(request, headers, certificate)
        return response

    async def aclose(self) -> None:
        for pool in self._pools.values():
            pool.retire()
        self._pools.clear()
        for connection in [*self._connections]:
            connection.abort()
        if self._aiohttp is not None:
            await self._aiohttp.aclose()
            self._aiohttp = None
        # asyncio releases aborted connections in later iterations of the event loop.
        for _ in range(3):
            await asyncio.sleep(0)

    async def _open_with_aiohttp(
        self, request: Request, headers: Pairs, certificate: ClientCertificate | None
    ) -> Response:
        if self._aiohttp is None:
            # Imported late: it takes longer to load than all the rest of the client.
            from client.transport.aiohttp_transport import AiohttpTransport

            self._aiohttp = AiohttpTransport(self._config, self._proxy, redirects=self._redirects)
        context = self._context(certificate) if self._secure else None
        return await self._aiohttp.open(request, headers, context)

    def _encoding(self, request: Request) -> str:
        # Compression would delay the events of a watch until a block is full.
        uncompressed = self._config.disable_compression or request.verb == "watch"
        return "identity" if uncompressed else "gzip"

    def _pool(self, certificate: ClientCertificate | None) -> HTTPPool:
        pool = self._pools.get(certificate)
        if pool is None:
            context = self._context(certificate) if self._secure else None
            pool = HTTPPool(
                self._config.server,
                context,
                server_name=self._config.tls.server_name,
                timeout=self._config.connect_timeout,
                connections=self._connections,
            )
            for old in self._pools.values():
                old.retire()
            self._pools = {certificate: pool}
        return pool

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


def _check_socks(proxy: str, config: Config) -> None:
    """Raise ConfigError if the server cannot be reached through a SOCKS proxy."""
    try:
        import client.transport.socks  # noqa: F401
    except ImportError:
        raise ConfigError(
            f"proxy-url {proxy!r}: a SOCKS proxy requires an optional dependency:"
            " pip install 'apimachinery[socks]'"
        ) from None
    if config.tls.server_name:
        raise ConfigError(
            f"proxy-url {proxy!r}: tls-server-name is not supported with a SOCKS proxy"
        )
