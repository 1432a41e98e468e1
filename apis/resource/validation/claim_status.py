"""Validation of the status of ResourceClaims."""

from functools import partial
from typing import Final, NamedTuple

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    GoStruct,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from apimachinery.ip_addresses import canonical_ip, parse_cidr, unmapped
from apimachinery.meta.metadata_validation import validate_conditions
from apimachinery.names import byte_length
from apis.core.validation.node_selectors import validate_node_selector
from apis.resource.v1 import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceRequestAllocationResult,
    NetworkDeviceData,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from apis.resource.v1.allocation import FROM_CLAIM, FROM_CLASS
from apis.resource.validation.binding_conditions import validate_binding_conditions
from apis.resource.validation.claim import RequestNames
from apis.resource.validation.names import (
    json_size,
    validate_driver_name,
    validate_driver_reference,
    validate_items,
    validate_label,
    validate_pool_name,
    validate_pool_reference,
    validate_uid,
    validate_unique,
)
from apis.resource.validation.selectors import MAX_CONFIG, validate_configuration
from apis.resource.validation.taints import validate_tolerations

MAX_CONSUMERS: Final = 256
MAX_RESULTS: Final = 32
MAX_DEVICE_CONDITIONS: Final = 8
MAX_DATA: Final = 10 * 1024
MAX_INTERFACE_NAME: Final = 256
MAX_HARDWARE_ADDRESS: Final = 128
MAX_IPS: Final = 16

_STATUS: Final = Path("status")
_MAPPED_PREFIX: Final = 96
"""The bits before an IPv4 address that is mapped into IPv6."""
_SOURCES: Final = (FROM_CLAIM, FROM_CLASS)


class DeviceID(NamedTuple):
    """Identifies a device, or one of several allocations of it."""

    driver: str
    pool: str
    device: str
    share: str | None

    @classmethod
    def of(cls, device: DeviceRequestAllocationResult | AllocatedDeviceStatus) -> "DeviceID":
        return cls(device.driver, device.pool, device.device, device.share_id)

    def shown(self) -> GoStruct:
        return GoStruct(
            Driver=self.driver, Pool=self.pool, Device=self.device, ShareID=self.share or ""
        )


def validate_claim_status(new: ResourceClaim, old: ResourceClaim) -> FieldErrors:
    status, before = new.status, old.status
    here = _STATUS.child("reservedFor")
    yield from validate_items(status.reserved_for, here, MAX_CONSUMERS, _validate_consumer)
    yield from validate_unique(status.reserved_for, here, lambda one: one.uid, MAX_CONSUMERS)
    yield from _validate_devices(status)
    yield from _validate_reservation(new, before)
    path = _STATUS.child("allocation")
    if status.allocation is not None and before.allocation is not None:
        if status.allocation != before.allocation:
            yield invalid(path, NULL, "field cannot be modified once set")
    elif status.allocation is not None:
        yield from _validate_allocation(status.allocation, RequestNames.of(new.spec.devices), path)


def _validate_consumer(consumer: ResourceClaimConsumerReference, path: Path) -> FieldErrors:
    for name, value in (
        ("resource", consumer.resource),
        ("name", consumer.name),
        ("uid", consumer.uid),
    ):
        if not value:
            yield required(path.child(name))


def _validate_reservation(claim: ResourceClaim, before: ResourceClaimStatus) -> FieldErrors:
    status, here = claim.status, _STATUS.child("reservedFor")
    if not status.reserved_for:
        return
    if status.allocation is None:
        yield forbidden(here, "may not be specified when `allocated` is not set")
    elif claim.metadata.deletion_timestamp is not None:
        known = {(one.api_group, one.resource, one.name, one.uid) for one in before.reserved_for}
        if any(
            (one.api_group, one.resource, one.name, one.uid) not in known
            for one in status.reserved_for
        ):
            rule = (
                "new entries may not be added while `deallocationRequested` or"
                " `deletionTimestamp` are set"
            )
            yield forbidden(here, rule)


