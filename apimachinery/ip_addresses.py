"""IP addresses and networks: parsing, the strict rules of Kubernetes' API, and canonical forms.

Fields of older kinds accept every spelling that is not ambiguous (`is_strict_ip`,
`is_strict_cidr`); newer ones accept one spelling only (`is_canonical_ip`, `is_canonical_cidr`).
Like the checks in `apimachinery.names`, these functions return messages in Kubernetes' words.
`parse_ip` and `parse_cidr` also read what older servers accepted, such as leading zeros.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from apimachinery.fieldpath import Path, quote

AnyAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
AnyNetwork: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

NOT_AN_IP: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NOT_A_CIDR: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"

# Longer values are no addresses, even with leading zeros; parsing them would only cost time.
_LONGEST_PARSED: Final = 8192
_DECIMAL: Final = re.compile(r"[0-9]+")


class ParsedCIDR(NamedTuple):
    """A network in CIDR notation as it was written: the address may have bits beyond the prefix."""

    address: AnyAddress
    length: int

    @property
    def network(self) -> AnyNetwork:
        return ipaddress.ip_network((self.address, self.length), strict=False)


def parse_ip(value: str) -> AnyAddress | None:
    """Parse an address as older servers did, with leading zeros in decimal parts; None if invalid.

    An IPv4 address that is mapped into IPv6 stays an IPv6 address; see `unmapped`.
    """
    # Kubernetes does not accept an IPv6 zone, which Python does.
    if len(value) > _LONGEST_PARSED or "%" in value:
        return None
    head, colon, tail = value.rpartition(":")
    if "." in tail:
        tail = ".".join(_strip_leading_zeros(number) for number in tail.split("."))
    try:
        return ipaddress.ip_address(f"{head}{colon}{tail}")
    except ValueError:
        return None


def parse_cidr(value: str) -> ParsedCIDR | None:
    """Parse a network as older servers did: leading zeros, bits beyond the prefix length."""
    text, _, length = value.partition("/")
    address = parse_ip(text)
    if address is None or not _DECIMAL.fullmatch(length):
        return None
    digits = _strip_leading_zeros(length)
    if len(digits) > 3 or int(digits) > address.max_prefixlen:
        return None
    return ParsedCIDR(address, int(digits))


def unmapped(address: AnyAddress) -> AnyAddress:
    """Return the IPv4 address that *address* maps into IPv6, or *address* itself."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def canonical_ip(address: AnyAddress) -> str:
    """Return the one spelling of an address that newer fields accept."""
    return str(unmapped(address))


def is_strict_ip(value: str) -> list[str]:
    """Check an address that is unambiguous: no leading zeros, not mapped into IPv6."""
    address = parse_ip(value)
    if address is None:
        return [NOT_AN_IP]
    if _has_leading_zeros(value):
        return ["must not have leading 0s"]
    if _is_mapped(address):
        return ["must not be an IPv4-mapped IPv6 address"]
    return []


def is_canonical_ip(value: str) -> list[str]:
    """Check an address in its canonical form (RFC 5952)."""
    if errors := is_strict_ip(value):
        return errors
    address = parse_ip(value)
    assert address is not None
    canonical = canonical_ip(address)
    return [] if value == canonical else [f"must be in canonical form ({quote(canonical)})"]


def is_strict_cidr(value: str) -> list[str]:
    """Check a network that is unambiguous: as `is_strict_ip`, with no bits beyond the prefix."""
    parsed = parse_cidr(value)
    if parsed is None:
        return [NOT_A_CIDR]
    if _has_leading_zeros(value):
        return ["must not have leading 0s in IP or prefix length"]
    if _is_mapped(parsed.address):
        return ["must not have an IPv4-mapped IPv6 address"]
    if parsed.network.network_address != parsed.address:
        return ["must not have bits set beyond the prefix length"]
    return []


def is_canonical_cidr(value: str) -> list[str]:
    """Check a network in its canonical form."""
    if errors := is_strict_cidr(value):
        return errors
    parsed = parse_cidr(value)
    assert parsed is not None
    canonical = str(parsed.network)
    return [] if value == canonical else [f"must be in canonical form ({quote(canonical)})"]


def is_endpoint_ip(value: str) -> list[str]:
    """Check that a valid address can be reached from other machines: an endpoint of a service."""
    address = parse_ip(value)
    if address is None:
        return ["must be a valid IP address"]
    address = unmapped(address)
    rules = (
        (address.is_unspecified, f"may not be unspecified ({value})"),
        (address.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (address.is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (
            _is_link_local_multicast(address),
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    )
    return [rule for is_broken, rule in rules if is_broken]


def ip_warnings(value: str, path: Path) -> Iterator[str]:
    """Warn about an accepted address that is ambiguous or not canonical."""
    address = parse_ip(value)
    if address is None:
        return
    canonical = canonical_ip(address)
    if _has_leading_zeros(value) or _is_mapped(address):
        yield f"{path}: non-standard IP address {quote(value)} is invalid: use {quote(canonical)}"
    elif address.version == 6 and value != canonical:
        yield (
            f"{path}: IPv6 address {quote(value)} should be in RFC 5952 canonical format"
            f" ({quote(canonical)})"
        )


def cidr_warnings(value: str, path: Path) -> Iterator[str]:
    """Warn about an accepted network that is ambiguous or not canonical."""
    parsed = parse_cidr(value)
    if parsed is None:
        return
    network = _canonical_network(parsed)
    ambiguous = parsed.network.network_address != parsed.address
    if ambiguous:
        single = f"{canonical_ip(parsed.address)}/{parsed.address.max_prefixlen}"
        yield (
            f"{path}: CIDR value {quote(value)} is ambiguous in this context"
            f" (should be {quote(network)} or {quote(single)}?)"
        )
    if _has_leading_zeros(value) or _is_mapped(parsed.address):
        yield f"{path}: non-standard CIDR value {quote(value)} is invalid: use {quote(network)}"
    elif not ambiguous and parsed.address.version == 6 and value != network:
        yield (
            f"{path}: IPv6 CIDR value {quote(value)} should be in RFC 5952 canonical format"
            f" ({quote(network)})"
        )


def _canonical_network(parsed: ParsedCIDR) -> str:
    address = parsed.network.network_address
    length = parsed.length - 96 if _is_mapped(address) else parsed.length
    return f"{canonical_ip(address)}/{length}"


def _is_mapped(address: AnyAddress) -> bool:
    return unmapped(address) is not address


def _is_link_local_multicast(address: AnyAddress) -> bool:
    head = address.packed
    if address.version == 4:
        return head[:3] == b"\xe0\x00\x00"
    return head[0] == 0xFF and head[1] & 0x0F == 0x02


def _has_leading_zeros(value: str) -> bool:
    """Return whether a decimal part of a valid address or network begins with a zero."""
    text, _, length = value.partition("/")
    tail = text.rpartition(":")[2]
    numbers = [*(tail.split(".") if "." in tail else ()), length]
    return any(len(number) > 1 and number.startswith("0") for number in numbers)


def _strip_leading_zeros(number: str) -> str:
    # Python rejects 010.0.0.1; older servers accepted it, so stored objects have such addresses.
    return number.lstrip("0") or "0" if _DECIMAL.fullmatch(number) else number
