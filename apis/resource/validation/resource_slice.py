"""Validation of ResourceSlices."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import NULL, FieldErrors, GoStruct, Path, invalid, required
from apimachinery.meta.metadata_validation import validate_immutable
from apis.core.v1.scheduling import NodeSelectorRequirement, NodeSelectorTerm
from apis.core.validation.node_selectors import validate_node_selector
from apis.resource.v1 import CounterSet, Device, ResourcePool, ResourceSlice, ResourceSliceSpec
from apis.resource.validation.device import validate_counters, validate_device
from apis.resource.validation.names import (
    validate_driver_name,
    validate_items,
    validate_label,
    validate_pool_name,
    validate_unique,
)
from apis.resource.validation.node_names import validate_node_name

MAX_DEVICES: Final = 128
MAX_ADVANCED_DEVICES: Final = 64
MAX_COUNTER_SETS: Final = 8

_SPEC: Final = Path("spec")
_ONE_PLACE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)


def validate_resource_slice(new: ResourceSlice, old: ResourceSlice | None = None) -> FieldErrors:
    """Validate a new slice, or one that replaces *old*."""
    spec = new.spec
    yield from validate_driver_name(spec.driver, _SPEC.child("driver"))
    yield from _validate_pool(spec.pool, _SPEC.child("pool"))
    if old is not None:
        yield from _validate_unchanged(spec, old.spec)
    yield from _validate_place(spec)
    if spec.shared_counters and spec.devices:
        yield invalid(_SPEC, "", "only one of `sharedCounters` or `devices` is allowed")
    yield from _validate_devices(spec, old)
    here = _SPEC.child("sharedCounters")
    yield from validate_items(spec.shared_counters, here, MAX_COUNTER_SETS, _validate_counter_set)
    yield from validate_unique(
        spec.shared_counters, here, lambda counters: counters.name, MAX_COUNTER_SETS
    )


def _validate_pool(pool: ResourcePool, path: Path) -> FieldErrors:
    yield from validate_pool_name(pool.name, path.child("name"))
    if pool.resource_slice_count <= 0:
        rule = "must be greater than zero"
        yield invalid(path.child("resourceSliceCount"), pool.resource_slice_count, rule)
    if pool.generation < 0:
        rule = "must be greater than or equal to zero"
        yield invalid(path.child("generation"), pool.generation, rule)


def _validate_unchanged(new: ResourceSliceSpec, old: ResourceSliceSpec) -> FieldErrors:
    yield from validate_immutable(new.pool.name, old.pool.name, _SPEC.child("pool", "name"))
    yield from validate_immutable(new.driver, old.driver, _SPEC.child("driver"))
    if new.node_name != old.node_name:
        shown = NULL if new.node_name is None else new.node_name
        yield invalid(_SPEC.child("nodeName"), shown, "field is immutable")


def _validate_place(spec: ResourceSliceSpec) -> FieldErrors:
    chosen: list[str] = []
    if spec.node_name is not None:
        here = _SPEC.child("nodeName")
        if spec.node_name:
            chosen.append("`nodeName`")
            yield from validate_node_name(spec.node_name, here)
        else:
            yield invalid(here, "", "must be either unset or set to a non-empty string")
    if spec.node_selector is not None:
        chosen.append("`nodeSelector`")
        here = _SPEC.child("nodeSelector")
        yield from validate_node_selector(spec.node_selector, here)
        terms = spec.node_selector.node_selector_terms
        if len(terms) != 1:
            rule = "must have exactly one node selector term"
            yield invalid(
                here.child("nodeSelectorTerms"), [_shown_term(term) for term in terms], rule
            )
    for name, value in (
        ("allNodes", spec.all_nodes),
        ("perDeviceNodeSelection", spec.per_device_node_selection),
    ):
        if value:
            chosen.append(f"`{name}`")
        elif value is not None:
            yield invalid(_SPEC.child(name), False, "must be either unset or set to true")
    if not chosen:
        yield required(_SPEC, _ONE_PLACE)
    elif len(chosen) > 1:
        shown = f"{{{', '.join(chosen)}}}"
        yield invalid(_SPEC, shown, f"{_ONE_PLACE}, but multiple fields are set")


def _shown_term(term: NodeSelectorTerm) -> GoStruct:
    def shown(requirements: Sequence[NodeSelectorRequirement]) -> list[GoStruct] | None:
        return [
            GoStruct(Key=one.key, Operator=one.operator, Values=one.values or None)
            for one in requirements
        ] or None

    return GoStruct(
        MatchExpressions=shown(term.match_expressions), MatchFields=shown(term.match_fields)
    )


def _validate_devices(spec: ResourceSliceSpec, old: ResourceSlice | None) -> FieldErrors:
    advanced = any(device.taints or device.consumes_counters for device in spec.devices)
    limit = MAX_ADVANCED_DEVICES if advanced else MAX_DEVICES
    before = {device.name: device for device in old.spec.devices} if old is not None else {}

    def validate(device: Device, path: Path) -> FieldErrors:
        yield from validate_device(
            device,
            path,
            old=before.get(device.name),
            per_device=bool(spec.per_device_node_selection),
        )

    here = _SPEC.child("devices")
    yield from validate_items(spec.devices, here, limit, validate)
    names = [device.name for device in spec.devices]
    yield from validate_unique(names, here, str, limit)


def _validate_counter_set(counters: CounterSet, path: Path) -> FieldErrors:
    if not counters.name:
        yield required(path.child("name"))
    else:
        yield from validate_label(counters.name, path.child("name"))
    yield from validate_counters(counters.counters, path.child("counters"))
