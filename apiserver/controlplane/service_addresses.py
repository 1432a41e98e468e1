"""Addresses of services: whether this server allocates them, and the controllers of them."""

from apimachinery.schema import GroupResource
from apis.core.allocation.where_served import SERVICE_CIDRS, AllocationWhereServed
from apiserver.install import Groups
from client.client import AsyncClient
from client.controller.manager import Manager


def allocates_addresses(groups: Groups) -> bool:
    """Return whether services get addresses and node ports."""
    return serves(groups, SERVICE_CIDRS)


def serves(groups: Groups, resource: GroupResource) -> bool:
    try:
        groups.store(resource)
    except KeyError:
        return False
    return True


def add_range_protection(manager: Manager, client: AsyncClient, groups: Groups) -> None:
    """Add the controller that keeps ranges whose addresses are in use, if there are any."""
    if allocates_addresses(groups):
        # Imported late: a server without addresses of services need not load their types.
        from apis.core.controllers.service_cidr_protection import ServiceCIDRProtection

        ServiceCIDRProtection(client).add_to(manager)


def add_allocation_repair(manager: Manager, client: AsyncClient, groups: Groups) -> None:
    """Add the controller that repairs addresses and ports, if the server allocates them."""
    if not allocates_addresses(groups):
        return
    allocation = groups.store(GroupResource("", "services")).rules.allocation
    found = allocation.find() if isinstance(allocation, AllocationWhereServed) else None
    if found is not None:
        from apis.core.controllers.service_allocation_repair import ServiceAllocationRepair

        ServiceAllocationRepair(client, found.ports).add_to(manager)
