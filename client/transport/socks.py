"""Connections through a SOCKS proxy, as people have who reach their cluster by `ssh -D`.

The only file that knows aiohttp-socks, which is installed only if it is asked for
(`pip install 'apimachinery[socks]'`). The proxy looks up the names of servers, as with kubectl.
"""

from typing import Any, Final
from urllib.parse import unquote, urlsplit

from aiohttp_socks import (
    ProxyConnectionError,
    ProxyConnector,
    ProxyError,
    ProxyTimeoutError,
    ProxyType,
)

from client.transport.transport import RequestTimeout, TransportError

DEFAULT_PORT: Final = 1080


class SocksConnector(ProxyConnector):
    """Makes connections by way of the proxy at a URL."""

    def __init__(self, proxy: str, **settings: Any) -> None:
        url = urlsplit(proxy)
        host, port = url.hostname or "", url.port or DEFAULT_PORT
        self._said = f"proxy {url.scheme}://{host}:{port}"
        super().__init__(
            host,
            port,
            ProxyType.SOCKS5,
            username=unquote(url.username) if url.username else None,
            password=unquote(url.password) if url.password else None,
            rdns=True,
            **settings,
        )

    async def connect(self, *arguments: Any, **keywords: Any) -> Any:
        try:
            return await super().connect(*arguments, **keywords)
        except ProxyTimeoutError as error:
            raise RequestTimeout(f"{self._said}: {error}") from error
        except (ProxyConnectionError, ProxyError) as error:
            raise TransportError(f"{self._said}: {error}") from error
