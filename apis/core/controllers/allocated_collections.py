"""Clients of the collections that allocation reads and writes, for a client without a scheme."""

from typing import Final

from apis.core.v1.endpoints import Endpoints
from apis.core.v1.service import Service
from apis.discovery.v1 import EndpointSlice
from apis.networking.v1.ip_address import IPAddress
from apis.networking.v1.service_cidr import ServiceCIDR
from client.client import AsyncClient
from client.interface import ResourceClient

_NETWORKING: Final = "networking.k8s.io/v1"


def service_cidrs(client: AsyncClient) -> ResourceClient[ServiceCIDR]:
    return client.of(
        ServiceCIDR, resource="servicecidrs", namespaced=False, api_version=_NETWORKING
    )


def ip_addresses(client: AsyncClient) -> ResourceClient[IPAddress]:
    return client.of(IPAddress, resource="ipaddresses", namespaced=False, api_version=_NETWORKING)


def services(client: AsyncClient, namespace: str | None) -> ResourceClient[Service]:
    """Return the services of a namespace; of all namespaces, if it is empty."""
    return client.of(
        Service, namespace=namespace, resource="services", namespaced=True, api_version="v1"
    )


def endpoints(client: AsyncClient, namespace: str) -> ResourceClient[Endpoints]:
    return client.of(
        Endpoints, namespace=namespace, resource="endpoints", namespaced=True, api_version="v1"
    )


def endpoint_slices(client: AsyncClient, namespace: str) -> ResourceClient[EndpointSlice]:
    return client.of(
        EndpointSlice,
        namespace=namespace,
        resource="endpointslices",
        namespaced=True,
        api_version="discovery.k8s.io/v1",
    )
