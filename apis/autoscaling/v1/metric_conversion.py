"""Conversion of metrics between v2 and the form in which v1 keeps them in annotations.

The annotated form has no target type. It is derived from the value that is set, so a metric
survives the way there and back if its type is the one of its value, as validation suggests.
"""

from collections.abc import Callable
from typing import TypeVar

from apimachinery.scalars.quantity import Quantity
from apis.autoscaling import v2
from apis.autoscaling.v1 import annotated_metrics as annotated
from apis.autoscaling.v1.types import CrossVersionObjectReference

S = TypeVar("S")
T = TypeVar("T")


def annotated_metric(metric: v2.MetricSpec) -> annotated.MetricSpec:
    """Return a metric of v2 as an annotation has it."""
    return annotated.MetricSpec(
        type=metric.type,
        object=converted(_annotated_object, metric.object),
        pods=converted(_annotated_pods, metric.pods),
        resource=converted(_annotated_resource, metric.resource),
        container_resource=converted(_annotated_container, metric.container_resource),
        external=converted(_annotated_external, metric.external),
    )


def metric_of(metric: annotated.MetricSpec) -> v2.MetricSpec:
    """Return a metric of an annotation as v2 has it."""
    return v2.MetricSpec(
        type=metric.type,
        object=converted(_object_source, metric.object),
        pods=converted(_pods_source, metric.pods),
        resource=converted(_resource_source, metric.resource),
        external=converted(_external_source, metric.external),
        container_resource=converted(_container_source, metric.container_resource),
    )


def reference_to_v1(reference: v2.CrossVersionObjectReference) -> CrossVersionObjectReference:
    return CrossVersionObjectReference(
        kind=reference.kind, name=reference.name, api_version=reference.api_version
    )


def reference_to_v2(reference: CrossVersionObjectReference) -> v2.CrossVersionObjectReference:
    return v2.CrossVersionObjectReference(
        kind=reference.kind, name=reference.name, api_version=reference.api_version
    )


def converted(convert: Callable[[S], T], value: S | None) -> T | None:
    """Return the converted value, or None for None."""
    return None if value is None else convert(value)


def or_zero(value: Quantity | None) -> Quantity:
    return annotated.ZERO if value is None else value


def _annotated_object(source: v2.ObjectMetricSource) -> annotated.ObjectMetricSource:
    return annotated.ObjectMetricSource(
        target=reference_to_v1(source.described_object),
        metric_name=source.metric.name,
        target_value=or_zero(source.target.value),
        selector=source.metric.selector,
        average_value=source.target.average_value,
    )


def _object_source(source: annotated.ObjectMetricSource) -> v2.ObjectMetricSource:
    # A target value is always written: beside an average, zero means that there is none.
    averaged = source.average_value is not None
    value = None if averaged and source.target_value == annotated.ZERO else source.target_value
    return v2.ObjectMetricSource(
        described_object=reference_to_v2(source.target),
        target=v2.MetricTarget(
            type="AverageValue" if averaged else "Value",
            value=value,
            average_value=source.average_value,
        ),
        metric=v2.MetricIdentifier(name=source.metric_name, selector=source.selector),
    )


def _annotated_pods(source: v2.PodsMetricSource) -> annotated.PodsMetricSource:
    return annotated.PodsMetricSource(
        metric_name=source.metric.name,
        target_average_value=or_zero(source.target.average_value),
        selector=source.metric.selector,
    )


def _pods_source(source: annotated.PodsMetricSource) -> v2.PodsMetricSource:
    return v2.PodsMetricSource(
        metric=v2.MetricIdentifier(name=source.metric_name, selector=source.selector),
        target=v2.MetricTarget(type="AverageValue", average_value=source.target_average_value),
    )


def _annotated_resource(source: v2.ResourceMetricSource) -> annotated.ResourceMetricSource:
    return annotated.ResourceMetricSource(
        name=source.name,
        target_average_utilization=source.target.average_utilization,
        target_average_value=source.target.average_value,
    )


def _resource_source(source: annotated.ResourceMetricSource) -> v2.ResourceMetricSource:
    target = _resource_target(source.target_average_utilization, source.target_average_value)
    return v2.ResourceMetricSource(name=source.name, target=target)


def _annotated_container(
    source: v2.ContainerResourceMetricSource,
) -> annotated.ContainerResourceMetricSource:
    return annotated.ContainerResourceMetricSource(
        name=source.name,
        target_average_utilization=source.target.average_utilization,
        target_average_value=source.target.average_value,
        container=source.container,
    )


def _container_source(
    source: annotated.ContainerResourceMetricSource,
) -> v2.ContainerResourceMetricSource:
    target = _resource_target(source.target_average_utilization, source.target_average_value)
    return v2.ContainerResourceMetricSource(
        name=source.name, target=target, container=source.container
    )


def _resource_target(utilization: int | None, value: Quantity | None) -> v2.MetricTarget:
    return v2.MetricTarget(
        type="AverageValue" if utilization is None else "Utilization",
        average_value=value,
        average_utilization=utilization,
    )


def _annotated_external(source: v2.ExternalMetricSource) -> annotated.ExternalMetricSource:
    return annotated.ExternalMetricSource(
        metric_name=source.metric.name,
        metric_selector=source.metric.selector,
        target_value=source.target.value,
        target_average_value=source.target.average_value,
    )


def _external_source(source: annotated.ExternalMetricSource) -> v2.ExternalMetricSource:
    return v2.ExternalMetricSource(
        metric=v2.MetricIdentifier(name=source.metric_name, selector=source.metric_selector),
        target=v2.MetricTarget(
            type="AverageValue" if source.target_value is None else "Value",
            value=source.target_value,
            average_value=source.target_average_value,
        ),
    )
