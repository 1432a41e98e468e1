"""Protection of ServiceCIDRs: a deleted range stays while services have addresses of it alone.

Every range has a finalizer and the condition Ready. Once a range is deleted, no service gets an
address of it; the finalizer is removed when each address lies in another range as well. The service
allocation of other servers may learn of the deletion a little later, so it also waits for a while.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from apimachinery.errors import Conflict, NotFound
from apimachinery.ip_addresses import AnyAddress, AnyNetwork, parse_cidr, parse_ip
from apimachinery.meta.conditions import find_condition
from apimachinery.scalars.time import format_time
from apis.core.allocation.address_range import AddressRange
from apis.core.controllers.allocated_collections import ip_addresses, service_cidrs
from apis.networking.v1.ip_address import IP_ALLOCATOR, MANAGED_BY_LABEL
from apis.networking.v1.service_cidr import (
    READY,
    SERVICE_CIDR_FINALIZER,
    TERMINATING,
    ServiceCIDR,
)
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result

log = logging.getLogger(__name__)

NAME: Final = "service-cidr-controller"
GRACE: Final = timedelta(seconds=10)
"""How long a deleted range stays at least, so that every server has stopped allocating from it."""
IS_READY: Final = "Kubernetes Service CIDR is ready"
STILL_USED: Final = (
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new"
    " ServiceCIDR"
)
_ALL: Final = NamespacedName("", "all")


class ServiceCIDRProtection:
    """Keeps the finalizer and the condition of every range, all at once: they depend on others."""

    def __init__(self, client: AsyncClient, *, grace: timedelta = GRACE) -> None:
        self._grace = grace
        self._ranges = service_cidrs(client).as_manager(NAME)
        self._addresses = ip_addresses(client)

    def add_to(self, manager: Manager) -> None:
        managed = {MANAGED_BY_LABEL: IP_ALLOCATOR}
        manager.controller(
            ServiceCIDR,
            name=NAME,
            source=MetadataSource(self._ranges, _everything, name="servicecidrs"),
            watches=[
                MetadataSource(self._addresses, _if_deleted, name="ipaddresses", labels=managed)
            ],
        )(self._reconcile)

    async def _reconcile(self, ctx: Context[ServiceCIDR]) -> Result | None:
        wait = await self.sync(ctx.clock.now())
        return None if wait is None else Result(requeue_after=wait.total_seconds())

    async def sync(self, now: datetime) -> timedelta | None:
        """Do for every range what can be done now; return when to be called again, if at all."""
        ranges = [found async for found in self._ranges.list()]
        deleted = [found for found in ranges if found.metadata.deletion_timestamp is not None]
        addresses = await self._allocated() if deleted else []
        waits = []
        for found in ranges:
            try:
                if found.metadata.deletion_timestamp is None:
                    await self._protect(found, now)
                elif _is_needed(found, ranges, addresses):
                    await self._report(found, "False", TERMINATING, STILL_USED, now)
                elif (wait := found.metadata.deletion_timestamp + self._grace - now) > timedelta():
                    waits.append(wait)
                else:
                    await self._release(found)
            except NotFound:
                log.debug("ServiceCIDR %s is gone", found.metadata.name)
            except Conflict:
                # The change of another writer is reconciled as well.
                log.debug("ServiceCIDR %s has changed", found.metadata.name)
        return min(waits, default=None)

    async def _allocated(self) -> list[AnyAddress]:
        managed = self._addresses.list(labels={MANAGED_BY_LABEL: IP_ALLOCATOR})
        parsed = [parse_ip(address.metadata.name) async for address in managed]
        return [address for address in parsed if address is not None]

    async def _protect(self, found: ServiceCIDR, now: datetime) -> None:
        finalizers = found.metadata.finalizers
        if SERVICE_CIDR_FINALIZER not in finalizers:
            await self._set_finalizers(found, [*finalizers, SERVICE_CIDR_FINALIZER])
        await self._report(found, "True", "", IS_READY, now)

    async def _release(self, found: ServiceCIDR) -> None:
        finalizers = found.metadata.finalizers
        if SERVICE_CIDR_FINALIZER in finalizers:
            remaining = [each for each in finalizers if each != SERVICE_CIDR_FINALIZER]
            await self._set_finalizers(found, remaining)

    async def _set_finalizers(self, found: ServiceCIDR, finalizers: list[str]) -> None:
        meta = found.metadata
        patch = {"resourceVersion": meta.resource_version, "finalizers": finalizers}
        await self._ranges.patch(meta.name, {"metadata": patch})

    async def _report(
        self, found: ServiceCIDR, status: str, reason: str, message: str, now: datetime
    ) -> None:
        """Apply the condition Ready, unless it is the same already."""
        current = find_condition(found.status.conditions, READY)
        wanted: dict[str, Any] = {"status": status, "reason": reason, "message": message}
        if current is not None and wanted == {
            "status": current.status,
            "reason": current.reason,
            "message": current.message,
        }:
            return
        ready = {"type": READY, **wanted, "lastTransitionTime": format_time(now)}
        document = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "ServiceCIDR",
            "metadata": {"name": found.metadata.name},
            "status": {"conditions": [ready]},
        }
        await self._ranges.status.apply(document, name=found.metadata.name, force=True)


def _is_needed(
    deleted: ServiceCIDR, ranges: Sequence[ServiceCIDR], addresses: Iterable[AnyAddress]
) -> bool:
    """Return whether the range is the only one with some address that is allocated."""
    others = [
        network
        for found in ranges
        if found.metadata.name != deleted.metadata.name
        for network in _networks(found)
    ]
    own = _networks(deleted)
    if all(any(_contains(other, network) for other in others) for network in own):
        return False
    usable, elsewhere = (
        [AddressRange(each) for each in own],
        [AddressRange(each) for each in others],
    )
    return any(
        any(address in each for each in usable) and not any(address in each for each in elsewhere)
        for address in addresses
    )


def _networks(found: ServiceCIDR) -> list[AnyNetwork]:
    parsed = map(parse_cidr, found.spec.cidrs)
    return [cidr.network for cidr in parsed if cidr is not None]


def _contains(outer: AnyNetwork, inner: AnyNetwork) -> bool:
    same_family = outer.version == inner.version
    return same_family and outer.prefixlen <= inner.prefixlen and inner.network_address in outer


def _everything(change: MetadataChange) -> Iterable[NamespacedName]:
    yield _ALL


def _if_deleted(change: MetadataChange) -> Iterable[NamespacedName]:
    """An address that is released may be the last of a deleted range."""
    if change.deleted:
        yield _ALL
