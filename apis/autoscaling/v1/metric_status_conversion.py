"""Conversion of current metric values between v2 and the annotations of v1."""

from apis.autoscaling import v2
from apis.autoscaling.v1 import annotated_metrics as annotated
from apis.autoscaling.v1.metric_conversion import (
    converted,
    or_zero,
    reference_to_v1,
    reference_to_v2,
)


def annotated_status(status: v2.MetricStatus) -> annotated.MetricStatus:
    """Return a current value of v2 as an annotation has it."""
    return annotated.MetricStatus(
        type=status.type,
        object=converted(_annotated_object, status.object),
        pods=converted(_annotated_pods, status.pods),
        resource=converted(_annotated_resource, status.resource),
        container_resource=converted(_annotated_container, status.container_resource),
        external=converted(_annotated_external, status.external),
    )


def status_of(status: annotated.MetricStatus) -> v2.MetricStatus:
    """Return a current value of an annotation as v2 has it."""
    return v2.MetricStatus(
        type=status.type,
        object=converted(_object_status, status.object),
        pods=converted(_pods_status, status.pods),
        resource=converted(_resource_status, status.resource),
        external=converted(_external_status, status.external),
        container_resource=converted(_container_status, status.container_resource),
    )


def _annotated_object(status: v2.ObjectMetricStatus) -> annotated.ObjectMetricStatus:
    return annotated.ObjectMetricStatus(
        target=reference_to_v1(status.described_object),
        metric_name=status.metric.name,
        current_value=or_zero(status.current.value),
        selector=status.metric.selector,
        average_value=status.current.average_value,
    )


def _object_status(status: annotated.ObjectMetricStatus) -> v2.ObjectMetricStatus:
    return v2.ObjectMetricStatus(
        metric=v2.MetricIdentifier(name=status.metric_name, selector=status.selector),
        current=v2.MetricValueStatus(
            value=status.current_value, average_value=status.average_value
        ),
        described_object=reference_to_v2(status.target),
    )


def _annotated_pods(status: v2.PodsMetricStatus) -> annotated.PodsMetricStatus:
    return annotated.PodsMetricStatus(
        metric_name=status.metric.name,
        current_average_value=or_zero(status.current.average_value),
        selector=status.metric.selector,
    )


def _pods_status(status: annotated.PodsMetricStatus) -> v2.PodsMetricStatus:
    return v2.PodsMetricStatus(
        metric=v2.MetricIdentifier(name=status.metric_name, selector=status.selector),
        current=v2.MetricValueStatus(average_value=status.current_average_value),
    )


def _annotated_resource(status: v2.ResourceMetricStatus) -> annotated.ResourceMetricStatus:
    return annotated.ResourceMetricStatus(
        name=status.name,
        current_average_utilization=status.current.average_utilization,
        current_average_value=or_zero(status.current.average_value),
    )


def _resource_status(status: annotated.ResourceMetricStatus) -> v2.ResourceMetricStatus:
    return v2.ResourceMetricStatus(
        name=status.name,
        current=v2.MetricValueStatus(
            average_value=status.current_average_value,
            average_utilization=status.current_average_utilization,
        ),
    )


def _annotated_container(
    status: v2.ContainerResourceMetricStatus,
) -> annotated.ContainerResourceMetricStatus:
    return annotated.ContainerResourceMetricStatus(
        name=status.name,
        current_average_utilization=status.current.average_utilization,
        current_average_value=or_zero(status.current.average_value),
        container=status.container,
    )


def _container_status(
    status: annotated.ContainerResourceMetricStatus,
) -> v2.ContainerResourceMetricStatus:
    return v2.ContainerResourceMetricStatus(
        name=status.name,
        current=v2.MetricValueStatus(
            average_value=status.current_average_value,
            average_utilization=status.current_average_utilization,
        ),
        container=status.container,
    )


def _annotated_external(status: v2.ExternalMetricStatus) -> annotated.ExternalMetricStatus:
    return annotated.ExternalMetricStatus(
        metric_name=status.metric.name,
        metric_selector=status.metric.selector,
        current_value=or_zero(status.current.value),
        current_average_value=status.current.average_value,
    )


def _external_status(status: annotated.ExternalMetricStatus) -> v2.ExternalMetricStatus:
    return v2.ExternalMetricStatus(
        metric=v2.MetricIdentifier(name=status.metric_name, selector=status.metric_selector),
        current=v2.MetricValueStatus(
            value=status.current_value, average_value=status.current_average_value
        ),
    )
