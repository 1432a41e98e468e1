"""AllocationWhereServed: services get addresses and ports exactly where ServiceCIDRs are served.

A server without them does not load the rest of this package.
"""

from typing import TYPE_CHECKING, Final

from apimachinery.schema import GroupResource
from apis.core.v1.service import Service
from apiserver import Allocation, Reservation, ServerParts

if TYPE_CHECKING:
    from apis.core.allocation.service_allocation import ServiceAllocation

SERVICE_CIDRS: Final = GroupResource("networking.k8s.io", "servicecidrs")


class AllocationWhereServed(Allocation[Service]):
    """Allocates with the ranges of a server, or not at all."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._allocation: ServiceAllocation | None = None

    def find(self) -> "ServiceAllocation | None":
        """Return the allocation of the server, None if it serves no ServiceCIDRs."""
        try:
            self._parts.find_store(SERVICE_CIDRS)
        except KeyError:
            return None
        if self._allocation is None:
            from apis.core.allocation.service_allocation import service_allocation

            self._allocation = service_allocation(self._parts)
        return self._allocation

    async def reserve(
        self, new: Service, old: Service | None, /, *, dry_run: bool
    ) -> Reservation | None:
        allocation = self.find()
        return None if allocation is None else await allocation.reserve(new, old, dry_run=dry_run)

    async def release(self, removed: Service, /) -> None:
        allocation = self.find()
        if allocation is not None:
            await allocation.release(removed)
