"""Rules that all workloads share: selectors, templates of pods that run for ever, counts."""

from collections.abc import Mapping
from typing import Any

from apimachinery.fieldpath import (
    FieldErrors,
    GoStruct,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.internal_form import internal_form
from apimachinery.meta.metadata_validation import validate_label_selector, validate_nonnegative
from apimachinery.meta.types import LabelSelector
from apimachinery.model.semantic_equality import equal
from apimachinery.selectors import label_selector as labels
from apis.core.v1.pod import PodSpec
from apis.core.v1.pod_template import PodTemplateSpec


def validate_required_selector(
    selector: LabelSelector | None, path: Path, *, kind: str
) -> FieldErrors:
    """Validate a selector that must select something; *kind* is for the message."""
    if selector is None:
        yield required(path)
        return
    yield from validate_label_selector(selector, path)
    yield from validate_selector_not_empty(selector, path, kind=kind)


def validate_selector_not_empty(selector: LabelSelector, path: Path, *, kind: str) -> FieldErrors:
    if not selector.match_labels and not selector.match_expressions:
        yield invalid(path, selector, f"empty selector is invalid for {kind}")


def validate_template_labels(
    template: PodTemplateSpec, selector: labels.Selector, path: Path
) -> FieldErrors:
    """Validate that a selector matches the pods that are created."""
    if not selector.matches(template.metadata.labels):
        rule = "`selector` does not match template `labels`"
        yield invalid(
            path.child("metadata", "labels"), internal_form(template.metadata.labels), rule
        )


def validate_runs_for_ever(spec: PodSpec, path: Path, *, kind: str) -> FieldErrors:
    """Refuse pods that end: workloads replace them."""
    if spec.restart_policy != "Always":
        yield not_supported(path.child("restartPolicy"), spec.restart_policy, ("Always",))
    if spec.active_deadline_seconds is not None:
        rule = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden(path.child("activeDeadlineSeconds"), rule)


def validate_counts(counts: Mapping[str, int | None], path: Path) -> FieldErrors:
    """Validate that numbers, by the names of their fields, are not negative."""
    for name, count in counts.items():
        if count is not None:
            yield from validate_nonnegative(count, path.child(name))


def validate_at_most(counts: Mapping[str, int], path: Path, limit: int, named: str) -> FieldErrors:
    """Validate that numbers do not exceed *limit*, which is called *named* in the message."""
    for name, count in counts.items():
        if count > limit:
            yield invalid(path.child(name), count, f"cannot be greater than {named}")


def validate_not_decremented(new: int | None, old: int | None, path: Path) -> FieldErrors:
    """Validate a count of collisions, which only grows."""
    if old is not None and (new is None or new < old):
        yield invalid(path, new or 0, "cannot be decremented")


def validate_unchanged(new: Any, old: Any, path: Path) -> FieldErrors:
    """Validate a field that cannot be changed."""
    if not equal(new, old):
        yield invalid(path, internal_form(new), "field is immutable")


def shown_strategy(kind: str, rolling_update: GoStruct | None) -> GoStruct:
    """Return an update strategy as messages show it."""
    return GoStruct(Type=kind, RollingUpdate=rolling_update)
