"""Cluster IPs: each allocated address is an IPAddress object, whose name is the address.

Creating the object is the allocation: the store accepts a name once, so servers that share a store
never allocate an address twice. The ranges are those of all ServiceCIDRs that are ready.
"""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from apimachinery.errors import AlreadyExists, Conflict, NotFound
from apimachinery.ip_addresses import canonical_ip, parse_cidr, parse_ip, unmapped
from apimachinery.meta.conditions import find_condition
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import ObjectMeta, Preconditions
from apimachinery.schema import GroupResource, GroupVersionResource
from apis.core.allocation.address_range import AddressRange
from apis.core.v1.service import IPV4, IPV6, Service
from apis.networking.v1.ip_address import (
    IP_ALLOCATOR,
    IP_FAMILY_LABEL,
    MANAGED_BY_LABEL,
    IPAddress,
    IPAddressSpec,
    ParentReference,
)
from apis.networking.v1.service_cidr import READY, ServiceCIDR
from apiserver.context import context_for
from apiserver.storage.cache.entry import EntrySelection

_ADDRESSES: Final = GroupVersionResource("networking.k8s.io", "v1", "ipaddresses")
_RANGES: Final = GroupResource("networking.k8s.io", "servicecidrs")
_SLICE: Final = 1000
"""Addresses that are tried before other requests have their turn."""

FindStore = Callable[[GroupResource], Any]
"""Returns the store of a served resource. Raises KeyError if there is none."""


class AddressNotAllocated(Exception):
    """An address cannot be allocated; the text is the reason."""


class RangeFull(AddressNotAllocated):
    def __init__(self) -> None:
        super().__init__("range is full")


class ClusterIPs:
    """Allocates addresses from the ServiceCIDRs of a server."""

    def __init__(self, find_store: FindStore, random: Random) -> None:
        self._find_store = find_store
        self._random = random

    async def allocate(self, address: str, service: Service, *, dry_run: bool) -> None:
        """Allocate one address. Raises AddressNotAllocated."""
        parsed = parse_ip(address)
        assert parsed is not None, "validated before"
        parsed = unmapped(parsed)
        if not any(parsed in found for found in await self.ranges()):
            raise AddressNotAllocated("the provided network does not match the current range")
        name = canonical_ip(parsed)
        free = not self._is_cached(name) if dry_run else await self._create(name, service)
        if not free:
            raise AddressNotAllocated("provided IP is already allocated")

    async def allocate_next(self, family: str, service: Service, *, dry_run: bool) -> str:
        """Allocate any address of a family and return it. Raises RangeFull."""
        version = 4 if family == IPV4 else 6
        tried = 0
        for chosen in await self.ranges():
            if chosen.network.version != version:
                continue
            for candidate in chosen.candidates(self._random):
                tried += 1
                if tried % _SLICE == 0:
                    await asyncio.sleep(0)
                name = str(candidate)
                if self._is_cached(name):
                    continue
                # Another server may have been faster than the cache.
                if dry_run or await self._create(name, service):
                    return name
        raise RangeFull

    async def release(self, address: str, service: Service) -> None:
        """Release an address of a service; nothing happens if the service does not have it."""
        parsed = parse_ip(address)
        if parsed is None:
            return
        name = canonical_ip(parsed)
        store = self._find_store(_ADDRESSES.group_resource)
        try:
            found: IPAddress = await store.read(name)
            if found.spec.parent_ref != _reference(service):
                return
            options = DeleteOptions(preconditions=Preconditions(uid=found.metadata.uid))
            await store.delete(name, options, context_for("delete", _ADDRESSES, name=name))
        except (NotFound, Conflict):
            return

    async def ranges(self) -> Sequence[AddressRange]:
        """Return the ranges of all ServiceCIDRs that are ready, the oldest first."""
        store = self._find_store(_RANGES)
        page = await store.list(EntrySelection())
        found: list[ServiceCIDR] = [store.decode(entry) for entry in page.entries]
        found.sort(key=lambda cidr: (str(cidr.metadata.creation_timestamp), cidr.metadata.name))
        parsed = (parse_cidr(text) for cidr in found if _is_ready(cidr) for text in cidr.spec.cidrs)
        return [AddressRange(cidr.network) for cidr in parsed if cidr is not None]

    def _is_cached(self, name: str) -> bool:
        store = self._find_store(_ADDRESSES.group_resource)
        return bool(store.is_cached(name))

    async def _create(self, name: str, service: Service) -> bool:
        """Create the IPAddress of a service; return False if the address is allocated."""
        labels = {
            IP_FAMILY_LABEL: IPV6 if ":" in name else IPV4,
            MANAGED_BY_LABEL: IP_ALLOCATOR,
        }
        address = IPAddress(
            metadata=ObjectMeta(name=name, labels=labels),
            spec=IPAddressSpec(parent_ref=_reference(service)),
        )
        store = self._find_store(_ADDRESSES.group_resource)
        try:
            await store.create(address, context_for("create", _ADDRESSES, name=name))
        except AlreadyExists:
            return False
        return True


def _reference(service: Service) -> ParentReference:
    return ParentReference(
        group="",
        resource="services",
        namespace=service.metadata.namespace,
        name=service.metadata.name,
    )


def _is_ready(cidr: ServiceCIDR) -> bool:
    if cidr.metadata.deletion_timestamp is not None:
        return False
    ready = find_condition(cidr.status.conditions, READY)
    return ready is None or ready.status == "True"
