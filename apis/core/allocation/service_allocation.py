"""ServiceAllocation: reserves the cluster IPs and node ports of a service while it is written.

The addresses come first, then the ports; what is reserved is given back if a later step fails.
"""

import logging
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from apimachinery.errors import APIError, InternalError, Invalid
from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.ip_addresses import parse_cidr
from apimachinery.schema import GroupKind, GroupResource
from apis.core import GROUP
from apis.core.allocation.cluster_ips import AddressNotAllocated, ClusterIPs, RangeFull
from apis.core.allocation.ip_families import ClusterFamilies, keeps_prefer_dual_stack
from apis.core.allocation.node_ports import NodePorts, PortNotAllocated, PortPlan, PortRange
from apis.core.strategy.service import keep_omitted_fields, sync_cluster_ips
from apis.core.v1.service import (
    EXTERNAL_NAME,
    IPV4,
    IPV6,
    LOAD_BALANCER,
    NODE_PORT,
    Service,
    is_headless,
    needs_health_check,
)
from apiserver import Allocation, Reservation, ServerParts

log = logging.getLogger(__name__)

KIND: Final = GroupKind(GROUP, "Service")
_SERVICES: Final = GroupResource(GROUP, "services")
_CLUSTER_IPS: Final = Path("spec", "clusterIPs")
_WITH_NODE_PORTS: Final = (NODE_PORT, LOAD_BALANCER)


def service_allocation(parts: ServerParts) -> "ServiceAllocation":
    """Return the allocation of a server, from the ranges of its configuration."""
    random = Random()
    config = parts.config
    return ServiceAllocation(
        ClusterIPs(parts.find_store, random),
        NodePorts(
            lambda: parts.find_store(_SERVICES).backend,
            PortRange.parse(config.service_node_port_range),
            random,
        ),
        families=configured_families(config.service_cluster_ip_range),
    )


def configured_families(cidrs: Sequence[str]) -> tuple[str, ...]:
    """Return the IP families of the configured ranges, the default one first."""
    parsed = [parse_cidr(text) for text in cidrs]
    return tuple(IPV4 if cidr.address.version == 4 else IPV6 for cidr in parsed if cidr)


class ServiceAllocation(Allocation[Service]):
    """Allocates what services need, and releases what they no longer need."""

    def __init__(self, ips: ClusterIPs, ports: NodePorts, *, families: Sequence[str]) -> None:
        self.ips = ips
        self.ports = ports
        self._families = ClusterFamilies(families)

    async def reserve(
        self, new: Service, old: Service | None, /, *, dry_run: bool
    ) -> Reservation | None:
        if old is not None:
            keep_omitted_fields(new, old)
            sync_cluster_ips(new.spec, old.spec)
        elif new.spec.cluster_ip and not new.spec.cluster_ips:
            new.spec.cluster_ips = [new.spec.cluster_ip]
        _refuse(new, self._families.complete(new, old))
        addresses = await self._reserve_addresses(new, old, dry_run=dry_run)
        try:
            ports = await self.ports.change(_PortChoice(new, old), dry_run=dry_run)
        except APIError:
            await self._release_addresses(addresses, new, dry_run=dry_run)
            raise
        return self._reservation(new, old, addresses, ports, dry_run=dry_run)

    async def release(self, removed: Service, /) -> None:
        try:
            await self._release_addresses(cluster_addresses(removed), removed, dry_run=False)
            await self.ports.release(service_node_ports(removed))
        except APIError as error:
            # The service is deleted; what is left is found by the repair.
            log.warning("service %s: not everything was released: %s", removed.metadata.name, error)

    def _reservation(
        self,
        new: Service,
        old: Service | None,
        addresses: Sequence[str],
        ports: frozenset[int],
        *,
        dry_run: bool,
    ) -> Reservation:
        kept = set(cluster_addresses(new))
        freed = (
            [address for address in cluster_addresses(old) if address not in kept] if old else []
        )

        async def commit() -> None:
            # The strategy may clear ports after they were reserved, so look at the stored ones.
            unused = service_node_ports(old) - service_node_ports(new) if old else frozenset()
            await self._release_addresses(freed, new, dry_run=dry_run)
            if not dry_run:
                await self.ports.release(unused)

        async def revert() -> None:
            await self._release_addresses(addresses, new, dry_run=dry_run)
            if not dry_run:
                await self.ports.release(ports)

        return Reservation(commit, revert)

    async def _reserve_addresses(
        self, new: Service, old: Service | None, *, dry_run: bool
    ) -> list[str]:
        """Allocate the addresses that are missing; return those that were allocated."""
        wanted = _wanted(new, old)
        reserved: list[str] = []
        try:
            for position, address in wanted.items():
                reserved.append(await self._reserve_address(new, position, address, dry_run))
        except APIError:
            await self._release_addresses(reserved, new, dry_run=dry_run)
            raise
        addresses = list(new.spec.cluster_ips)
        addresses += [""] * (max(wanted, default=-1) + 1 - len(addresses))
        for position, address in zip(wanted, reserved, strict=True):
            addresses[position] = address
        if wanted:
            new.spec.cluster_ips, new.spec.cluster_ip = addresses, addresses[0]
        return reserved

    async def _reserve_address(
        self, service: Service, position: int, address: str, dry_run: bool
    ) -> str:
        name = service.metadata.name
        try:
            if not address:
                family = service.spec.ip_families[position]
                return await self.ips.allocate_next(family, service, dry_run=dry_run)
            await self.ips.allocate(address, service, dry_run=dry_run)
        except RangeFull as error:
            text = f'failed to allocate a serviceIP for Service "{name}": {error}'
            raise InternalError.of(text) from error
        except AddressNotAllocated as error:
            rule = f"failed to allocate IP {address}: {error}"
            shown = _shown_addresses(service)
            raise Invalid.of(KIND, name, [invalid(_CLUSTER_IPS, shown, rule)]) from error
        return address

    async def _release_addresses(
        self, addresses: Sequence[str], service: Service, *, dry_run: bool
    ) -> None:
        if not dry_run:
            for address in addresses:
                await self.ips.release(address, service)


