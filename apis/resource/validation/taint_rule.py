"""Validation of DeviceTaintRules."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, too_many
from apimachinery.meta.metadata_validation import validate_conditions
from apis.resource.v1 import DeviceTaintRule, DeviceTaintRuleStatus, DeviceTaintSelector
from apis.resource.validation.names import (
    validate_driver_name,
    validate_label,
    validate_pool_name,
)
from apis.resource.validation.taints import validate_taint

MAX_CONDITIONS: Final = 8

_SPEC: Final = Path("spec")


def validate_taint_rule(new: DeviceTaintRule, old: DeviceTaintRule | None = None) -> FieldErrors:
    """Validate a new rule, or one that replaces *old*."""
    spec = new.spec
    if spec.device_selector is not None:
        yield from _validate_selector(spec.device_selector, _SPEC.child("deviceSelector"))
    same = old is not None and old.spec.taint.effect == spec.taint.effect
    yield from validate_taint(spec.taint, _SPEC.child("taint"), check_effect=not same)


def validate_taint_rule_status(status: DeviceTaintRuleStatus) -> FieldErrors:
    path = Path("status", "conditions")
    yield from validate_conditions(status.conditions, path)
    if len(status.conditions) > MAX_CONDITIONS:
        yield too_many(path, len(status.conditions), MAX_CONDITIONS)


def _validate_selector(selector: DeviceTaintSelector, path: Path) -> FieldErrors:
    if selector.driver is not None:
        yield from validate_driver_name(selector.driver, path.child("driver"))
    if selector.pool is not None:
        yield from validate_pool_name(selector.pool, path.child("pool"))
    if selector.device is not None:
        yield from validate_label(selector.device, path.child("device"))
