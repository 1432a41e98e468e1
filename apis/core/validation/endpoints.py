"""Validation of Endpoints: addresses that can be reached from other machines, and their ports."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apimachinery.ip_addresses import is_strict_ip
from apimachinery.names import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_port_number,
    is_qualified_name,
)
from apis.core.v1.endpoints import EndpointAddress, EndpointPort, Endpoints, EndpointSubset
from apis.core.validation.endpoint_addresses import validate_endpoint_ip

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")


def validate_endpoints(endpoints: Endpoints) -> FieldErrors:
    yield from _validate_subsets(endpoints.subsets)


def validate_endpoints_update(new: Endpoints, old: Endpoints) -> FieldErrors:
    """Validate a change; unchanged subsets may break rules that are newer than they are."""
    errors = list(_validate_subsets(new.subsets))
    if errors and new.subsets != old.subsets:
        yield from errors


def _validate_subsets(subsets: Sequence[EndpointSubset]) -> FieldErrors:
    for position, subset in enumerate(subsets):
        here = Path("subsets").index(position)
        if not subset.addresses and not subset.not_ready_addresses:
            yield required(here, "must specify `addresses` or `notReadyAddresses`")
        yield from _validate_addresses(subset.addresses, here.child("addresses"))
        yield from _validate_addresses(subset.not_ready_addresses, here.child("notReadyAddresses"))
        for number, port in enumerate(subset.ports):
            place = here.child("ports").index(number)
            yield from _validate_port(port, place, needs_name=len(subset.ports) > 1)


def _validate_addresses(addresses: Sequence[EndpointAddress], path: Path) -> FieldErrors:
    for position, address in enumerate(addresses):
        here = path.index(position)
        for error in is_strict_ip(address.ip):
            yield invalid(here.child("ip"), address.ip, error)
        for error in is_dns1123_label(address.hostname) if address.hostname else ():
            yield invalid(here.child("hostname"), address.hostname, error)
        name = address.node_name
        for error in is_dns1123_subdomain(name) if name is not None else ():
            yield invalid(here.child("nodeName"), name, error)
        yield from validate_endpoint_ip(address.ip, here.child("ip"))


def _validate_port(port: EndpointPort, path: Path, *, needs_name: bool) -> FieldErrors:
    if needs_name and not port.name:
        yield required(path.child("name"))
    for error in is_dns1123_label(port.name) if port.name else ():
        yield invalid(path.child("name"), port.name, error)
    for error in is_port_number(port.port):
        yield invalid(path.child("port"), port.port, error)
    if not port.protocol:
        yield required(path.child("protocol"))
    elif port.protocol not in _PROTOCOLS:
        yield not_supported(path.child("protocol"), port.protocol, _PROTOCOLS)
    for error in is_qualified_name(port.app_protocol) if port.app_protocol is not None else ():
        yield invalid(path.child("appProtocol"), port.app_protocol, error)
