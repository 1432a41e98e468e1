"""Networks: URLs, IP addresses and networks in CIDR notation."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, TypeAlias

from apimachinery.cel.interpreter.overloads import Overload, overload, reading, traversal
from apimachinery.cel.interpreter.values import OVERLOAD, CELError, Opaque
from apimachinery.fieldpath import quote
from apimachinery.urls import MalformedURL, ParsedURL, parse_url

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_LINK_LOCAL_MULTICAST: Final = (
    ipaddress.ip_network("224.0.0.0/24"),
    *(ipaddress.ip_network(f"ff{flags:x}2::/16") for flags in range(16)),
)
_BROADCAST: Final = ipaddress.ip_address("255.255.255.255")
_PREFIX_LENGTH: Final = re.compile(r"0|[1-9][0-9]{0,2}")
_LONGEST: Final = 64
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")


class URL(Opaque):
    type_name: ClassVar = "kubernetes.URL"

    def __init__(self, text: str) -> None:
        try:
            if not text:
                raise MalformedURL('parse "": empty url')
            parts = parse_url(text)
            if not parts.scheme and not text.startswith("/"):
                raise MalformedURL(f"parse {quote(text)}: invalid URI for request")
        except MalformedURL as error:
            raise CELError(f"URL parse error during conversion from string: {error}") from None
        self.text = text
        self.parts: ParsedURL = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class IP(Opaque):
    type_name: ClassVar = "net.IP"

    def __init__(self, address: Address) -> None:
        self.address = address

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IP) and other.address == self.address

    def __hash__(self) -> int:
        return hash(self.address)


class CIDR(Opaque):
    type_name: ClassVar = "net.CIDR"

    def __init__(self, address: Address, length: int) -> None:
        self.address = address
        self.length = length

    @property
    def network(self) -> Network:
        return ipaddress.ip_network((self.address, self.length), strict=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CIDR) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"


def overloads() -> Iterator[Overload]:
    """Yield the functions of URLs, addresses and networks."""
    yield from _urls()
    yield from _addresses()
    yield from _networks()


def _urls() -> Iterator[Overload]:
    kind = URL.type_name
    yield overload("url", "string", URL, reading())
    yield overload("isURL", "string", lambda text: _is_valid(URL, text))
    yield overload("getScheme", kind, lambda url: url.parts.scheme)
    yield overload("getHost", kind, lambda url: url.parts.host)
    yield overload("getHostname", kind, lambda url: _host(url)[0])
    yield overload("getPort", kind, lambda url: _host(url)[1])
    yield overload("getEscapedPath", kind, lambda url: url.parts.path)
    yield overload("getQuery", kind, _query, lambda url: 1 + traversal(len(url.text)))


def _host(url: URL) -> tuple[str, str]:
    host = url.parts.host
    name, colon, port = host.rpartition(":")
    if not colon or "]" in port:
        name, port = host, ""
    return name.removeprefix("[").removesuffix("]"), port


def _query(url: URL) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in filter(None, url.parts.query.split("&")):
        key, _, value = pair.partition("=")
        if ";" not in pair:
            values.setdefault(_unescaped(key), []).append(_unescaped(value))
    return values


def _unescaped(text: str) -> str:
    """Return a part of a query without its escapes."""
    data = text.replace("+", " ").encode()
    return _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), data).decode(errors="replace")


def _is_valid(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except CELError:
        return False
    return True


def _addresses() -> Iterator[Overload]:
    kind = IP.type_name
    yield overload("ip", "string", parse_ip, reading())
    yield overload("isIP", "string", lambda text: _is_valid(parse_ip, text), reading())
    yield overload(
        "ip.isCanonical", "string", lambda text: str(parse_ip(text).address) == text, reading(2)
    )
    yield overload("string", kind, lambda ip: str(ip.address))
    yield overload("family", kind, lambda ip: ip.address.version)
    for name, answer in _KINDS.items():
        yield overload(name, kind, lambda ip, answer=answer: answer(ip.address))


def parse_ip(text: str) -> IP:
    """Return an address; raise CELError if a text is not one."""
    try:
        address = ipaddress.ip_address(text) if len(text) <= _LONGEST else None
    except ValueError:
        address = None
    if address is None:
        raise CELError(
            f"IP Address {quote(text)} parse error during conversion from string:"
            f" {_parse_error(text)}"
        )
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise CELError(f"IP address {quote(text)} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise CELError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return IP(address)


def _parse_error(text: str) -> str:
    """Return why a text is not an address, in Go's words."""
    reason = "unable to parse IP"
    fields = text.split(".")
    if len(fields) > 1 and ":" not in text:
        reason = _decimal_problem(fields)
    return f"ParseAddr({quote(text)}): {reason}"


