"""Printer columns of HorizontalPodAutoscalers."""

from typing import Final

from apimachinery.scalars.quantity import Quantity
from apis.autoscaling.v2.autoscaler import HorizontalPodAutoscaler
from apis.autoscaling.v2.metric_status import MetricStatus, MetricValueStatus
from apis.autoscaling.v2.metrics import MetricSpec, MetricTarget
from apiserver import Column

_UNKNOWN: Final = "<unknown>"
_NIL: Final = "<nil>"
_MAX_TARGETS: Final = 2


def reference(autoscaler: HorizontalPodAutoscaler) -> str:
    target = autoscaler.spec.scale_target_ref
    return f"{target.kind}/{target.name}"


def targets(autoscaler: HorizontalPodAutoscaler) -> str:
    """Return the current and desired value of each metric, of the first two at most."""
    metrics, statuses = autoscaler.spec.metrics, autoscaler.status.current_metrics or []
    shown = [
        _target(metric, statuses[position] if position < len(statuses) else None)
        for position, metric in enumerate(metrics[:_MAX_TARGETS])
    ]
    more = len(metrics) - _MAX_TARGETS
    if more > 0:
        return f"{', '.join(shown)} + {more} more..."
    return ", ".join(shown) or "<none>"


def min_pods(autoscaler: HorizontalPodAutoscaler) -> str:
    minimum = autoscaler.spec.min_replicas
    return "<unset>" if minimum is None else str(minimum)


def max_pods(autoscaler: HorizontalPodAutoscaler) -> int:
    return autoscaler.spec.max_replicas


def replicas(autoscaler: HorizontalPodAutoscaler) -> int:
    return autoscaler.status.current_replicas


def _target(metric: MetricSpec, status: MetricStatus | None) -> str:
    match metric.type:
        case "External" if metric.external:
            external = status.external if status else None
            return _value_or_average(metric.external.target, external.current if external else None)
        case "Object" if metric.object:
            described = status.object if status else None
            return _value_or_average(metric.object.target, described.current if described else None)
        case "Pods" if metric.pods:
            pods = status.pods if status else None
            shown = _quantity(pods.current.average_value) if pods else _UNKNOWN
            return f"{shown}/{_quantity(metric.pods.target.average_value)}"
    return _resource_target(metric, status)


def _resource_target(metric: MetricSpec, status: MetricStatus | None) -> str:
    if metric.type == "Resource" and metric.resource:
        pods = status.resource if status else None
        return _resource(
            metric.resource.name, metric.resource.target, pods.current if pods else None
        )
    if metric.type == "ContainerResource" and metric.container_resource:
        source = metric.container_resource
        container = status.container_resource if status else None
        return _resource(source.name, source.target, container.current if container else None)
    return "<unknown type>"


def _value_or_average(target: MetricTarget, current: MetricValueStatus | None) -> str:
    if target.average_value is not None:
        average = current.average_value if current else None
        return f"{_UNKNOWN if average is None else average}/{target.average_value} (avg)"
    shown = _quantity(current.value) if current else _UNKNOWN
    return f"{shown}/{_quantity(target.value)}"


def _resource(name: str, target: MetricTarget, current: MetricValueStatus | None) -> str:
    if target.average_value is not None:
        shown = _quantity(current.average_value) if current else _UNKNOWN
        return f"{name}: {shown}/{target.average_value}"
    utilization = current.average_utilization if current else None
    shown = _UNKNOWN if utilization is None else f"{utilization}%"
    wanted = "<auto>" if target.average_utilization is None else f"{target.average_utilization}%"
    return f"{name}: {shown}/{wanted}"


def _quantity(value: Quantity | None) -> str:
    return _NIL if value is None else str(value)


AUTOSCALER_COLUMNS: Final = (
    Column("Reference", reference, description="Object that is scaled."),
    Column("Targets", targets, description="Current and desired values of the metrics."),
    Column("MinPods", min_pods, description="Lower limit of the replicas."),
    Column("MaxPods", max_pods, description="Upper limit of the replicas."),
    Column("Replicas", replicas, description="Number of replicas when last observed."),
)
