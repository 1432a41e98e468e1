"""Validation of PodDisruptionBudgets."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, GoStruct, Path, invalid, not_supported
from apimachinery.meta.metadata_validation import (
    validate_conditions,
    validate_label_selector,
    validate_nonnegative,
)
from apis.apps.validation.counts import validate_at_most_all, validate_count_or_percentage
from apis.policy.v1 import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from apis.policy.v1.types import ALWAYS_ALLOW, IF_HEALTHY_BUDGET

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")
_EVICTION_POLICIES: Final = (ALWAYS_ALLOW, IF_HEALTHY_BUDGET)


def validate_budget(budget: PodDisruptionBudget) -> FieldErrors:
    spec = budget.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        rule = "minAvailable and maxUnavailable cannot be both set"
        yield invalid(_SPEC, _shown(spec), rule)
    for name, limit in (
        ("minAvailable", spec.min_available),
        ("maxUnavailable", spec.max_unavailable),
    ):
        if limit is not None:
            yield from validate_count_or_percentage(limit, _SPEC.child(name))
            yield from validate_at_most_all(limit, _SPEC.child(name))
    yield from validate_label_selector(spec.selector, _SPEC.child("selector"))
    policy = spec.unhealthy_pod_eviction_policy
    if policy is not None and policy not in _EVICTION_POLICIES:
        path = _SPEC.child("unhealthyPodEvictionPolicy")
        yield not_supported(path, policy, _EVICTION_POLICIES)


def validate_budget_status(status: PodDisruptionBudgetStatus) -> FieldErrors:
    yield from validate_conditions(status.conditions, _STATUS.child("conditions"))
    for name, count in (
        ("disruptionsAllowed", status.disruptions_allowed),
        ("currentHealthy", status.current_healthy),
        ("desiredHealthy", status.desired_healthy),
        ("expectedPods", status.expected_pods),
    ):
        yield from validate_nonnegative(count, _STATUS.child(name))


def _shown(spec: PodDisruptionBudgetSpec) -> GoStruct:
    """Return a spec as Kubernetes' message shows it: with the names of its internal fields."""
    return GoStruct(
        MinAvailable=spec.min_available,
        Selector=spec.selector,
        MaxUnavailable=spec.max_unavailable,
        UnhealthyPodEvictionPolicy=spec.unhealthy_pod_eviction_policy,
    )
