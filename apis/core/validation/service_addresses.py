"""Validation of service addresses: cluster IPs, IP families, external IPs.

An update may add or remove the secondary address and family. The primary one is immutable, unless
the service becomes, or was, of type ExternalName.
"""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
)
from apimachinery.ip_addresses import is_strict_ip
from apimachinery.names import is_ipv6
from apis.core.v1.service import (
    EXTERNAL_NAME,
    HEADLESS,
    IPV4,
    IPV6,
    PREFER_DUAL_STACK,
    REQUIRE_DUAL_STACK,
    SINGLE_STACK,
    Service,
    ServiceSpec,
    is_headless,
)
from apis.core.validation.endpoint_addresses import validate_endpoint_ip

_POLICIES: Final = (PREFER_DUAL_STACK, REQUIRE_DUAL_STACK, SINGLE_STACK)
_FIXED: Final = "may not change once set"


def validate_cluster_ips(service: Service, path: Path) -> FieldErrors:
    spec = service.spec
    if spec.type == EXTERNAL_NAME:
        return
    yield from _validate_primary(spec, path.child("clusterIPs"))
    yield from _validate_families(spec, path)
    errors = list(_validate_addresses(spec.cluster_ips, path.child("clusterIPs")))
    yield from errors
    if len(spec.cluster_ips) > 2:
        yield invalid(path.child("clusterIPs"), spec.cluster_ips, "may only hold up to 2 values")
    # Further errors about invalid addresses would be noise.
    if not errors:
        yield from _validate_address_families(service, path.child("clusterIPs"))


def validate_external_ips(addresses: Sequence[str], path: Path) -> FieldErrors:
    for position, address in enumerate(addresses):
        here = path.index(position)
        if errors := is_strict_ip(address):
            yield from (invalid(here, address, error) for error in errors)
        else:
            yield from validate_endpoint_ip(address, here)


def validate_address_update(new: Service, old: Service) -> FieldErrors:
    if EXTERNAL_NAME in (new.spec.type, old.spec.type):
        return
    if not (is_headless(new) and is_headless(old)):
        yield from _validate_ip_change(new.spec, old.spec)
    if not (is_headless(new) or is_headless(old)):
        yield from _validate_family_change(new.spec, old.spec)


def _validate_primary(spec: ServiceSpec, path: Path) -> FieldErrors:
    if not spec.cluster_ip:
        if spec.cluster_ips:
            rule = "must be empty when `clusterIP` is not specified"
            yield invalid(path, spec.cluster_ips, rule)
    elif not spec.cluster_ips:
        yield required(path)
    elif spec.cluster_ips[0] != spec.cluster_ip:
        yield invalid(path, spec.cluster_ips, "first value must match `clusterIP`")


def _validate_families(spec: ServiceSpec, path: Path) -> FieldErrors:
    seen: set[str] = set()
    for position, family in enumerate(spec.ip_families):
        here = path.child("ipFamilies").index(position)
        if family not in (IPV4, IPV6):
            yield not_supported(here, family, (IPV4, IPV6))
        if family in seen:
            yield duplicate(here, family)
        seen.add(family)
    if spec.ip_family_policy not in (None, *_POLICIES):
        yield not_supported(path.child("ipFamilyPolicy"), spec.ip_family_policy, _POLICIES)


def _validate_addresses(addresses: list[str], path: Path) -> FieldErrors:
    for position, address in enumerate(addresses):
        if position == 0 and address == HEADLESS:
            if len(addresses) > 1:
                yield invalid(path, addresses, "'None' must be the first and only value")
            continue
        for error in is_strict_ip(address):
            yield invalid(path.index(position), address, error)


def _validate_address_families(service: Service, path: Path) -> FieldErrors:
    spec = service.spec
    if is_headless(service):
        return
    families = [family_of(address) for address in spec.cluster_ips]
    if len(families) > 1 and len(set(families)) == 1:
        rule = "may specify no more than one IP for each IP family"
        yield invalid(path, spec.cluster_ips, rule)
    # The two lists may differ in length.
    for position, (actual, expected) in enumerate(zip(families, spec.ip_families, strict=False)):
        if expected in (IPV4, IPV6) and actual != expected:
            rule = f"expected an {expected} value as indicated by `ipFamilies[{position}]`"
            yield invalid(path.index(position), spec.cluster_ips[position], rule)


def _validate_ip_change(new: ServiceSpec, old: ServiceSpec) -> FieldErrors:
    path = Path("spec", "clusterIPs")
    if len(new.cluster_ips) == len(old.cluster_ips):
        for position, address in enumerate(old.cluster_ips):
            if new.cluster_ips[position] != address:
                yield invalid(path.index(position), new.cluster_ips, _FIXED)
        return
    if not new.cluster_ips:
        yield invalid(path.index(0), new.cluster_ips, "primary clusterIP can not be unset")
    elif old.cluster_ips and new.cluster_ips[0] != old.cluster_ips[0]:
        yield invalid(path.index(0), new.cluster_ips, _FIXED)
    if len(new.cluster_ips) < len(old.cluster_ips) and len(new.cluster_ips) == 1:
        yield from _validate_release(new, "clusterIP")


def _validate_family_change(new: ServiceSpec, old: ServiceSpec) -> FieldErrors:
    path = Path("spec", "ipFamilies").index(0)
    if len(new.ip_families) == len(old.ip_families):
        for position, family in enumerate(old.ip_families):
            if new.ip_families[position] != family:
                yield invalid(path, new.ip_families, _FIXED)
        return
    if not new.ip_families:
        yield invalid(path, new.ip_families, "primary ipFamily can not be unset")
    elif old.ip_families and new.ip_families[0] != old.ip_families[0]:
        yield invalid(path, new.cluster_ips, _FIXED)
    if len(new.ip_families) < len(old.ip_families) and len(new.ip_families) == 1:
        yield from _validate_release(new, "ipFamily")


def _validate_release(spec: ServiceSpec, field: str) -> FieldErrors:
    if spec.ip_family_policy != SINGLE_STACK:
        path = Path("spec", "ipFamilyPolicy")
        rule = f"must be set to 'SingleStack' when releasing the secondary {field}"
        yield invalid(path, spec.ip_family_policy, rule)


def family_of(address: str) -> str:
    """Return the IP family of a valid address."""
    return IPV4 if is_ipv6(address) else IPV6
