"""Validation of the conditions that a device must have before a pod is bound."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import NULL, FieldErrors, Path, duplicate, invalid
from apimachinery.meta.metadata_validation import validate_label_name
from apis.resource.validation.names import validate_items, validate_unique

MAX_CONDITIONS: Final = 4


def validate_binding_conditions(
    conditions: Sequence[str], failures: Sequence[str], path: Path
) -> FieldErrors:
    here, there = path.child("bindingConditions"), path.child("bindingFailureConditions")
    yield from validate_items(conditions, here, MAX_CONDITIONS, validate_label_name)
    yield from validate_items(failures, there, MAX_CONDITIONS, validate_label_name)
    yield from validate_unique(conditions, here, str)
    yield from _validate_failures(failures, frozenset(conditions), there)
    if failures and not conditions:
        rule = "bindingConditions are required to use bindingFailureConditions"
        yield invalid(here, NULL, rule)
    if conditions and not failures:
        rule = "bindingFailureConditions are required to use bindingConditions"
        yield invalid(there, NULL, rule)


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
