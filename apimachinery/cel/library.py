"""CEL library: the functions that Kubernetes adds to CEL, for lists, sets, URLs, IPs and so on.

Values that CEL has no type for (URLs, IP addresses, quantities) are represented by their canonical
strings, so that equal values compare as equal. A function raises on an invalid argument, and
evaluating the rule then fails.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from cel_expr_python import cel

from apimachinery import names
from apimachinery.scalars.quantity import InvalidQuantity, Quantity, parse_quantity
from apimachinery.structural.formats import format_check
from apimachinery.structural.patterns import find_all

_T: Final = cel.Type
_LIST: Final = _T.List(_T.DYN)
_STRINGS: Final = _T.List(_T.STRING)

Signature = tuple[bool, Any, list[Any], Callable[..., Any]]
"""Whether it is a member function, its result type, its parameter types, its implementation."""


def extension() -> Any:
    """Return the CEL extension with all functions."""
    functions = []
    for name, signatures in _by_name().items():
        overloads = [
            cel.Overload(f"{name}_{position}".replace(".", "_"), result, parameters, member, call)
            for position, (member, result, parameters, call) in enumerate(signatures)
        ]
        functions.append(cel.FunctionDecl(name, overloads))
    return cel.CelExtension("kubernetes", functions)


def _by_name() -> dict[str, list[Signature]]:
    signatures: dict[str, list[Signature]] = {}
    for library in (_lists, _sets, _strings, _formats, _urls, _addresses, _networks, _quantities):
        for name, signature in library():
            signatures.setdefault(name, []).append(signature)
    return signatures


def _lists() -> Iterator[tuple[str, Signature]]:
    yield "isSorted", (True, _T.BOOL, [_LIST], lambda items: items == sorted(items))
    yield "sum", (True, _T.DYN, [_LIST], sum)
    yield "min", (True, _T.DYN, [_LIST], min)
    yield "max", (True, _T.DYN, [_LIST], max)
    yield "indexOf", (True, _T.INT, [_LIST, _T.DYN], _index_of)
    yield "lastIndexOf", (True, _T.INT, [_LIST, _T.DYN], _last_index_of)


def _index_of(items: list[Any], item: Any) -> int:
    return items.index(item) if item in items else -1


def _last_index_of(items: list[Any], item: Any) -> int:
    return len(items) - 1 - items[::-1].index(item) if item in items else -1


def _sets() -> Iterator[tuple[str, Signature]]:
    def contains(items: list[Any], subset: list[Any]) -> bool:
        return all(item in items for item in subset)

    def intersects(items: list[Any], candidates: list[Any]) -> bool:
        return any(item in items for item in candidates)

    two_lists = [_LIST, _LIST]
    yield "sets.contains", (False, _T.BOOL, two_lists, contains)
    yield (
        "sets.equivalent",
        (
            False,
            _T.BOOL,
            two_lists,
            lambda left, right: contains(left, right) and contains(right, left),
        ),
    )
    yield "sets.intersects", (False, _T.BOOL, two_lists, intersects)


def _strings() -> Iterator[tuple[str, Signature]]:
    def find(text: str, pattern: str) -> str:
        return next(iter(find_all(pattern, text)), "")

    def find_some(text: str, pattern: str, limit: int) -> list[str]:
        return find_all(pattern, text)[: limit if limit >= 0 else None]

    two_strings = [_T.STRING, _T.STRING]
    yield "find", (True, _T.STRING, two_strings, find)
    yield "findAll", (True, _STRINGS, two_strings, lambda text, pattern: find_all(pattern, text))
    yield "findAll", (True, _STRINGS, [*two_strings, _T.INT], find_some)


_NAME_FORMATS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "dns1035Label": names.is_dns1035_label,
    "dns1035LabelPrefix": lambda text: names.is_dns1035_label(names.mask_trailing_dash(text)),
    "dns1123Label": names.is_dns1123_label,
    "dns1123LabelPrefix": lambda text: names.is_dns1123_label(names.mask_trailing_dash(text)),
    "dns1123Subdomain": names.is_dns1123_subdomain,
    "dns1123SubdomainPrefix": lambda text: names.is_dns1123_subdomain(
        names.mask_trailing_dash(text)
    ),
    "labelValue": names.is_label_value,
    "qualifiedName": names.is_qualified_name,
}
_STRING_FORMATS: Final = ("byte", "date", "datetime", "uri", "uuid")


def _formats() -> Iterator[tuple[str, Signature]]:
    for name in (*_NAME_FORMATS, *_STRING_FORMATS):
        yield f"format.{name}", (False, _T.STRING, [], lambda name=name: name)
    yield "validate", (True, _STRINGS, [_T.STRING, _T.STRING], _format_problems)
    # In Kubernetes, validate returns an optional list of errors; here the list may be empty.
    yield "hasValue", (True, _T.BOOL, [_STRINGS], bool)
    yield "value", (True, _STRINGS, [_STRINGS], list)


def _format_problems(name: str, text: str) -> list[str]:
    if name in _NAME_FORMATS:
        return _NAME_FORMATS[name](text)
    check = format_check(name)
    if check is None:
        raise ValueError(f"unknown format: {name}")
    return [] if check(text) else [f"must be of format {name}"]


_URL: Final = re.compile(r"(?:([a-zA-Z][\w+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?")


def _urls() -> Iterator[tuple[str, Signature]]:
    string = [_T.STRING]
    yield "url", (False, _T.STRING, string, lambda text: _parts(text) and text)
    yield "isURL", (False, _T.BOOL, string, lambda text: _is_valid(_parts, text))
    for position, name in enumerate(("getScheme", "getHost", "getEscapedPath")):
        yield name, (True, _T.STRING, string, lambda text, at=position: _parts(text)[at])
    yield "getHostname", (True, _T.STRING, string, lambda text: _host(text)[0])
    yield "getPort", (True, _T.STRING, string, lambda text: _host(text)[1])
    yield "getQuery", (True, _T.Map(_T.STRING, _STRINGS), string, _query)


def _parts(text: str) -> tuple[str, str, str, str]:
    """Split a URL into scheme, host, path and query."""
    match = _URL.fullmatch(text)
    if match is None or not (match[1] or text.startswith("/")) or re.search(r"\s", text):
        raise ValueError(f"URL parse error during conversion from string: {text!r}")
    return match[1] or "", (match[2] or "").rpartition("@")[2], match[3] or "", match[4] or ""


def _host(text: str) -> tuple[str, str]:
    host = _parts(text)[1]
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, ""
    return name.strip("[]"), port


def _query(text: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in filter(None, _parts(text)[3].split("&")):
        key, _, value = pair.partition("=")
        values.setdefault(key, []).append(value)
    return values


def _addresses() -> Iterator[tuple[str, Signature]]:
    string = [_T.STRING]
    yield "ip", (False, _T.STRING, string, lambda text: str(_address(text)))
    yield "isIP", (False, _T.BOOL, string, lambda text: _is_valid(_address, text))
    yield "ip.isCanonical", (False, _T.BOOL, string, lambda text: str(_address(text)) == text)
    yield "family", (True, _T.INT, string, lambda text: _address(text).version)
    for name, attribute in (
        ("isUnspecified", "is_unspecified"),
        ("isLoopback", "is_loopback"),
        ("isLinkLocalUnicast", "is_link_local"),
        ("isGlobalUnicast", "is_global"),
    ):
        yield name, (True, _T.BOOL, string, lambda text, a=attribute: getattr(_address(text), a))
    yield "isLinkLocalMulticast", (True, _T.BOOL, string, _is_link_local_multicast)


_LINK_LOCAL_MULTICAST: Final = (
    ipaddress.ip_network("224.0.0.0/24"),
    ipaddress.ip_network("ff02::/16"),
)


def _is_link_local_multicast(text: str) -> bool:
    return any(_address(text) in network for network in _LINK_LOCAL_MULTICAST)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(text)


def _networks() -> Iterator[tuple[str, Signature]]:
    string, two_strings = [_T.STRING], [_T.STRING, _T.STRING]
    yield "cidr", (False, _T.STRING, string, lambda text: _network(text) and text)
    yield "isCIDR", (False, _T.BOOL, string, lambda text: _is_valid(_network, text))
    yield (
        "containsIP",
        (True, _T.BOOL, two_strings, lambda net, address: _address(address) in _network(net)),
    )
    yield "containsCIDR", (True, _T.BOOL, two_strings, _contains_network)
    yield "prefixLength", (True, _T.INT, string, lambda text: _network(text).prefixlen)
    yield "masked", (True, _T.STRING, string, lambda text: str(_network(text)))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    if "/" not in text:
        raise ValueError(f"network address parse error during conversion from string: {text!r}")
    return ipaddress.ip_network(text, strict=False)


def _contains_network(outer: str, inner: str) -> bool:
    larger, smaller = _network(outer), _network(inner)
    return larger.version == smaller.version and (
        larger.prefixlen <= smaller.prefixlen and smaller.network_address in larger
    )


def _quantities() -> Iterator[tuple[str, Signature]]:
    string, two_strings, with_integer = [_T.STRING], [_T.STRING, _T.STRING], [_T.STRING, _T.INT]
    parse = parse_quantity
    yield "quantity", (False, _T.STRING, string, lambda text: str(parse(text)))
    yield "isQuantity", (False, _T.BOOL, string, lambda text: _is_valid(parse, text))
    yield "sign", (True, _T.INT, string, lambda text: parse(text).sign)
    yield "isInteger", (True, _T.BOOL, string, lambda text: _is_integer(parse(text)))
    yield "asInteger", (True, _T.INT, string, _as_integer)
    yield "asApproximateFloat", (True, _T.DOUBLE, string, _as_float)
    yield "isLessThan", (True, _T.BOOL, two_strings, lambda a, b: parse(a) < parse(b))
    yield "isGreaterThan", (True, _T.BOOL, two_strings, lambda a, b: parse(a) > parse(b))
    yield "compareTo", (True, _T.INT, two_strings, lambda a, b: _compare(parse(a), parse(b)))
    for name, call in (("add", Quantity.__add__), ("sub", Quantity.__sub__)):
        yield (
            name,
            (True, _T.STRING, two_strings, lambda a, b, call=call: str(call(parse(a), parse(b)))),
        )
        yield (
            name,
            (True, _T.STRING, with_integer, lambda a, b, c=call: str(c(parse(a), Quantity(b)))),
        )


def _is_integer(quantity: Quantity) -> bool:
    """Return whether a quantity is an integer of 64 bits."""
    number = quantity.as_decimal()
    return number == number.to_integral_value() and -(2**63) <= number < 2**63


def _as_integer(text: str) -> int:
    quantity = parse_quantity(text)
    if not _is_integer(quantity):
        raise ValueError(f"cannot convert value {text!r} to integer")
    return int(quantity.as_decimal())


def _as_float(text: str) -> float:
    return float(parse_quantity(text).as_decimal())


def _compare(left: Quantity, right: Quantity) -> int:
    return (left > right) - (left < right)


def _is_valid(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except (ValueError, InvalidQuantity):
        return False
    return True
