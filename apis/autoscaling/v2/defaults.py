"""Defaults of autoscaling/v2."""

from typing import Final

from apis.autoscaling.v2.autoscaler import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerBehavior,
    HPAScalingPolicy,
    HPAScalingRules,
)
from apis.autoscaling.v2.metrics import MetricSpec, MetricTarget, ResourceMetricSource

CPU: Final = "cpu"
CPU_UTILIZATION: Final = 80
"""The target in percent of an autoscaler without metrics."""

METRICS_ANNOTATION: Final = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT_METRICS_ANNOTATION: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
CONDITIONS_ANNOTATION: Final = "autoscaling.alpha.kubernetes.io/conditions"
BEHAVIOR_ANNOTATION: Final = "autoscaling.alpha.kubernetes.io/behavior"
KEPT_ANNOTATIONS: Final = (
    METRICS_ANNOTATION,
    BEHAVIOR_ANNOTATION,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
    CURRENT_METRICS_ANNOTATION,
    CONDITIONS_ANNOTATION,
)
"""Annotations in which v1, and versions that are gone, keep what they have no fields for."""


def set_autoscaler_defaults(autoscaler: HorizontalPodAutoscaler) -> None:
    # v2 has a field for everything: annotations that were copied from v1 would contradict it.
    drop_kept_annotations(autoscaler.metadata.annotations)
    spec = autoscaler.spec
    if spec.min_replicas is None:
        spec.min_replicas = 1
    if not spec.metrics:
        spec.metrics = [cpu_metric(CPU_UTILIZATION)]
    if spec.behavior is not None:
        set_behavior_defaults(spec.behavior)


def set_behavior_defaults(behavior: HorizontalPodAutoscalerBehavior) -> None:
    up = behavior.scale_up = behavior.scale_up or HPAScalingRules()
    if up.stabilization_window_seconds is None:
        up.stabilization_window_seconds = 0
    _set_rule_defaults(
        up,
        HPAScalingPolicy(type="Pods", value=4, period_seconds=15),
        HPAScalingPolicy(type="Percent", value=100, period_seconds=15),
    )
    # The stabilization window for scaling down is a setting of the controller.
    down = behavior.scale_down = behavior.scale_down or HPAScalingRules()
    _set_rule_defaults(down, HPAScalingPolicy(type="Percent", value=100, period_seconds=15))


def cpu_metric(utilization: int) -> MetricSpec:
    """Return the metric of a target CPU utilization in percent."""
    target = MetricTarget(type="Utilization", average_utilization=utilization)
    return MetricSpec(type="Resource", resource=ResourceMetricSource(name=CPU, target=target))


def drop_kept_annotations(annotations: dict[str, str]) -> None:
    for name in KEPT_ANNOTATIONS:
        annotations.pop(name, None)


def _set_rule_defaults(rules: HPAScalingRules, *policies: HPAScalingPolicy) -> None:
    if rules.select_policy is None:
        rules.select_policy = "Max"
    if rules.policies is None:
        rules.policies = list(policies)
