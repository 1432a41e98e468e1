"""Validation of the devices in a ResourceSlice."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    forbidden,
    invalid,
    required,
    too_long,
    too_many,
)
from apimachinery.names import byte_length
from apis.core.validation.node_selectors import validate_node_selector
from apis.resource.v1 import Counter, Device, DeviceAttribute, DeviceCapacity
from apis.resource.v1.device import DeviceCounterConsumption
from apis.resource.validation.binding_conditions import validate_binding_conditions
from apis.resource.validation.names import (
    MAX_DOMAIN,
    MAX_IDENTIFIER,
    shortened_key,
    validate_items,
    validate_label,
    validate_qualified_name,
    validate_unique,
)
from apis.resource.validation.node_names import validate_node_name
from apis.resource.validation.request_policy import validate_request_policy
from apis.resource.validation.taints import MAX_TAINTS, validate_taint

MAX_ATTRIBUTES: Final = 32
MAX_VALUE: Final = 64
MAX_COUNTER_SETS: Final = 2
MAX_COUNTERS: Final = 32

_MAX_KEY: Final = MAX_DOMAIN + 1 + MAX_IDENTIFIER
_MAX_LABEL: Final = 63
_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_PRE_RELEASE: Final = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = r"[0-9a-zA-Z-]+"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-{_PRE_RELEASE}(?:\.{_PRE_RELEASE})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?"
)
_VALUE_FIELDS: Final = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
_ONE_PLACE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
    " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)

T = TypeVar("T")


def validate_device(
    device: Device, path: Path, *, old: Device | None, per_device: bool
) -> FieldErrors:
    """Validate a device; *per_device* says whether it names its own nodes."""
    yield from validate_label(device.name, path.child("name"))
    count = len(device.attributes) + len(device.capacity)
    if count > MAX_ATTRIBUTES:
        rule = f"the total number of attributes and capacities must not exceed {MAX_ATTRIBUTES}"
        yield invalid(path, count, rule)
    yield from _validate_map(device.attributes, path.child("attributes"), _validate_attribute)
    if old is None or old.capacity != device.capacity:
        shared = bool(device.allow_multiple_allocations)
        validate = _validate_shared_capacity if shared else _validate_exclusive_capacity
        yield from _validate_map(device.capacity, path.child("capacity"), validate)
    if old is None or old.taints != device.taints:
        yield from validate_items(device.taints, path.child("taints"), MAX_TAINTS, validate_taint)
    here = path.child("consumesCounters")
    yield from validate_items(
        device.consumes_counters, here, MAX_COUNTER_SETS, _validate_consumption
    )
    yield from validate_unique(
        device.consumes_counters, here, lambda one: one.counter_set, MAX_COUNTER_SETS
    )
    yield from _validate_place(device, path, per_device=per_device)
    yield from validate_binding_conditions(device, path)


def validate_counters(counters: Mapping[str, Counter], path: Path) -> FieldErrors:
    if not counters:
        yield required(path)
    elif len(counters) > MAX_COUNTERS:
        yield too_many(path, len(counters), MAX_COUNTERS)
    else:
        for name in sorted(counters):
            yield from validate_label(name, path)


def _validate_map(
    values: Mapping[str, T], path: Path, validate: Callable[[T, Path], FieldErrors]
) -> FieldErrors:
    for name, value in sorted(values.items(), key=lambda item: item[0]):
        yield from validate_qualified_name(name, path)
        yield from validate(value, path.key(shortened_key(name, _MAX_KEY)))


def _validate_attribute(attribute: DeviceAttribute, path: Path) -> FieldErrors:
    if attribute.string is not None and byte_length(attribute.string) > MAX_VALUE:
        yield too_long(path.child("string"), MAX_VALUE)
    version = attribute.version
    if version is not None and not _VERSION.fullmatch(version):
        rule = "must be a string compatible with semver.org spec 2.0.0"
        yield invalid(path.child("version"), version, rule)
    if version is not None and byte_length(version) > MAX_VALUE:
        yield too_long(path.child("version"), MAX_VALUE)
    values = {
        "int": attribute.int_,
        "bool": attribute.bool_,
        "string": attribute.string,
        "version": attribute.version,
    }
    chosen = [name for name, value in values.items() if value is not None]
    if not chosen:
        yield invalid(path, "", f"must specify one of: {_VALUE_FIELDS}")
    elif len(chosen) > 1:
        shown = f"{{{', '.join(chosen)}}}"
        yield invalid(path, shown, f"must specify exactly one of: {_VALUE_FIELDS}")


def _validate_shared_capacity(capacity: DeviceCapacity, path: Path) -> FieldErrors:
    if capacity.request_policy is not None:
        yield from validate_request_policy(
            capacity.request_policy, capacity.value, path.child("requestPolicy")
        )


def _validate_exclusive_capacity(capacity: DeviceCapacity, path: Path) -> FieldErrors:
    if capacity.request_policy is not None:
        yield forbidden(path.child("requestPolicy"), "allowMultipleAllocations must be true")


def _validate_consumption(consumption: DeviceCounterConsumption, path: Path) -> FieldErrors:
    if not consumption.counter_set:
        yield required(path.child("counterSet"))
    else:
        yield from validate_label(consumption.counter_set, path.child("counterSet"))
    yield from validate_counters(consumption.counters, path.child("counters"))


def _validate_place(device: Device, path: Path, *, per_device: bool) -> FieldErrors:
    places = (device.node_name, device.node_selector, device.all_nodes)
    if not per_device:
        if any(place is not None for place in places):
            rule = (
                "`nodeName`, `nodeSelector` and `allNodes` can only be set if"
                " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
            )
            yield invalid(path, NULL, rule)
        return
    chosen: list[str] = []
    if device.node_name is not None:
        if device.node_name:
            chosen.append("`nodeName`")
            yield from validate_node_name(device.node_name, path.child("nodeName"))
        else:
            yield invalid(path.child("nodeName"), "", "must not be empty")
    if device.node_selector is not None:
        chosen.append("`nodeSelector`")
        yield from validate_node_selector(device.node_selector, path.child("nodeSelector"))
    if device.all_nodes:
        chosen.append("`allNodes`")
    elif device.all_nodes is not None:
        yield invalid(path.child("allNodes"), False, "must be either unset or set to true")
    if not chosen:
        yield required(path, _ONE_PLACE)
    elif len(chosen) > 1:
        yield invalid(path, f"{{{', '.join(chosen)}}}", _ONE_PLACE)
