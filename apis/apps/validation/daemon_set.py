"""Validation of DaemonSets."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, GoStruct, Path, invalid, not_supported, required
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.selectors.label_selector import try_label_selector
from apis.apps.v1.daemon_set import (
    ON_DELETE,
    ROLLING_UPDATE,
    DaemonSet,
    DaemonSetStatus,
    DaemonSetUpdateStrategy,
    RollingUpdateDaemonSet,
)
from apis.apps.validation.counts import (
    is_zero,
    validate_at_most_all,
    validate_count_or_percentage,
)
from apis.apps.validation.workloads import (
    shown_strategy,
    validate_counts,
    validate_not_decremented,
    validate_runs_for_ever,
    validate_selector_not_empty,
    validate_template_labels,
    validate_unchanged,
)
from apis.core.validation.pod.pod_creation import validate_pod_template_spec

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")


def validate_daemon_set(daemon_set: DaemonSet, old: DaemonSet | None = None) -> FieldErrors:
    """Validate a daemon set; *old* is the stored one, whose template may break newer rules."""
    spec, template_path = daemon_set.spec, _SPEC.child("template")
    yield from validate_label_selector(spec.selector, _SPEC.child("selector"))
    parsed = try_label_selector(spec.selector)
    if parsed is not None:
        yield from validate_template_labels(spec.template, parsed, template_path)
    if spec.selector is not None:
        path = _SPEC.child("selector")
        yield from validate_selector_not_empty(spec.selector, path, kind="daemonset")
    template = old.spec.template if old else None
    yield from validate_pod_template_spec(spec.template, template_path, template)
    yield from validate_runs_for_ever(
        spec.template.spec, template_path.child("spec"), kind="DaemonSet"
    )
    yield from validate_counts({"minReadySeconds": spec.min_ready_seconds}, _SPEC)
    yield from _validate_strategy(spec.update_strategy, _SPEC.child("updateStrategy"))
    yield from validate_counts({"revisionHistoryLimit": spec.revision_history_limit}, _SPEC)


def validate_daemon_set_update(new: DaemonSet, old: DaemonSet) -> FieldErrors:
    yield from validate_unchanged(new.spec.selector, old.spec.selector, _SPEC.child("selector"))
    yield from validate_daemon_set(new, old)


def validate_daemon_set_status_update(new: DaemonSet, old: DaemonSet) -> FieldErrors:
    yield from _validate_status(new.status)
    yield from validate_not_decremented(
        new.status.collision_count, old.status.collision_count, _STATUS.child("collisionCount")
    )


def _validate_strategy(strategy: DaemonSetUpdateStrategy, path: Path) -> FieldErrors:
    rolling = strategy.rolling_update
    if strategy.type == ROLLING_UPDATE:
        if rolling is None:
            yield required(path.child("rollingUpdate"))
        else:
            yield from _validate_rolling_update(rolling, path.child("rollingUpdate"))
    elif strategy.type != ON_DELETE:
        value = shown_strategy(strategy.type, _shown(rolling))
        yield not_supported(path, value, (ROLLING_UPDATE, ON_DELETE))


def _validate_rolling_update(rolling: RollingUpdateDaemonSet, path: Path) -> FieldErrors:
    unavailable, surge = rolling.max_unavailable or 0, rolling.max_surge or 0
    values = {"maxUnavailable": unavailable, "maxSurge": surge}
    for name, value in values.items():
        yield from validate_count_or_percentage(value, path.child(name))
    for name, value in values.items():
        yield from validate_at_most_all(value, path.child(name))
    if is_zero(unavailable) and is_zero(surge):
        yield required(path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0")
    elif not is_zero(unavailable) and not is_zero(surge):
        rule = "may not be set when maxUnavailable is non-zero"
        yield invalid(path.child("maxSurge"), surge, rule)


def _validate_status(status: DaemonSetStatus) -> FieldErrors:
    yield from validate_counts(
        {
            "currentNumberScheduled": status.current_number_scheduled,
            "numberMisscheduled": status.number_misscheduled,
            "desiredNumberScheduled": status.desired_number_scheduled,
            "numberReady": status.number_ready,
            "observedGeneration": status.observed_generation,
            "updatedNumberScheduled": status.updated_number_scheduled,
            "numberAvailable": status.number_available,
            "numberUnavailable": status.number_unavailable,
            "collisionCount": status.collision_count,
        },
        _STATUS,
    )


def _shown(rolling: RollingUpdateDaemonSet | None) -> GoStruct | None:
    if rolling is None:
        return None
    return GoStruct(MaxUnavailable=rolling.max_unavailable or 0, MaxSurge=rolling.max_surge or 0)
