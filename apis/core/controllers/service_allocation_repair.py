"""Repair of the addresses and ports of services.

A server that stops between an allocation and the write of its service leaves an IPAddress or a node
port that no service has; they are released once they are older than any request. Services from
before allocation (from a server without ServiceCIDRs) get what they lack.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from apimachinery.errors import AlreadyExists, APIError, Conflict, NotFound
from apimachinery.ip_addresses import canonical_ip, parse_ip
from apimachinery.meta.types import ObjectMeta
from apis.core.allocation.node_ports import NodePorts, PortPlan
from apis.core.allocation.service_allocation import cluster_addresses, service_node_ports
from apis.core.controllers.allocated_collections import ip_addresses, service_cidrs
from apis.core.controllers.allocated_collections import services as services_of
from apis.core.v1.service import EXTERNAL_NAME, IPV4, IPV6, LOAD_BALANCER, NODE_PORT, Service
from apis.networking.v1.ip_address import (
    IP_ALLOCATOR,
    IP_FAMILY_LABEL,
    MANAGED_BY_LABEL,
    IPAddress,
    IPAddressSpec,
    ParentReference,
)
from apis.networking.v1.service_cidr import ServiceCIDR
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result

log = logging.getLogger(__name__)

INTERVAL: Final = 180.0
"""Seconds between two repairs."""
GRACE: Final = timedelta(seconds=60)
"""The age at which an address without a service is released: no request takes that long."""
ROUNDS: Final = 3
"""The repairs in a row that must find a node port without a service before it is released."""

_ALL: Final = NamespacedName("", "all")


class ServiceAllocationRepair:
    """Compares all services with the allocated addresses and ports."""

    def __init__(self, client: AsyncClient, ports: NodePorts) -> None:
        self._client = client
        self._ports = ports
        self._unused: Counter[int] = Counter()

    def add_to(self, manager: Manager) -> None:
        ranges = service_cidrs(self._client)
        manager.controller(
            ServiceCIDR,
            name="service-allocation-repair",
            source=MetadataSource(ranges, _everything, name="servicecidrs"),
        )(self._reconcile)

    async def _reconcile(self, ctx: Context[ServiceCIDR]) -> Result:
        await self.repair(ctx.clock.now())
        return Result(requeue_after=INTERVAL)

    async def repair(self, now: datetime) -> None:
        """Repair everything once."""
        await self._complete_services()
        services = [service async for service in services_of(self._client, "").list()]
        await self._repair_addresses(services, now)
        await self._repair_ports(services)

    async def _complete_services(self) -> None:
        """Update services that have no address or ports yet: the update allocates them."""
        async for service in services_of(self._client, "").list():
            if not _is_incomplete(service):
                continue
            try:
                collection = services_of(self._client, service.metadata.namespace)
                await collection.update(service)
            except (APIError, Conflict) as error:
                log.warning("service %s gets no address: %s", _name(service), error)

    async def _repair_addresses(self, services: Sequence[Service], now: datetime) -> None:
        owners = {
            name: service
            for service in services
            for name in map(_canonical, cluster_addresses(service))
        }
        collection = ip_addresses(self._client)
        missing = dict(owners)
        async for address in collection.list(labels={MANAGED_BY_LABEL: IP_ALLOCATOR}):
            name = address.metadata.name
            owner = missing.pop(name, None)
            if owner is not None and address.spec.parent_ref == _reference(owner):
                continue
            if owner is not None:
                missing[name] = owner
            await self._release(address, now)
        for name, service in missing.items():
            await self._restore(name, service)

    async def _release(self, address: IPAddress, now: datetime) -> None:
        """Delete an address without a service, unless its service may still be written."""
        created = address.metadata.creation_timestamp
        if created is not None and now - created < GRACE:
            return
        collection, expected = ip_addresses(self._client), address.metadata.uid
        try:
            await collection.delete(address.metadata.name, uid=expected)
        except (NotFound, Conflict):
            return
        log.info("released address %s, which no service has", address.metadata.name)

    async def _restore(self, name: str, service: Service) -> None:
        labels = {IP_FAMILY_LABEL: IPV6 if ":" in name else IPV4, MANAGED_BY_LABEL: IP_ALLOCATOR}
        address = IPAddress(
            metadata=ObjectMeta(name=name, labels=labels),
            spec=IPAddressSpec(parent_ref=_reference(service)),
        )
        try:
            await ip_addresses(self._client).create(address)
        except AlreadyExists:
            log.warning("address %s of service %s belongs to another", name, _name(service))
        else:
            log.info("restored address %s of service %s", name, _name(service))

    async def _repair_ports(self, services: Sequence[Service]) -> None:
        used = {port for service in services for port in service_node_ports(service)}
        unused = await self._ports.change(lambda plan: _restore_ports(plan, used))
        self._unused = Counter({port: self._unused[port] + 1 for port in unused})
        leaked = [port for port, rounds in self._unused.items() if rounds >= ROUNDS]
        await self._ports.release(leaked)


def _restore_ports(plan: PortPlan, used: Iterable[int]) -> frozenset[int]:
    """Mark the ports of all services as allocated; return those that no service has."""
    mine = {port for port in used if port in plan.range}
    unused = frozenset(plan.allocated - mine)
    plan.allocated |= mine
    return unused


def _is_incomplete(service: Service) -> bool:
    spec = service.spec
    if spec.type == EXTERNAL_NAME or service.metadata.deletion_timestamp is not None:
        return False
    without_port = any(not port.node_port for port in spec.ports)
    needs_ports = spec.type == NODE_PORT or (
        spec.type == LOAD_BALANCER and bool(spec.allocate_load_balancer_node_ports)
    )
    return not spec.cluster_ips or (needs_ports and without_port)


def _canonical(address: str) -> str:
    parsed = parse_ip(address)
    return canonical_ip(parsed) if parsed is not None else address


def _reference(service: Service) -> ParentReference:
    meta = service.metadata
    return ParentReference(resource="services", namespace=meta.namespace, name=meta.name)


def _name(service: Service) -> str:
    return f"{service.metadata.namespace}/{service.metadata.name}"


def _everything(change: MetadataChange) -> Iterable[NamespacedName]:
    yield _ALL
