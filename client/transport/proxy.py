"""Proxies: validate a proxy URL, and select a proxy from the environment variables.

`HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are interpreted as Go does it, because the same
environment also configures kubectl: loopback addresses are never proxied, `.example.com` matches
only subdomains, and an address in `NO_PROXY` may be a network in CIDR notation.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from client.errors import ConfigError

SOCKS = ("socks5", "socks5h")
SCHEMES = ("http", "https", *SOCKS)


def proxy_from_environment(server: str, environ: Mapping[str, str]) -> str:
    """Return the URL of the proxy for *server*, or an empty string for a direct connection."""
    url = urlsplit(server)
    name = f"{url.scheme}_proxy"
    proxy = environ.get(name.upper()) or environ.get(name) or ""
    # In a CGI script the client sets HTTP_PROXY, by a Proxy header in its request.
    if not proxy or (url.scheme == "http" and environ.get("REQUEST_METHOD")):
        return ""
    if _bypasses_proxy(url, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return ""
    return validate_proxy(proxy if "://" in proxy else f"http://{proxy}")


def validate_proxy(proxy: str) -> str:
    """Return *proxy* unchanged; raises ConfigError if it is not the URL of a supported proxy."""
    try:
        url = urlsplit(proxy)
        host, _ = url.hostname, url.port
    except ValueError as error:
        raise ConfigError(f"invalid proxy-url {proxy!r}: {error}") from None
    if url.scheme not in SCHEMES or not host:
        raise ConfigError(
            f"invalid proxy-url {proxy!r}: must be a URL with http, https, socks5 or socks5h"
        )
    return proxy


def is_socks(proxy: str) -> bool:
    """Return whether *proxy* is a SOCKS proxy, not an HTTP one."""
    return urlsplit(proxy).scheme in SOCKS


def _bypasses_proxy(url: SplitResult, rules: str) -> bool:
    host = (url.hostname or "").rstrip(".").lower()
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    port = url.port or (443 if url.scheme == "https" else 80)
    return any(_matches(rule.strip().lower(), host, address, port) for rule in rules.split(","))


def _matches(rule: str, host: str, address: IPv4Address | IPv6Address | None, port: int) -> bool:
    if not rule:
        return False
    if rule == "*":
        return True
    if "/" in rule:
        return _in_network(rule, address)
    name, rule_port = _split_port(rule)
    if rule_port is not None and rule_port != port:
        return False
    if address is not None:
        return _address(name) == address
    name = name.removeprefix("*")
    if name.startswith("."):
        return host.endswith(name)
    return host == name or host.endswith(f".{name}")


def _in_network(rule: str, address: IPv4Address | IPv6Address | None) -> bool:
    try:
        return address is not None and address in ip_network(rule, strict=False)
    except ValueError:
        return False


def _split_port(rule: str) -> tuple[str, int | None]:
    name, colon, port = rule.rpartition(":")
    if colon and port.isdecimal() and (":" not in name or name.endswith("]")):
        return name.strip("[]"), int(port)
    return rule.strip("[]"), None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