def _refuse(service: Service, errors: FieldErrors) -> None:
    found = list(errors)
    if found:
        raise Invalid.of(KIND, service.metadata.name, found)


def _wanted(new: Service, old: Service | None) -> Mapping[int, str]:
    """Return the addresses to allocate, by their positions; empty for any address."""
    if new.spec.type == EXTERNAL_NAME or is_headless(new) or keeps_prefer_dual_stack(new, old):
        return {}
    given = new.spec.cluster_ips
    everything = {
        position: given[position] if position < len(given) else ""
        for position in range(len(new.spec.ip_families))
    }
    if old is None or old.spec.type == EXTERNAL_NAME:
        return everything
    if is_headless(old):
        return {}
    # A service from before addresses were allocated has none, and gets them now.
    known = len(old.spec.cluster_ips)
    return {position: text for position, text in everything.items() if position >= known}


def _shown_addresses(service: Service) -> list[str]:
    spec = service.spec
    missing = len(spec.ip_families) - len(spec.cluster_ips)
    return [*spec.cluster_ips, *[""] * max(missing, 0)]


def cluster_addresses(service: Service) -> list[str]:
    if service.spec.type == EXTERNAL_NAME or is_headless(service):
        return []
    return [address for address in service.spec.cluster_ips if address]


def service_node_ports(service: Service) -> frozenset[int]:
    """Return all node ports of a service, that of health checks included."""
    ports = {port.node_port for port in service.spec.ports}
    if needs_health_check(service):
        ports.add(service.spec.health_check_node_port)
    return frozenset(ports - {0})


class _PortChoice:
    """Chooses the node ports of a service; returns those that are newly allocated.

    It may run again on a newer record, and begins with the requested ports each time.
    """

    def __init__(self, new: Service, old: Service | None) -> None:
        self._service, self._old = new, old
        self._held = service_node_ports(old) if old is not None else frozenset()
        self._requested = [port.node_port for port in new.spec.ports]
        self._health_check = new.spec.health_check_node_port

    def __call__(self, plan: PortPlan) -> frozenset[int]:
        service, old = self._service, self._old
        if service.spec.type in _WITH_NODE_PORTS:
            self._choose_ports(plan)
        if needs_health_check(service) and not (old is not None and needs_health_check(old)):
            service.spec.health_check_node_port = self._health_check
            _plan_health_check(plan, service, self._held)
        return frozenset(plan.taken)

    def _choose_ports(self, plan: PortPlan) -> None:
        """Choose a node port for each port; one number serves all protocols of a port."""
        ports = list(zip(self._service.spec.ports, self._requested, strict=True))
        requested = {port.port: number for port, number in reversed(ports) if number}
        chosen: dict[int, int] = {}
        for position, (port, number) in enumerate(ports):
            port.node_port = number
            if not number and not _allocates_node_ports(self._service):
                continue
            wanted = number or chosen.get(port.port) or requested.get(port.port, 0)
            if not wanted:
                wanted = _any_port(plan)
            elif not self._has(plan, wanted, chosen.get(port.port)):
                path = Path("spec", "ports").index(position).child("nodePort")
                _take_port(plan, wanted, self._service, path)
            port.node_port = wanted
            chosen.setdefault(port.port, wanted)

    def _has(self, plan: PortPlan, port: int, chosen: int | None) -> bool:
        """Return whether the service has a node port already, which it may use again."""
        if port in self._held or port == chosen:
            return True
        # Of a new service, only the protocols of one port may share a node port.
        return self._old is not None and port in plan.taken


def _any_port(plan: PortPlan) -> int:
    try:
        return plan.allocate_next()
    except PortNotAllocated as error:
        raise InternalError.of(f"failed to allocate a nodePort: {error}") from error


def _take_port(plan: PortPlan, port: int, service: Service, path: Path) -> None:
    try:
        plan.allocate(port)
    except PortNotAllocated as error:
        errors = [invalid(path, port, str(error))]
        raise Invalid.of(KIND, service.metadata.name, errors) from error


def _plan_health_check(plan: PortPlan, service: Service, held: frozenset[int]) -> None:
    port = service.spec.health_check_node_port
    try:
        if not port:
            service.spec.health_check_node_port = plan.allocate_next()
        elif port not in held:
            plan.allocate(port)
    except PortNotAllocated as error:
        asked = f"requested HealthCheck NodePort {port}" if port else "a HealthCheck NodePort 0"
        raise InternalError.of(f"failed to allocate {asked}: {error}") from error


def _allocates_node_ports(service: Service) -> bool:
    spec = service.spec
    return spec.type == NODE_PORT or bool(spec.allocate_load_balancer_node_ports)
