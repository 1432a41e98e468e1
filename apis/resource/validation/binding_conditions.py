"""Validation of the conditions that a device must have before a pod is bound."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, duplicate, invalid
from apimachinery.meta.internal_form import list_form
from apimachinery.meta.metadata_validation import validate_label_name
from apis.resource.v1.allocation import DeviceRequestAllocationResult
from apis.resource.v1.device import Device
from apis.resource.validation.names import validate_items, validate_unique

MAX_CONDITIONS: Final = 4


def validate_binding_conditions(
    device: Device | DeviceRequestAllocationResult, path: Path
) -> FieldErrors:
    conditions, failures = device.binding_conditions, device.binding_failure_conditions
    here, there = path.child("bindingConditions"), path.child("bindingFailureConditions")
    yield from validate_items(conditions, here, MAX_CONDITIONS, validate_label_name)
    yield from validate_items(failures, there, MAX_CONDITIONS, validate_label_name)
    yield from validate_unique(conditions, here, str)
    yield from _validate_failures(failures, frozenset(conditions), there)
    if failures and not conditions:
        rule = "bindingConditions are required to use bindingFailureConditions"
        yield invalid(here, list_form(device, "binding_conditions"), rule)
    if conditions and not failures:
        rule = "bindingFailureConditions are required to use bindingConditions"
        yield invalid(there, list_form(device, "binding_failure_conditions"), rule)


def _validate_failures(
    failures: Sequence[str], conditions: frozenset[str], path: Path
) -> FieldErrors:
    seen: set[str] = set()
    for position, failure in enumerate(failures):
        if failure in seen:
            yield duplicate(path.index(position), failure)
        seen.add(failure)
        if failure in conditions:
            rule = "bindingFailureConditions must not overlap with bindingConditions"
            yield invalid(path.index(position), failure, rule)
