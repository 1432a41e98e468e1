"""Validation of the metrics of an autoscaler."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.names import is_dns1123_label, is_path_segment_name
from apimachinery.scalars.quantity import Quantity
from apis.autoscaling.v2.metrics import (
    ContainerResourceMetricSource,
    ExternalMetricSource,
    MetricIdentifier,
    MetricSpec,
    MetricTarget,
    ObjectMetricSource,
    PodsMetricSource,
    ResourceMetricSource,
)
from apis.autoscaling.validation.references import validate_reference
from apis.core.validation.resource_names import validate_container_resource_name

OBJECT: Final = "Object"
EXTERNAL: Final = "External"

_FIELDS: Final = {
    OBJECT: "object",
    EXTERNAL: "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""Type of a metric -> its field, in the order in which the fields are validated."""
_TYPES: Final = tuple(sorted(_FIELDS))
_TARGET_TYPES: Final = ("Utilization", "Value", "AverageValue")
_ZERO: Final = Quantity(0)


def validate_metrics(metrics: Sequence[MetricSpec], path: Path) -> FieldErrors:
    for position, metric in enumerate(metrics):
        yield from _validate_metric(metric, path.index(position))


def _validate_metric(metric: MetricSpec, path: Path) -> FieldErrors:
    if not metric.type:
        yield required(path.child("type"), "must specify a metric source type")
    if metric.type not in _FIELDS:
        yield not_supported(path.child("type"), metric.type, _TYPES)
    sources = _sources(metric)
    if sources:
        # Of several sources only the first is validated.
        field, source = next(iter(sources.items()))
        yield from _VALIDATORS[field](source, path.child(field))
    expected = _FIELDS.get(metric.type, "")
    if expected and expected not in sources:
        rule = "must populate information for the given metric source"
        yield required(path.child(expected), rule)
    if len(sources) > 1:
        for field in sources.keys() - {expected}:
            yield forbidden(path.child(field), "must populate the given metric source only")


def _sources(metric: MetricSpec) -> dict[str, Any]:
    sources = {
        "object": metric.object,
        "external": metric.external,
        "pods": metric.pods,
        "resource": metric.resource,
        "containerResource": metric.container_resource,
    }
    return {field: source for field, source in sources.items() if source is not None}


def _validate_object(source: ObjectMetricSource, path: Path) -> FieldErrors:
    reference = source.described_object
    yield from validate_reference(reference, path.child("describedObject"), allow_core=True)
    yield from _validate_identifier(source.metric, path.child("metric"))
    yield from _validate_target(source.target, path.child("target"))
    if source.target.value is None and source.target.average_value is None:
        rule = "must set either a target value or averageValue"
        yield required(path.child("target", "averageValue"), rule)


def _validate_external(source: ExternalMetricSource, path: Path) -> FieldErrors:
    yield from _validate_identifier(source.metric, path.child("metric"))
    yield from _validate_target(source.target, path.child("target"))
    value, average = source.target.value, source.target.average_value
    if value is None and average is None:
        rule = "must set either a target value for metric or a per-pod target"
        yield required(path.child("target", "averageValue"), rule)
    if value is not None and average is not None:
        rule = "may not set both a target value for metric and a per-pod target"
        yield forbidden(path.child("target", "value"), rule)


def _validate_pods(source: PodsMetricSource, path: Path) -> FieldErrors:
    yield from _validate_identifier(source.metric, path.child("metric"))
    yield from _validate_target(source.target, path.child("target"))
    if source.target.average_value is None:
        rule = "must specify a positive target averageValue"
        yield required(path.child("target", "averageValue"), rule)


def _validate_resource(source: ResourceMetricSource, path: Path) -> FieldErrors:
    if not source.name:
        yield required(path.child("name"), "must specify a resource name")
    yield from _validate_resource_target(source.target, path.child("target"))


def _validate_container_resource(source: ContainerResourceMetricSource, path: Path) -> FieldErrors:
    if not source.name:
        yield required(path.child("name"), "must specify a resource name")
    else:
        yield from validate_container_resource_name(source.name, path.child("name"))
    if not source.container:
        yield required(path.child("container"), "must specify a container")
    for error in is_dns1123_label(source.container) if source.container else ():
        yield invalid(path.child("container"), source.container, error)
    yield from _validate_resource_target(source.target, path.child("target"))


def _validate_resource_target(target: MetricTarget, path: Path) -> FieldErrors:
    yield from _validate_target(target, path)
    if target.average_utilization is None and target.average_value is None:
        rule = "must set either a target raw value or a target utilization"
        yield required(path.child("averageUtilization"), rule)
    if target.average_utilization is not None and target.average_value is not None:
        rule = "may not set both a target raw value and a target utilization"
        yield forbidden(path.child("averageValue"), rule)


def _validate_target(target: MetricTarget, path: Path) -> FieldErrors:
    if not target.type:
        yield required(path.child("type"), "must specify a metric target type")
    if target.type not in _TARGET_TYPES:
        rule = "must be either Utilization, Value, or AverageValue"
        yield invalid(path.child("type"), target.type, rule)
    for name, value in (("value", target.value), ("averageValue", target.average_value)):
        if value is not None and value <= _ZERO:
            yield invalid(path.child(name), value, "must be positive")
    utilization = target.average_utilization
    if utilization is not None and utilization < 1:
        yield invalid(path.child("averageUtilization"), utilization, "must be greater than 0")


def _validate_identifier(metric: MetricIdentifier, path: Path) -> FieldErrors:
    if not metric.name:
        yield required(path.child("name"), "must specify a metric name")
    for error in is_path_segment_name(metric.name) if metric.name else ():
        yield invalid(path.child("name"), metric.name, error)


_VALIDATORS: Final[dict[str, Callable[[Any, Path], FieldErrors]]] = {
    "object": _validate_object,
    "external": _validate_external,
    "pods": _validate_pods,
    "resource": _validate_resource,
    "containerResource": _validate_container_resource,
}
