"""Printer columns of Endpoints."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from apis.core.v1.endpoints import Endpoints, EndpointSubset
from apiserver import Column

_SHOWN: Final = 3


def endpoint_addresses(endpoints: Endpoints) -> str:
    """Return the first addresses with their ports, and the number of the others."""
    if not endpoints.subsets:
        return "<none>"
    count = sum(len(subset.addresses) * max(len(subset.ports), 1) for subset in endpoints.subsets)
    shown = ",".join(islice(_all_addresses(endpoints.subsets), _SHOWN))
    return shown if count <= _SHOWN else f"{shown} + {count - _SHOWN} more..."


def _all_addresses(subsets: list[EndpointSubset]) -> Iterator[str]:
    for subset in subsets:
        if not subset.ports:
            yield from (address.ip for address in subset.addresses)
        for port in subset.ports:
            for address in subset.addresses:
                host = f"[{address.ip}]" if ":" in address.ip else address.ip
                yield f"{host}:{port.port}"


ENDPOINTS_COLUMNS: Final = (
    Column("Endpoints", endpoint_addresses, description="Ready addresses with their ports."),
)
