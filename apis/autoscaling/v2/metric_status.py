"""Current values of the metrics of autoscaling/v2."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.wire_types import Int32
from apis.autoscaling.v2.metrics import CrossVersionObjectReference, MetricIdentifier


class MetricValueStatus(Model):
    """The current value of a metric."""

    value: Quantity | None = field(None, proto=1, doc="Current value of the metric as a whole.")
    average_value: Quantity | None = field(
        None, proto=2, doc="Current value of the metric, averaged over all pods."
    )
    average_utilization: Int32 | None = field(
        None,
        proto=3,
        doc=(
            "Current utilization of the resource in percent of the pods' requests, averaged"
            " over all pods."
        ),
    )


class ObjectMetricStatus(Model):
    """Current value of a metric of one object."""

    metric: MetricIdentifier = field(
        default_factory=MetricIdentifier, proto=1, required=True, doc="Metric of the object."
    )
    current: MetricValueStatus = field(
        default_factory=MetricValueStatus,
        proto=2,
        required=True,
        doc="Current value of the metric.",
    )
    described_object: CrossVersionObjectReference = field(
        default_factory=CrossVersionObjectReference,
        proto=3,
        required=True,
        doc="Object that the metric describes.",
    )


class PodsMetricStatus(Model):
    """Current value of a metric of the pods."""

    metric: MetricIdentifier = field(
        default_factory=MetricIdentifier, proto=1, required=True, doc="Metric of the pods."
    )
    current: MetricValueStatus = field(
        default_factory=MetricValueStatus,
        proto=2,
        required=True,
        doc="Current value of the metric.",
    )


class ResourceMetricStatus(Model):
    """Current use of a resource by the pods."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the resource.")
    current: MetricValueStatus = field(
        default_factory=MetricValueStatus,
        proto=2,
        required=True,
        doc="Current value of the resource.",
    )


class ContainerResourceMetricStatus(Model):
    """Current use of a resource by one container of each pod."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the resource.")
    current: MetricValueStatus = field(
        default_factory=MetricValueStatus,
        proto=2,
        required=True,
        doc="Current value of the resource.",
    )
    container: str = field("", proto=3, omit_empty=False, doc="Name of the container.")


class ExternalMetricStatus(Model):
    """Current value of a metric from outside the cluster."""

    metric: MetricIdentifier = field(
        default_factory=MetricIdentifier,
        proto=1,
        required=True,
        doc="Metric of the external system.",
    )
    current: MetricValueStatus = field(
        default_factory=MetricValueStatus,
        proto=2,
        required=True,
        doc="Current value of the metric.",
    )


class MetricStatus(Model):
    """The last read value of a metric. `type` says which of the other fields is set."""

    type: str = field(
        "",
        proto=1,
        known=("ContainerResource", "External", "Object", "Pods", "Resource"),
        omit_empty=False,
        doc=("Source of the metric: Resource, ContainerResource, Pods, Object or External."),
    )
    object: ObjectMetricStatus | None = field(
        None, proto=2, doc="Metric of another object of the cluster."
    )
    pods: PodsMetricStatus | None = field(None, proto=3, doc="Metric of the pods of the target.")
    resource: ResourceMetricStatus | None = field(None, proto=4, doc="Resource that the pods use.")
    container_resource: ContainerResourceMetricStatus | None = field(
        None, proto=7, doc="Resource that one container of each pod uses."
    )
    external: ExternalMetricStatus | None = field(
        None, proto=5, doc="Metric from outside the cluster."
    )
