"""Validation of ServiceCIDRs."""

from typing import Final

from apimachinery.fieldpath import NULL, FieldErrors, Path, immutable, invalid, required
from apimachinery.ip_addresses import is_canonical_cidr, parse_cidr
from apis.networking.v1 import ServiceCIDR

MAX_RANGES: Final = 2

_PATH: Final = Path("spec", "cidrs")


def validate_service_cidr(service_cidr: ServiceCIDR) -> FieldErrors:
    cidrs = service_cidr.spec.cidrs
    if not cidrs:
        yield required(_PATH, "at least one CIDR required")
        return
    if len(cidrs) > MAX_RANGES:
        yield invalid(_PATH, {"CIDRs": cidrs}, "may only hold up to 2 values")
        return
    for position, cidr in enumerate(cidrs):
        for error in is_canonical_cidr(cidr):
            yield invalid(_PATH.index(position), cidr, error)
    families = [parsed.address.version for parsed in map(parse_cidr, cidrs) if parsed]
    if len(families) > len(set(families)):
        rule = (
            "may specify no more than one IP for each IP family,"
            " i.e 192.168.0.0/24 and 2001:db8::/64"
        )
        yield invalid(_PATH, cidrs, rule)


def validate_service_cidr_update(new: ServiceCIDR, old: ServiceCIDR) -> FieldErrors:
    """Allow only one change: a second range, which makes the ServiceCIDR dual-stack."""
    after, before = new.spec.cidrs, old.spec.cidrs
    if len(after) == len(before):
        for position, cidr in enumerate(after):
            if cidr != before[position]:
                yield immutable(_PATH.index(position), cidr)
    elif (len(before), len(after)) == (1, 2):
        if after[0] != before[0]:
            yield immutable(_PATH.index(0), after[0])
        yield from validate_service_cidr(new)
    else:
        yield immutable(_PATH, after or NULL)
