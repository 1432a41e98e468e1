"""Conversion of autoscaling/v1 to the internal type, which is that of v2, and back.

v1 has fields for the target and the current CPU utilization. It keeps the other metrics, their
current values, the conditions and the behavior in annotations, and internal objects have none of
these annotations: so a client that reads v1 and writes it back loses nothing.
"""

from typing import Any

from apimachinery.meta.types import ObjectMeta
from apis.autoscaling import v2
from apis.autoscaling.v1 import types as v1
from apis.autoscaling.v1.kept_annotations import (
    behavior_text,
    conditions_text,
    kept_behavior,
    kept_conditions,
    kept_metrics,
    kept_statuses,
    metrics_text,
    statuses_text,
)
from apis.autoscaling.v1.metric_conversion import reference_to_v1, reference_to_v2
from apis.autoscaling.v2.defaults import (
    BEHAVIOR_ANNOTATION,
    CONDITIONS_ANNOTATION,
    CPU,
    CPU_UTILIZATION,
    CURRENT_METRICS_ANNOTATION,
    METRICS_ANNOTATION,
    cpu_metric,
    drop_kept_annotations,
)


def autoscaler_to_internal(source: v1.HorizontalPodAutoscaler) -> v2.HorizontalPodAutoscaler:
    annotations = source.metadata.annotations
    kept: dict[str, Any] = {
        "metrics": _metrics(source.spec, kept_metrics(annotations)),
        "behavior": kept_behavior(annotations),
    }
    return v2.HorizontalPodAutoscaler(
        metadata=_metadata(source.metadata, {}),
        spec=v2.HorizontalPodAutoscalerSpec(
            scale_target_ref=reference_to_v2(source.spec.scale_target_ref),
            min_replicas=source.spec.min_replicas,
            max_replicas=source.spec.max_replicas,
            **kept,
        ),
        status=_status_to_internal(source),
    )


def autoscaler_from_internal(source: v2.HorizontalPodAutoscaler) -> v1.HorizontalPodAutoscaler:
    return v1.HorizontalPodAutoscaler(
        metadata=_metadata(source.metadata, _kept_texts(source)),
        spec=v1.HorizontalPodAutoscalerSpec(
            scale_target_ref=reference_to_v1(source.spec.scale_target_ref),
            min_replicas=source.spec.min_replicas,
            max_replicas=source.spec.max_replicas,
            target_cpu_utilization_percentage=_target_cpu(source.spec.metrics),
        ),
        status=v1.HorizontalPodAutoscalerStatus(
            observed_generation=source.status.observed_generation,
            last_scale_time=source.status.last_scale_time,
            current_replicas=source.status.current_replicas,
            desired_replicas=source.status.desired_replicas,
            current_cpu_utilization_percentage=_current_cpu(source.status),
        ),
    )


def _metadata(metadata: ObjectMeta, kept: dict[str, str]) -> ObjectMeta:
    annotations = dict(metadata.annotations)
    drop_kept_annotations(annotations)
    return metadata.model_copy(update={"annotations": {**annotations, **kept}})


def _metrics(
    spec: v1.HorizontalPodAutoscalerSpec, kept: list[v2.MetricSpec] | None
) -> list[v2.MetricSpec]:
    metrics = kept or []
    if spec.target_cpu_utilization_percentage is not None:
        metrics = [*metrics, cpu_metric(spec.target_cpu_utilization_percentage)]
    return metrics or [cpu_metric(CPU_UTILIZATION)]


def _status_to_internal(
    source: v1.HorizontalPodAutoscaler,
) -> v2.HorizontalPodAutoscalerStatus:
    status, annotations = source.status, source.metadata.annotations
    metrics = kept_statuses(annotations)
    utilization = status.current_cpu_utilization_percentage
    if metrics is None and utilization is not None:
        current = v2.MetricValueStatus(average_utilization=utilization)
        resource = v2.ResourceMetricStatus(name=CPU, current=current)
        metrics = [v2.MetricStatus(type="Resource", resource=resource)]
    return v2.HorizontalPodAutoscalerStatus(
        observed_generation=status.observed_generation,
        last_scale_time=status.last_scale_time,
        current_replicas=status.current_replicas,
        desired_replicas=status.desired_replicas,
        current_metrics=metrics,
        conditions=kept_conditions(annotations) or [],
    )


def _kept_texts(source: v2.HorizontalPodAutoscaler) -> dict[str, str]:
    kept = {}
    if others := [metric for metric in source.spec.metrics if _utilization(metric) is None]:
        kept[METRICS_ANNOTATION] = metrics_text(others)
    # CPU utilization is kept, too: its status has the raw value beside the percentage.
    if source.status.current_metrics:
        kept[CURRENT_METRICS_ANNOTATION] = statuses_text(source.status.current_metrics)
    if source.spec.behavior is not None:
        kept[BEHAVIOR_ANNOTATION] = behavior_text(source.spec.behavior)
    if source.status.conditions:
        kept[CONDITIONS_ANNOTATION] = conditions_text(source.status.conditions)
    return kept


def _utilization(metric: v2.MetricSpec) -> int | None:
    """Return the target of a metric that v1 has a field for: CPU utilization."""
    resource = metric.resource
    if metric.type != "Resource" or resource is None or resource.name != CPU:
        return None
    return resource.target.average_utilization


def _target_cpu(metrics: list[v2.MetricSpec]) -> int | None:
    utilizations = map(_utilization, metrics)
    return next((value for value in utilizations if value is not None), None)


def _current_cpu(status: v2.HorizontalPodAutoscalerStatus) -> int | None:
    found = None
    for metric in status.current_metrics or ():
        resource = metric.resource
        if metric.type == "Resource" and resource is not None and resource.name == CPU:
            utilization = resource.current.average_utilization
            found = found if utilization is None else utilization
    return found