def _validate_devices(status: ResourceClaimStatus) -> FieldErrors:
    results = status.allocation.devices.results if status.allocation is not None else ()
    allocated = {DeviceID.of(result) for result in results}
    here = _STATUS.child("devices")
    for position, device in enumerate(status.devices):
        yield from _validate_device(device, allocated, here.index(position))
    yield from validate_unique(status.devices, here, DeviceID.of)


def _validate_device(
    device: AllocatedDeviceStatus, allocated: set[DeviceID], path: Path
) -> FieldErrors:
    yield from validate_driver_name(device.driver, path.child("driver"))
    yield from validate_pool_name(device.pool, path.child("pool"))
    yield from validate_label(device.device, path.child("device"))
    if device.share_id is not None:
        yield from validate_uid(device.share_id, path.child("shareID"))
    if DeviceID.of(device) not in allocated:
        rule = "must be an allocated device in the claim"
        yield invalid(path, DeviceID.of(device).shown(), rule)
    conditions, here = device.conditions or [], path.child("conditions")
    if len(conditions) > MAX_DEVICE_CONDITIONS:
        yield too_many(here, len(conditions), MAX_DEVICE_CONDITIONS)
    yield from validate_conditions(conditions, here)
    if device.data is not None and json_size(device.data) > MAX_DATA:
        yield too_long(path.child("data"), MAX_DATA)
    if device.network_data is not None:
        yield from _validate_network(device.network_data, path.child("networkData"))


def _validate_network(data: NetworkDeviceData, path: Path) -> FieldErrors:
    if byte_length(data.interface_name) > MAX_INTERFACE_NAME:
        yield too_long(path.child("interfaceName"), MAX_INTERFACE_NAME)
    if byte_length(data.hardware_address) > MAX_HARDWARE_ADDRESS:
        yield too_long(path.child("hardwareAddress"), MAX_HARDWARE_ADDRESS)
    here = path.child("ips")
    yield from validate_items(data.ips, here, MAX_IPS, _validate_interface_address)
    yield from validate_unique(data.ips, here, str, MAX_IPS)


def _validate_interface_address(text: str, path: Path) -> FieldErrors:
    parsed = parse_cidr(text)
    if parsed is None:
        rule = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        yield invalid(path, text, rule)
        return
    mapped = unmapped(parsed.address).max_prefixlen < parsed.address.max_prefixlen
    length = parsed.length - _MAPPED_PREFIX if mapped else parsed.length
    canonical = f"{canonical_ip(parsed.address)}/{length}"
    if canonical != text:
        yield invalid(path, text, f'must be in canonical form ("{canonical}")')


def _validate_allocation(
    allocation: AllocationResult, names: RequestNames, path: Path
) -> FieldErrors:
    devices = path.child("devices")
    yield from validate_items(
        allocation.devices.results,
        devices.child("results"),
        MAX_RESULTS,
        partial(_validate_result, names=names),
    )
    yield from validate_items(
        allocation.devices.config,
        devices.child("config"),
        2 * MAX_CONFIG,
        partial(_validate_config, names=names),
    )
    if allocation.node_selector is not None:
        yield from validate_node_selector(allocation.node_selector, path.child("nodeSelector"))


def _validate_result(
    result: DeviceRequestAllocationResult, path: Path, *, names: RequestNames
) -> FieldErrors:
    yield from names.validate(result.request, path.child("request"))
    yield from validate_driver_reference(result.driver, path.child("driver"))
    yield from validate_pool_reference(result.pool, path.child("pool"))
    yield from validate_label(result.device, path.child("device"))
    yield from validate_binding_conditions(result, path)
    yield from validate_tolerations(result.tolerations, path.child("tolerations"))
    if result.share_id is not None:
        yield from validate_uid(result.share_id, path.child("shareID"))


def _validate_config(
    config: DeviceAllocationConfiguration, path: Path, *, names: RequestNames
) -> FieldErrors:
    if not config.source:
        yield required(path.child("source"))
    elif config.source not in _SOURCES:
        yield not_supported(path.child("source"), config.source, _SOURCES)
    yield from names.validate_all(config.requests, path.child("requests"))
    yield from validate_configuration(config.opaque, path)
