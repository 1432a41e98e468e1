"""Validation of addresses that other machines send traffic to: endpoints and external IPs."""

import ipaddress

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.ip_addresses import AnyAddress, parse_ip, unmapped


def validate_endpoint_ip(address: str, path: Path) -> FieldErrors:
    """Validate that an address is valid, and neither unspecified, loopback nor link-local."""
    parsed = parse_ip(address)
    if parsed is None:
        yield invalid(path, address, "must be a valid IP address")
        return
    parsed = unmapped(parsed)
    for wrong, rule in (
        (parsed.is_unspecified, f"may not be unspecified ({address})"),
        (parsed.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (
            parsed.is_link_local,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            _is_link_local_multicast(parsed),
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    ):
        if wrong:
            yield invalid(path, address, rule)


def _is_link_local_multicast(address: AnyAddress) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address.packed[:3] == b"\xe0\x00\x00"
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02
