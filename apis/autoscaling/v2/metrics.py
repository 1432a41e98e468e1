"""Metrics of autoscaling/v2: what is measured, and the value it should have."""

from apimachinery.meta.types import LabelSelector
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.wire_types import Int32


class CrossVersionObjectReference(Model):
    """A reference to an object of any kind in the same namespace."""

    kind: str = field("", proto=1, omit_empty=False, doc="Kind of the object, such as Deployment.")
    name: str = field("", proto=2, omit_empty=False, doc="Name of the object.")
    api_version: str = field("", proto=3, doc="API version of the object, such as `apps/v1`.")


class MetricIdentifier(Model):
    """A metric by its name and, if it has many series, the selector of those that count."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the metric.")
    selector: LabelSelector | None = field(
        None,
        proto=2,
        doc=("Selector that is passed on to the metrics server. Without it only the name counts."),
    )


class MetricTarget(Model):
    """The value that the autoscaler keeps a metric at."""

    type: str = field(
        "",
        proto=1,
        known=("AverageValue", "Utilization", "Value"),
        omit_empty=False,
        doc="How the target is given: Utilization, Value or AverageValue.",
    )
    value: Quantity | None = field(None, proto=2, doc="Target value of the metric as a whole.")
    average_value: Quantity | None = field(
        None, proto=3, doc="Target value of the metric, averaged over all pods."
    )
    average_utilization: Int32 | None = field(
        None,
        proto=4,
        doc=(
            "Target utilization of the resource in percent of the pods' requests, averaged"
            " over all pods. Only for resource metrics."
        ),
    )


class ObjectMetricSource(Model):
    """A metric that describes one object, such as the requests per second of an ingress."""

    described_object: CrossVersionObjectReference = field(
        default_factory=CrossVersionObjectReference,
        proto=1,
        required=True,
        doc="Object that the metric describes.",
    )
    target: MetricTarget = field(
        default_factory=MetricTarget, proto=2, required=True, doc="Target value of the metric."
    )
    metric: MetricIdentifier = field(
        default_factory=MetricIdentifier, proto=3, required=True, doc="Metric of the object."
    )


class PodsMetricSource(Model):
    """A metric of every pod of the target, averaged before it is compared."""

    metric: MetricIdentifier = field(
        default_factory=MetricIdentifier, proto=1, required=True, doc="Metric of the pods."
    )
    target: MetricTarget = field(
        default_factory=MetricTarget,
        proto=2,
        required=True,
        doc="Target value of the metric, an average over the pods.",
    )


class ResourceMetricSource(Model):
    """A resource, such as CPU or memory, that all containers of the pods use."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the resource, `cpu` or `memory`.")
    target: MetricTarget = field(
        default_factory=MetricTarget, proto=2, required=True, doc="Target value of the resource."
    )


class ContainerResourceMetricSource(Model):
    """A resource that one container of each pod uses."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the resource, `cpu` or `memory`.")
    target: MetricTarget = field(
        default_factory=MetricTarget, proto=2, required=True, doc="Target value of the resource."
    )
    container: str = field("", proto=3, omit_empty=False, doc="Name of the container.")


class ExternalMetricSource(Model):
    """A metric from outside the cluster, such as the length of a queue."""

    metric: MetricIdentifier = field(
        default_factory=MetricIdentifier,
        proto=1,
        required=True,
        doc="Metric of the external system.",
    )
    target: MetricTarget = field(
        default_factory=MetricTarget, proto=2, required=True, doc="Target value of the metric."
    )


class MetricSpec(Model):
    """A metric that decides the number of replicas; `type` says which other field is set."""

    type: str = field(
        "",
        proto=1,
        known=("ContainerResource", "External", "Object", "Pods", "Resource"),
        omit_empty=False,
        doc=("Source of the metric: Resource, ContainerResource, Pods, Object or External."),
    )
    object: ObjectMetricSource | None = field(
        None, proto=2, doc="Metric of another object of the cluster."
    )
    pods: PodsMetricSource | None = field(None, proto=3, doc="Metric of the pods of the target.")
    resource: ResourceMetricSource | None = field(None, proto=4, doc="Resource that the pods use.")
    container_resource: ContainerResourceMetricSource | None = field(
        None, proto=7, doc="Resource that one container of each pod uses."
    )
    external: ExternalMetricSource | None = field(
        None, proto=5, doc="Metric from outside the cluster."
    )
