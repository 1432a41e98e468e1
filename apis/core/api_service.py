"""The service `kubernetes`, its address and its endpoints, where services have addresses.

Every worker ensures them when it starts. The range of the configuration becomes the ServiceCIDR
`kubernetes`; the service has the first address of the range. Which servers its endpoints have is
decided by the caller.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, TypeVar

from apimachinery.errors import AlreadyExists, Conflict, Invalid, NotFound
from apimachinery.ip_addresses import parse_cidr, parse_ip
from apimachinery.meta.conditions import condition, find_condition, set_condition
from apimachinery.meta.types import Object, ObjectMeta
from apis.core import v1
from apis.core.controllers.allocated_collections import endpoint_slices, ip_addresses, service_cidrs
from apis.core.controllers.allocated_collections import endpoints as endpoints_of
from apis.core.controllers.allocated_collections import services as services_of
from apis.discovery.v1 import EndpointSlice
from apis.networking.v1 import ServiceCIDR, ServiceCIDRSpec
from apis.networking.v1.service_cidr import DEFAULT_SERVICE_CIDR, READY
from client.client import AsyncClient
from client.interface import ResourceClient

T = TypeVar("T", bound=Object)

log = logging.getLogger(__name__)

NAMESPACE: Final = "default"
NAME: Final = "kubernetes"
SKIP_MIRROR: Final = "endpointslice.kubernetes.io/skip-mirror"
SERVICE_NAME: Final = "kubernetes.io/service-name"
_ATTEMPTS: Final = 5
_ADDRESS_ATTEMPTS: Final = 16
_ORPHAN_AGE: Final = timedelta(seconds=2)
"""The age at which an address without its service is not about to get it."""


async def ensure_service_ranges(
    client: AsyncClient, cidrs: Sequence[str], *, now: Callable[[], datetime]
) -> Sequence[str]:
    """Create the ServiceCIDR of the configuration, or add its second range; mark it as ready.

    Returns the ranges that it has, which win over those of the configuration.
    """
    ranges = service_cidrs(client)
    with suppress(AlreadyExists):
        await ranges.create(
            ServiceCIDR(
                metadata=ObjectMeta(name=DEFAULT_SERVICE_CIDR),
                spec=ServiceCIDRSpec(cidrs=list(cidrs)),
            )
        )
    found = await ranges.get(DEFAULT_SERVICE_CIDR)
    if len(cidrs) == 2 and found.spec.cidrs == [cidrs[0]]:
        found.spec.cidrs = list(cidrs)
        found = await ranges.update(found)
    if found.spec.cidrs != list(cidrs):
        log.warning(
            "ServiceCIDR %r has the ranges %s, the configuration %s: the former are used",
            DEFAULT_SERVICE_CIDR,
            ", ".join(found.spec.cidrs),
            ", ".join(cidrs),
        )
        return found.spec.cidrs
    if find_condition(found.status.conditions, READY) is None:
        ready = condition(READY, True, "", "Kubernetes default Service CIDR is ready")
        set_condition(found.status.conditions, ready, now())
        try:
            await ranges.status.update(found)
        except Conflict:
            log.debug("another server has updated ServiceCIDR %r", DEFAULT_SERVICE_CIDR)
    return found.spec.cidrs


async def ensure_api_service(
    client: AsyncClient,
    service: v1.Service,
    cidrs: Sequence[str],
    *,
    now: Callable[[], datetime],
    delay: float = 0.25,
) -> None:
    """Create the service with the first address of the range, or give it that address."""
    services = services_of(client, NAMESPACE)
    address = first_address(cidrs[0])
    for _ in range(_ADDRESS_ATTEMPTS):
        try:
            found = await _find(services)
            if found is None:
                service.spec.cluster_ip = address
                await services.create(service)
            elif not found.spec.cluster_ip:
                found.spec.cluster_ip = address
                await services.update(found)
        except (AlreadyExists, Conflict):
            continue  # another server was faster
        except Invalid as error:
            # Another server is writing the service, or has stopped before it did.
            log.info("service %r cannot have the address %s yet: %s", NAME, address, error)
            if not await _release_orphan(client, address, now()):
                await asyncio.sleep(delay)
            continue
        return
    log.warning("service %r does not have the address %s", NAME, address)


async def _release_orphan(client: AsyncClient, address: str, now: datetime) -> bool:
    """Release the address of the service if a server stopped before it wrote the service."""
    addresses = ip_addresses(client)
    try:
        found = await addresses.get(address)
        parent, created = found.spec.parent_ref, found.metadata.creation_timestamp
        is_own = parent is not None and (parent.namespace, parent.name) == (NAMESPACE, NAME)
        is_old = created is not None and now - created > _ORPHAN_AGE
        if not is_own or not is_old or await _find(services_of(client, NAMESPACE)) is not None:
            return False
        await addresses.delete(address, uid=found.metadata.uid)
    except (NotFound, Conflict):
        pass
    return True


def first_address(cidr: str) -> str:
    """Return the first address of a range, which is that of the service `kubernetes`."""
    parsed = parse_cidr(cidr)
    assert parsed is not None, "the configuration is validated"
    return str(parsed.network.network_address + 1)


async def ensure_api_endpoints(client: AsyncClient, addresses: Sequence[str], port: int) -> None:
    """Give the endpoints of the service these addresses, and write the same EndpointSlice.

    Endpoints that would be empty are not created.
    """
    for _ in range(_ATTEMPTS):
        try:
            endpoints = await _ensure_endpoints(client, addresses, port)
            if endpoints is not None:
                await _ensure_slice(client, endpoints)
        except (AlreadyExists, Conflict):
            continue  # another server was faster
        return


async def _ensure_endpoints(
    client: AsyncClient, addresses: Sequence[str], port: int
) -> v1.Endpoints | None:
    collection = endpoints_of(client, NAMESPACE)
    wanted = _subsets(addresses, port)
    found = await _find(collection)
    if found is None:
        metadata = ObjectMeta(name=NAME, namespace=NAMESPACE, labels={SKIP_MIRROR: "true"})
        endpoints = v1.Endpoints(metadata=metadata, subsets=wanted)
        return await collection.create(endpoints) if wanted else None
    if found.subsets == wanted and found.metadata.labels.get(SKIP_MIRROR) == "true":
        return found
    found.metadata.labels[SKIP_MIRROR] = "true"
    found.subsets = wanted
    return await collection.update(found)


def _subsets(addresses: Sequence[str], port: int) -> list[v1.EndpointSubset]:
    if not addresses:
        return []
    ports = [v1.EndpointPort(name="https", port=port, protocol="TCP")]
    listed = [v1.EndpointAddress(ip=address) for address in addresses]
    return [v1.EndpointSubset(addresses=listed, ports=ports)]


async def _ensure_slice(client: AsyncClient, endpoints: v1.Endpoints) -> None:
    collection = endpoint_slices(client, NAMESPACE)
    wanted = _slice(endpoints)
    found = await _find(collection)
    if found is not None and found.address_type != wanted.address_type:
        await collection.delete(NAME)
        found = None
    if found is None:
        await collection.create(wanted)
    elif (found.endpoints, found.ports) != (wanted.endpoints, wanted.ports):
        wanted.metadata.resource_version = found.metadata.resource_version
        await collection.update(wanted)


def _slice(endpoints: v1.Endpoints) -> EndpointSlice:
    addresses = [item.ip for subset in endpoints.subsets for item in subset.addresses]
    ports = [port for subset in endpoints.subsets[:1] for port in subset.ports]
    is_ipv6 = bool(addresses) and all(":" in address for address in addresses)
    return EndpointSlice.model_validate(
        {
            "metadata": {
                "name": NAME,
                "namespace": NAMESPACE,
                "labels": {SERVICE_NAME: NAME},
            },
            "addressType": "IPv6" if is_ipv6 else "IPv4",
            "endpoints": [
                {"addresses": [address], "conditions": {"ready": True}}
                for address in addresses
                if (":" in address) == is_ipv6
            ],
            "ports": [
                {"name": port.name, "port": port.port, "protocol": port.protocol} for port in ports
            ],
        }
    )


async def _find(collection: ResourceClient[T]) -> T | None:
    try:
        return await collection.get(NAME)
    except NotFound:
        return None


def host_address(bound: str) -> str | None:
    """Return the address at which other machines reach a server, None if there is none.

    It is the address that the server is bound to, or for all addresses and loopback, that of the
    host's default route.
    """
    parsed = parse_ip(bound)
    if parsed is not None and not (parsed.is_unspecified or parsed.is_loopback):
        return bound
    # Connecting a datagram socket sends nothing: it only chooses a route.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    usable = parse_ip(address)
    return None if usable is None or usable.is_loopback or usable.is_unspecified else address
