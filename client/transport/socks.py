"""SOCKS proxies, such as `ssh -D` provides for access to a cluster.

Only this module imports aiohttp-socks, an optional dependency
(`pip install 'apimachinery[socks]'`). As with kubectl, the proxy resolves the server's host name.
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
    """Opens connections through the proxy at a URL."""

    def __init__(self, proxy: str, **settings: Any) -> None:
        url = urlsplit(proxy)
        host, port = url.hostname or "", url.port or DEFAULT_PORT
        self._description = f"proxy {url.scheme}://{host}:{port}"
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
            raise RequestTimeout(f"{self._description}: {error}") from error
        except (ProxyConnectionError, ProxyError) as error:
            raise TransportError(f"{self._description}: {error}") from error
