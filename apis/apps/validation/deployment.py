"""Validation of Deployments."""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    GoStruct,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apis.apps.v1.deployment import (
    RECREATE,
    ROLLING_UPDATE,
    Deployment,
    DeploymentSpec,
    DeploymentStatus,
    DeploymentStrategy,
    RollingUpdateDeployment,
)
from apis.apps.validation.counts import (
    is_zero,
    validate_at_most_all,
    validate_count_or_percentage,
)
from apis.apps.validation.replica_set import validate_replica_template
from apis.apps.validation.workloads import (
    shown_strategy,
    validate_at_most,
    validate_counts,
    validate_not_decremented,
    validate_required_selector,
    validate_unchanged,
)

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")


def validate_deployment(deployment: Deployment, old: Deployment | None = None) -> FieldErrors:
    """Validate a deployment; *old* is the stored one, whose template may break newer rules."""
    spec = deployment.spec
    yield from validate_counts({"replicas": spec.replicas}, _SPEC)
    yield from validate_required_selector(spec.selector, _SPEC.child("selector"), kind="deployment")
    template = old.spec.template if old else None
    yield from validate_replica_template(spec.template, spec.selector, _SPEC, template)
    yield from _validate_strategy(spec.strategy, _SPEC.child("strategy"))
    yield from _validate_times(spec)


def validate_deployment_update(new: Deployment, old: Deployment) -> FieldErrors:
    yield from validate_deployment(new, old)
    yield from validate_unchanged(new.spec.selector, old.spec.selector, _SPEC.child("selector"))


def validate_deployment_status_update(new: Deployment, old: Deployment) -> FieldErrors:
    yield from _validate_status(new.status)
    yield from validate_not_decremented(
        new.status.collision_count, old.status.collision_count, _STATUS.child("collisionCount")
    )


def _validate_strategy(strategy: DeploymentStrategy, path: Path) -> FieldErrors:
    rolling = strategy.rolling_update
    match strategy.type:
        case "Recreate":
            if rolling is not None:
                rule = f"may not be specified when strategy `type` is '{RECREATE}'"
                yield forbidden(path.child("rollingUpdate"), rule)
        case "RollingUpdate":
            if rolling is None:
                rule = "this should be defaulted and never be nil"
                yield required(path.child("rollingUpdate"), rule)
            else:
                yield from _validate_rolling_update(rolling, path.child("rollingUpdate"))
        case kind:
            value = shown_strategy(kind, _shown(rolling))
            yield not_supported(path, value, (RECREATE, ROLLING_UPDATE))


def _validate_rolling_update(rolling: RollingUpdateDeployment, path: Path) -> FieldErrors:
    unavailable, surge = rolling.max_unavailable or 0, rolling.max_surge or 0
    unavailable_path = path.child("maxUnavailable")
    yield from validate_count_or_percentage(unavailable, unavailable_path)
    yield from validate_count_or_percentage(surge, path.child("maxSurge"))
    if is_zero(unavailable) and is_zero(surge):
        yield invalid(unavailable_path, unavailable, "may not be 0 when `maxSurge` is 0")
    yield from validate_at_most_all(unavailable, unavailable_path)


def _validate_times(spec: DeploymentSpec) -> FieldErrors:
    deadline = spec.progress_deadline_seconds
    yield from validate_counts(
        {
            "minReadySeconds": spec.min_ready_seconds,
            "revisionHistoryLimit": spec.revision_history_limit,
            "progressDeadlineSeconds": deadline,
        },
        _SPEC,
    )
    if deadline is not None and deadline <= spec.min_ready_seconds:
        path = _SPEC.child("progressDeadlineSeconds")
        yield invalid(path, deadline, "must be greater than minReadySeconds")


def _validate_status(status: DeploymentStatus) -> FieldErrors:
    yield from validate_counts(
        {
            "observedGeneration": status.observed_generation,
            "replicas": status.replicas,
            "updatedReplicas": status.updated_replicas,
            "readyReplicas": status.ready_replicas,
            "availableReplicas": status.available_replicas,
            "unavailableReplicas": status.unavailable_replicas,
            "terminatingReplicas": status.terminating_replicas,
            "collisionCount": status.collision_count,
        },
        _STATUS,
    )
    parts = {
        "updatedReplicas": status.updated_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
    }
    yield from validate_at_most(parts, _STATUS, status.replicas, "status.replicas")
    available = {"availableReplicas": status.available_replicas}
    yield from validate_at_most(available, _STATUS, status.ready_replicas, "readyReplicas")


def _shown(rolling: RollingUpdateDeployment | None) -> GoStruct | None:
    if rolling is None:
        return None
    return GoStruct(MaxUnavailable=rolling.max_unavailable or 0, MaxSurge=rolling.max_surge or 0)