def _decimal_problem(fields: list[str]) -> str:
    for field in fields[:4]:
        if not field.isascii() or not field.isdigit():
            return "unexpected character" if field else "IPv4 field must have at least one digit"
        if len(field) > 1 and field[0] == "0":
            return "IPv4 field has octet with leading zero"
        if len(field) > 3 or int(field) > 255:
            return "IPv4 field has value >255"
    return "IPv4 address too short" if len(fields) < 4 else "IPv4 address too long"


def _is_global_unicast(address: Address) -> bool:
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or _is_link_local(address)
        or address == _BROADCAST
    )


def _is_link_local(address: Address) -> bool:
    return address.is_link_local


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "isUnspecified": lambda address: address.is_unspecified,
    "isLoopback": lambda address: address.is_loopback,
    "isLinkLocalMulticast": lambda address: any(
        address.version == network.version and address in network
        for network in _LINK_LOCAL_MULTICAST
    ),
    "isLinkLocalUnicast": _is_link_local,
    "isGlobalUnicast": _is_global_unicast,
}


def _networks() -> Iterator[Overload]:
    kind = CIDR.type_name
    yield overload("cidr", "string", parse_cidr, reading())
    yield overload("isCIDR", "string", lambda text: _is_valid(parse_cidr, text), reading())
    yield overload("string", kind, str)
    yield overload("ip", kind, lambda cidr: IP(cidr.address))
    yield overload("prefixLength", kind, lambda cidr: cidr.length)
    yield overload("masked", kind, _masked)
    yield overload("containsIP", f"{kind} {IP.type_name}", _contains_ip, _containing(0))
    yield overload(
        "containsIP",
        f"{kind} string",
        lambda cidr, text: _contains_ip(cidr, _argument(parse_ip, text)),
        _containing(0),
    )
    yield overload("containsCIDR", f"{kind} {kind}", _contains_cidr, _containing(2))
    yield overload(
        "containsCIDR",
        f"{kind} string",
        lambda cidr, text: _contains_cidr(cidr, _argument(parse_cidr, text)),
        _containing(2),
    )


def _argument(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except CELError:
        raise CELError(OVERLOAD) from None


def _containing(base: int) -> Callable[[CIDR, Any], int]:
    def cost(cidr: CIDR, other: Any) -> int:
        bytes_compared = 2 * cidr.address.max_prefixlen // 8
        parsed = traversal(len(other)) if isinstance(other, str) else 0
        return traversal(bytes_compared) + base + parsed

    return cost


def parse_cidr(text: str) -> CIDR:
    """Return a network, which may have bits beyond its prefix; raise CELError if it is not one."""
    address, slash, length = text.rpartition("/")
    problem = ""
    if not slash:
        problem = f"netip.ParsePrefix({quote(text)}): no '/'"
    else:
        try:
            parsed = parse_ip(address).address
        except CELError as error:
            if "IPv4-mapped" in str(error):
                problem = f"IPv4-mapped IPv6 address {quote(text)} is not allowed"
            else:
                problem = f"netip.ParsePrefix({quote(text)}): {_parse_error(address)}"
        else:
            if not _PREFIX_LENGTH.fullmatch(length):
                problem = f"netip.ParsePrefix({quote(text)}): bad bits after slash: {quote(length)}"
            elif int(length) > parsed.max_prefixlen:
                problem = f"netip.ParsePrefix({quote(text)}): prefix length out of range"
            else:
                return CIDR(parsed, int(length))
    again = "" if problem.startswith("IPv4-mapped") else f"{_CIDR_ERROR}: "
    raise CELError(f"{_CIDR_ERROR}: {again}{problem}")


_CIDR_ERROR: Final = "network address parse error during conversion from string"


def _masked(cidr: CIDR) -> CIDR:
    return CIDR(cidr.network.network_address, cidr.length)


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return ip.address.version == cidr.address.version and ip.address in cidr.network


def _contains_cidr(outer: CIDR, inner: CIDR) -> bool:
    return (
        outer.address.version == inner.address.version
        and outer.length <= inner.length
        and inner.network.network_address in outer.network
    )
