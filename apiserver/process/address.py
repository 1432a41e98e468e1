"""Address: where a server listens, as `host:port` or `[host]:port`."""

import ipaddress
from dataclasses import dataclass, replace
from typing import Self


class InvalidAddress(ValueError):
    """The text is not `host:port`; the message is the rule."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host, by name or number, and a port; port 0 means any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        number = self._number()
        return number.is_loopback if number else self.host == "localhost"

    @property
    def reachable(self) -> Self:
        """The same address as a client on this machine would call it."""
        number = self._number()
        if number is None or not number.is_unspecified:
            return self
        return replace(self, host="127.0.0.1" if number.version == 4 else "::1")

    def _number(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def parse_address(text: str) -> Address:
    """Read `host:port` or `[IPv6]:port`, or raise InvalidAddress."""
    host, separator, port = text.rpartition(":")
    if not separator or not host:
        raise InvalidAddress("must be HOST:PORT; 0.0.0.0:PORT listens on every address")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536):
        raise InvalidAddress("must be HOST:PORT with a port from 0 to 65535")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed != (":" in host):
        raise InvalidAddress("must be HOST:PORT; an IPv6 address stands in brackets, [::1]:6443")
    host = host[1:-1] if bracketed else host
    if bracketed and not _is_ipv6(host):
        raise InvalidAddress("must be HOST:PORT; what stands in brackets must be an IPv6 address")
    if not host or host != host.strip() or "/" in host:
        raise InvalidAddress("must be HOST:PORT, without a scheme or a path")
    return Address(host, int(port))


def _is_ipv6(host: str) -> bool:
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return True
