"""Printer columns of EndpointSlices."""

from typing import Final

from apis.discovery.v1 import EndpointPort, EndpointSlice
from apiserver import Column

_SHOWN: Final = 3


def address_type(endpoint_slice: EndpointSlice) -> str:
    return endpoint_slice.address_type


def slice_ports(endpoint_slice: EndpointSlice) -> str:
    ports = endpoint_slice.ports
    return _beginning([_port(port) for port in ports[:_SHOWN]], len(ports))


def slice_endpoints(endpoint_slice: EndpointSlice) -> str:
    """Return the first addresses, and how many there are besides."""
    endpoints = endpoint_slice.endpoints
    first = (address for endpoint in endpoints[:_SHOWN] for address in endpoint.addresses)
    count = sum(len(endpoint.addresses) for endpoint in endpoints)
    return _beginning([address for address, _ in zip(first, range(_SHOWN), strict=False)], count)


def _port(port: EndpointPort) -> str:
    if port.port is not None:
        return str(port.port)
    return "*" if port.name is None else port.name


def _beginning(shown: list[str], count: int) -> str:
    text = ",".join(shown)
    if count > _SHOWN:
        return f"{text} + {count - _SHOWN} more..."
    return text or "<unset>"


ENDPOINT_SLICE_COLUMNS: Final = (
    Column("AddressType", address_type, description="Type of the addresses."),
    Column("Ports", slice_ports, description="Ports of the endpoints."),
    Column("Endpoints", slice_endpoints, description="Addresses of the endpoints."),
)
