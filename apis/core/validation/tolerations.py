"""Validation of tolerations and of the effects of taints."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apimachinery.meta.metadata_validation import validate_label_name
from apimachinery.names import is_label_value
from apis.core.v1.scheduling import Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"

_EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)


def validate_tolerations(tolerations: Sequence[Toleration], path: Path) -> FieldErrors:
    for position, toleration in enumerate(tolerations):
        here = path.index(position)
        if toleration.key:
            yield from validate_label_name(toleration.key, here.child("key"))
        elif toleration.operator != "Exists":
            rule = (
                "operator must be Exists when `key` is empty, "
                'which means "match all values and all keys"'
            )
            yield invalid(here.child("operator"), toleration.operator, rule)
        if toleration.toleration_seconds is not None and toleration.effect != NO_EXECUTE:
            rule = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(here.child("effect"), toleration.effect, rule)
        yield from _validate_operator(toleration, here)
        if toleration.effect:
            yield from validate_taint_effect(toleration.effect, here.child("effect"))


def validate_taint_effect(effect: str, path: Path) -> FieldErrors:
    """Validate the effect of a taint, which is required, or the one of a toleration."""
    if not effect:
        yield required(path)
    elif effect not in _EFFECTS:
        yield not_supported(path, effect, _EFFECTS)


def _validate_operator(toleration: Toleration, path: Path) -> FieldErrors:
    operator, value = path.child("operator"), toleration.value
    match toleration.operator:
        case "Equal" | "":
            if errors := is_label_value(value):
                yield invalid(operator, value, ";".join(errors))
        case "Exists":
            if value:
                yield invalid(operator, value, "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt":
            # Known, but not enabled: Kubernetes names them as supported nevertheless.
            yield not_supported(operator, toleration.operator, ("Equal", "Exists", "Lt", "Gt"))
        case unknown:
            yield not_supported(operator, unknown, ("Equal", "Exists"))
