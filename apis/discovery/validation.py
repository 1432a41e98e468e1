"""Validation of EndpointSlices."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
    too_many,
)
from apimachinery.ip_addresses import is_canonical_ip, is_endpoint_ip, is_strict_ip
from apimachinery.meta.metadata_validation import validate_labels
from apimachinery.names import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_fully_qualified_domain_name,
    is_ipv4,
    is_ipv6,
    is_label_value,
    is_qualified_name,
)
from apis.discovery.v1 import Endpoint, EndpointHints, EndpointPort, EndpointSlice
from apis.discovery.v1.endpoint_slice import FQDN, IPV4, IPV6

MAX_ENDPOINTS: Final = 1000
MAX_ADDRESSES: Final = 100
MAX_PORTS: Final = 20_000
MAX_HINTS: Final = 8
MAX_TOPOLOGY_LABELS: Final = 16

_ADDRESS_TYPES: Final = (FQDN, IPV4, IPV6)
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")


def validate_endpoint_slice(endpoint_slice: EndpointSlice) -> FieldErrors:
    yield from _validate_head(endpoint_slice)
    yield from _validate_endpoints(endpoint_slice)


def validate_endpoint_slice_update(new: EndpointSlice, old: EndpointSlice) -> FieldErrors:
    """Validate a change; endpoints that older servers accepted may stay."""
    yield from _validate_head(new)
    if new.endpoints != old.endpoints:
        yield from _validate_endpoints(new)
    if new.address_type != old.address_type:
        # As in Kubernetes, the message does not show the new value.
        yield immutable(Path("addressType"), NULL)


def _validate_head(endpoint_slice: EndpointSlice) -> FieldErrors:
    address_type = endpoint_slice.address_type
    if not address_type:
        yield required(Path("addressType"))
    elif address_type not in _ADDRESS_TYPES:
        yield not_supported(Path("addressType"), address_type, _ADDRESS_TYPES)
    yield from _validate_ports(endpoint_slice.ports, Path("ports"))


def _validate_endpoints(endpoint_slice: EndpointSlice) -> FieldErrors:
    endpoints, path = endpoint_slice.endpoints, Path("endpoints")
    if len(endpoints) > MAX_ENDPOINTS:
        yield too_many(path, len(endpoints), MAX_ENDPOINTS)
        return
    for position, endpoint in enumerate(endpoints):
        yield from _validate_endpoint(endpoint, endpoint_slice.address_type, path.index(position))


def _validate_ports(ports: Sequence[EndpointPort], path: Path) -> FieldErrors:
    if len(ports) > MAX_PORTS:
        yield too_many(path, len(ports), MAX_PORTS)
        return
    names: set[str] = set()
    for position, port in enumerate(ports):
        here, name = path.index(position), port.name or ""
        if name:
            for error in is_dns1123_label(name):
                yield invalid(here.child("name"), name, error)
        if name in names:
            yield duplicate(here.child("name"), name)
        names.add(name)
        yield from _validate_protocols(port, here)


def _validate_protocols(port: EndpointPort, path: Path) -> FieldErrors:
    if port.protocol is None:
        yield required(path.child("protocol"))
    elif port.protocol not in _PROTOCOLS:
        yield not_supported(path.child("protocol"), port.protocol, _PROTOCOLS)
    if port.app_protocol is not None:
        for error in is_qualified_name(port.app_protocol):
            yield invalid(path.child("appProtocol"), port.app_protocol, error)


def _validate_endpoint(endpoint: Endpoint, address_type: str, path: Path) -> FieldErrors:
    yield from _validate_addresses(endpoint.addresses, address_type, path.child("addresses"))
    if endpoint.node_name is not None:
        for error in is_dns1123_subdomain(endpoint.node_name):
            yield invalid(path.child("nodeName"), endpoint.node_name, error)
    topology, here = endpoint.deprecated_topology, path.child("deprecatedTopology")
    if len(topology) > MAX_TOPOLOGY_LABELS:
        yield too_many(here, len(topology), MAX_TOPOLOGY_LABELS)
    yield from validate_labels(topology, here)
    if endpoint.hostname is not None:
        for error in is_dns1123_label(endpoint.hostname):
            yield invalid(path.child("hostname"), endpoint.hostname, error)
    if endpoint.hints is not None:
        yield from _validate_hints(endpoint.hints, path.child("hints"))


def _validate_addresses(addresses: Sequence[str], address_type: str, path: Path) -> FieldErrors:
    if not addresses:
        yield required(path)
    elif len(addresses) > MAX_ADDRESSES:
        yield too_many(path, len(addresses), MAX_ADDRESSES)
    for position, address in enumerate(addresses):
        match address_type:
            case "IPv4":
                yield from _validate_ipv4(address, path, position)
            case "IPv6":
                yield from _validate_ipv6(address, path, position)
            case "FQDN":
                yield from _validate_domain(address, path.index(position))


def _validate_ipv4(address: str, path: Path, position: int) -> FieldErrors:
    if errors := is_strict_ip(address):
        yield from (invalid(path.index(position), address, error) for error in errors)
        return
    if is_ipv4(address):
        # As in Kubernetes, without the position.
        yield invalid(path, address, "must be an IPv4 address")
    for error in is_endpoint_ip(address):
        yield invalid(path.index(position), address, error)


def _validate_ipv6(address: str, path: Path, position: int) -> FieldErrors:
    if errors := is_canonical_ip(address):
        yield from (invalid(path.index(position), address, error) for error in errors)
        return
    if is_ipv6(address):
        yield invalid(path, address, "must be an IPv6 address")
    for error in is_endpoint_ip(address):
        yield invalid(path.index(position), address, error)


def _validate_domain(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
        return
    for error in is_fully_qualified_domain_name(name):
        yield invalid(path, name.removesuffix("."), error)


def _validate_hints(hints: EndpointHints, path: Path) -> FieldErrors:
    zones, nodes = path.child("forZones"), path.child("forNodes")
    if len(hints.for_zones) > MAX_HINTS:
        yield too_many(zones, len(hints.for_zones), MAX_HINTS)
        return
    seen: set[str] = set()
    for position, zone in enumerate(hints.for_zones):
        here = zones.index(position).child("name")
        if zone.name in seen:
            yield duplicate(here, zone.name)
        seen.add(zone.name)
        for error in is_label_value(zone.name):
            yield invalid(here, zone.name, error)
    if len(hints.for_nodes) > MAX_HINTS:
        yield too_many(nodes, len(hints.for_nodes), MAX_HINTS)
        return
    seen = set()
    for position, node in enumerate(hints.for_nodes):
        here = nodes.index(position).child("name")
        if node.name in seen:
            yield duplicate(here, node.name)
        seen.add(node.name)
        for error in is_dns1123_subdomain(node.name):
            yield invalid(here, node.name, error)
