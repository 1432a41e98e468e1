"""Address: where a server listens, as `host:port` or `[IPv6]:port`."""

import ipaddress
from dataclasses import dataclass, replace
from typing import Self


class InvalidAddress(ValueError):
    """The text is not `host:port`; the message states the rule."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host name or IP address, and a port; port 0 selects a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        ip = self._ip()
        return ip.is_loopback if ip else self.host == "localhost"

    @property
    def reachable(self) -> Self:
        """The address at which a client on this machine reaches the server."""
        ip = self._ip()
        if ip is None or not ip.is_unspecified:
            return self
        return replace(self, host="127.0.0.1" if ip.version == 4 else "::1")

    def _ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def parse_address(text: str) -> Address:
    """Parse `host:port` or `[IPv6]:port`. Raises InvalidAddress."""
    host, separator, port = text.rpartition(":")
    if not separator or not host:
        raise InvalidAddress("must be HOST:PORT; 0.0.0.0:PORT listens on every address")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536):
        raise InvalidAddress("must be HOST:PORT with a port from 0 to 65535")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed != (":" in host):
        raise InvalidAddress("must be HOST:PORT; an IPv6 address must be in brackets, [::1]:6443")
    host = host[1:-1] if bracketed else host
    if bracketed and not _is_ipv6(host):
        raise InvalidAddress("must be HOST:PORT; only an IPv6 address may be in brackets")
    if not host or host != host.strip() or "/" in host:
        raise InvalidAddress("must be HOST:PORT, without a scheme or a path")
    return Address(host, int(port))


def _is_ipv6(host: str) -> bool:
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return True
