"""Validation of HorizontalPodAutoscalers; their metrics are in `metrics`."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, not_supported, required
from apimachinery.meta.metadata_validation import validate_nonnegative
from apimachinery.scalars.quantity import Quantity
from apis.autoscaling.v2.autoscaler import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
    HorizontalPodAutoscalerStatus,
    HPAScalingPolicy,
    HPAScalingRules,
)
from apis.autoscaling.validation.metrics import EXTERNAL, OBJECT, validate_metrics
from apis.autoscaling.validation.references import validate_reference

MAX_PERIOD_SECONDS: Final = 1800
MAX_STABILIZATION_SECONDS: Final = 3600

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")
_SELECT_POLICIES: Final = ("Disabled", "Max", "Min")
_POLICY_TYPES: Final = ("Percent", "Pods")


def validate_autoscaler(autoscaler: HorizontalPodAutoscaler) -> FieldErrors:
    spec = autoscaler.spec
    if spec.min_replicas is not None and spec.max_replicas < spec.min_replicas:
        rule = "must be greater than or equal to `minReplicas`"
        yield invalid(_SPEC.child("maxReplicas"), spec.max_replicas, rule)
    # The only scalable kind of the core group may be named without a version.
    allow_core = spec.scale_target_ref.kind == "ReplicationController"
    path = _SPEC.child("scaleTargetRef")
    yield from validate_reference(spec.scale_target_ref, path, allow_core=allow_core)
    yield from validate_metrics(spec.metrics, _SPEC.child("metrics"))
    scales_to_zero = any(metric.type in (OBJECT, EXTERNAL) for metric in spec.metrics)
    if spec.min_replicas == 0 and not scales_to_zero:
        rule = "must specify at least one Object or External metric to support scaling to zero"
        yield forbidden(_SPEC.child("metrics"), f"{rule} replicas")
    if spec.behavior is not None:
        for name, rules in (
            ("scaleUp", spec.behavior.scale_up),
            ("scaleDown", spec.behavior.scale_down),
        ):
            yield from _validate_rules(rules, _SPEC.child("behavior", name))
    yield from _validate_replicas(spec)


def validate_autoscaler_status(status: HorizontalPodAutoscalerStatus) -> FieldErrors:
    for position, condition in enumerate(status.conditions):
        if condition.observed_generation is not None:
            path = _STATUS.child("conditions").index(position).child("observedGeneration")
            yield from validate_nonnegative(condition.observed_generation, path)
    yield from validate_nonnegative(status.current_replicas, _STATUS.child("currentReplicas"))
    yield from validate_nonnegative(status.desired_replicas, _STATUS.child("desiredReplicas"))


def _validate_replicas(spec: HorizontalPodAutoscalerSpec) -> FieldErrors:
    minimum, maximum = spec.min_replicas, spec.max_replicas
    if minimum is not None and minimum < 0:
        yield invalid(_SPEC.child("minReplicas"), minimum, "must be greater than or equal to 0")
    path = _SPEC.child("maxReplicas")
    if maximum == 0:
        yield required(path)
    elif maximum < 0:
        yield invalid(path, maximum, "must be greater than or equal to 1")


def _validate_rules(rules: HPAScalingRules | None, path: Path) -> FieldErrors:
    if rules is None:
        return
    yield from _validate_window(rules, path.child("stabilizationWindowSeconds"))
    if rules.select_policy is not None and rules.select_policy not in _SELECT_POLICIES:
        yield not_supported(path.child("selectPolicy"), rules.select_policy, _SELECT_POLICIES)
    if not rules.policies:
        yield required(path.child("policies"), "must specify at least one Policy")
    for position, policy in enumerate(rules.policies or ()):
        yield from _validate_policy(policy, path.child("policies").index(position))
    tolerance = rules.tolerance
    if tolerance is not None and tolerance < Quantity(0):
        rule = "must be greater than or equal to 0"
        yield invalid(path.child("tolerance"), str(tolerance), rule)


def _validate_window(rules: HPAScalingRules, path: Path) -> FieldErrors:
    window = rules.stabilization_window_seconds
    if window is not None and window < 0:
        yield invalid(path, window, "must be greater than or equal to zero")
    if window is not None and window > MAX_STABILIZATION_SECONDS:
        yield invalid(path, window, f"must be less than or equal to {MAX_STABILIZATION_SECONDS}")


def _validate_policy(policy: HPAScalingPolicy, path: Path) -> FieldErrors:
    if policy.type not in _POLICY_TYPES:
        yield not_supported(path.child("type"), policy.type, _POLICY_TYPES)
    if policy.value <= 0:
        yield invalid(path.child("value"), policy.value, "must be greater than zero")
    period, period_path = policy.period_seconds, path.child("periodSeconds")
    if period <= 0:
        yield invalid(period_path, period, "must be greater than zero")
    if period > MAX_PERIOD_SECONDS:
        yield invalid(period_path, period, f"must be less than or equal to {MAX_PERIOD_SECONDS}")
