"""Validation of taints and tolerations of devices."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apimachinery.meta.metadata_validation import validate_label_name
from apimachinery.names import is_label_value
from apis.resource.v1 import DeviceTaint, DeviceToleration
from apis.resource.v1.device import NO_EFFECT, NO_EXECUTE, NO_SCHEDULE
from apis.resource.v1.toleration import EQUAL, EXISTS

MAX_TAINTS: Final = 16

_EFFECTS: Final = (NO_EXECUTE, NO_SCHEDULE, NO_EFFECT)
_OPERATORS: Final = (EQUAL, EXISTS)


def validate_taint(taint: DeviceTaint, path: Path, *, check_effect: bool = True) -> FieldErrors:
    yield from validate_label_name(taint.key, path.child("key"))
    if taint.value:
        yield from _validate_value(taint.value, path.child("value"))
    if not check_effect:
        return
    if not taint.effect:
        yield required(path.child("effect"))
    elif taint.effect not in _EFFECTS:
        yield not_supported(path.child("effect"), taint.effect, _EFFECTS)


def validate_tolerations(tolerations: Sequence[DeviceToleration], path: Path) -> FieldErrors:
    for position, toleration in enumerate(tolerations):
        yield from _validate_toleration(toleration, path.index(position))


def _validate_toleration(toleration: DeviceToleration, path: Path) -> FieldErrors:
    if toleration.key:
        yield from validate_label_name(toleration.key, path.child("key"))
    if toleration.operator == EXISTS:
        if toleration.value:
            rule = "must be empty for operator `Exists`"
            yield invalid(path.child("value"), toleration.value, rule)
    elif toleration.operator == EQUAL:
        yield from _validate_value(toleration.value, path.child("value"))
    else:
        yield not_supported(path.child("operator"), toleration.operator, _OPERATORS)
    if toleration.effect and toleration.effect not in _EFFECTS:
        yield not_supported(path.child("effect"), toleration.effect, _EFFECTS)


def _validate_value(value: str, path: Path) -> FieldErrors:
    for problem in is_label_value(value):
        yield invalid(path, value, problem)
