"""Metrics, conditions and behavior as autoscaling/v1 writes them into annotations.

Metrics have a form of their own there, older than that of v2: the target and its type are not
objects but fields of each source. The behavior has the names of Kubernetes' internal fields.
"""

from apimachinery.meta.types import LabelSelector
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.autoscaling.v1.types import CrossVersionObjectReference

ZERO = Quantity(0)


class ObjectMetricSource(Model):
    """A metric that describes one object, and its target."""

    target: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    metric_name: str = field("", omit_empty=False)
    target_value: Quantity = field(ZERO, omit_empty=False)
    selector: LabelSelector | None = None
    average_value: Quantity | None = None


class PodsMetricSource(Model):
    """A metric of every pod, and its target."""

    metric_name: str = field("", omit_empty=False)
    target_average_value: Quantity = field(ZERO, omit_empty=False)
    selector: LabelSelector | None = None


class ResourceMetricSource(Model):
    """A resource of the pods, and its target."""

    name: str = field("", omit_empty=False)
    target_average_utilization: Int32 | None = None
    target_average_value: Quantity | None = None


class ContainerResourceMetricSource(Model):
    """A resource of one container of each pod, and its target."""

    name: str = field("", omit_empty=False)
    target_average_utilization: Int32 | None = None
    target_average_value: Quantity | None = None
    container: str = field("", omit_empty=False)


class ExternalMetricSource(Model):
    """A metric from outside the cluster, and its target."""

    metric_name: str = field("", omit_empty=False)
    metric_selector: LabelSelector | None = None
    target_value: Quantity | None = None
    target_average_value: Quantity | None = None


class MetricSpec(Model):
    """A metric; `type` says which of the other fields is set."""

    type: str = field("", omit_empty=False)
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None


class ObjectMetricStatus(Model):
    """Current value of a metric of one object."""

    target: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    metric_name: str = field("", omit_empty=False)
    current_value: Quantity = field(ZERO, omit_empty=False)
    selector: LabelSelector | None = None
    average_value: Quantity | None = None


class PodsMetricStatus(Model):
    """Current value of a metric of the pods."""

    metric_name: str = field("", omit_empty=False)
    current_average_value: Quantity = field(ZERO, omit_empty=False)
    selector: LabelSelector | None = None


class ResourceMetricStatus(Model):
    """Current use of a resource by the pods."""

    name: str = field("", omit_empty=False)
    current_average_utilization: Int32 | None = None
    current_average_value: Quantity = field(ZERO, omit_empty=False)


class ContainerResourceMetricStatus(Model):
    """Current use of a resource by one container of each pod."""

    name: str = field("", omit_empty=False)
    current_average_utilization: Int32 | None = None
    current_average_value: Quantity = field(ZERO, omit_empty=False)
    container: str = field("", omit_empty=False)


class ExternalMetricStatus(Model):
    """Current value of a metric from outside the cluster."""

    metric_name: str = field("", omit_empty=False)
    metric_selector: LabelSelector | None = None
    current_value: Quantity = field(ZERO, omit_empty=False)
    current_average_value: Quantity | None = None


class MetricStatus(Model):
    """Current value of a metric; `type` says which of the other fields is set."""

    type: str = field("", omit_empty=False)
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None


class HorizontalPodAutoscalerCondition(Model):
    """One aspect of the state of an autoscaler."""

    type: str = field("", omit_empty=False)
    status: str = field("", omit_empty=False)
    last_transition_time: Time | None = field(None, omit_empty=False)
    reason: str = ""
    message: str = ""
    observed_generation: int | None = None


class HPAScalingPolicy(Model):
    """A limit for the change within a period of time."""

    type: str = field("", wire="Type", omit_empty=False)
    value: Int32 = field(0, wire="Value", omit_empty=False)
    period_seconds: Int32 = field(0, wire="PeriodSeconds", omit_empty=False)


class HPAScalingRules(Model):
    """How fast the number of replicas may change in one direction."""

    stabilization_window_seconds: Int32 | None = field(
        None, wire="StabilizationWindowSeconds", omit_empty=False
    )
    select_policy: str | None = field(None, wire="SelectPolicy", omit_empty=False)
    policies: list[HPAScalingPolicy] | None = field(None, wire="Policies", omit_empty=False)
    tolerance: Quantity | None = field(None, wire="Tolerance", omit_empty=False)


class HorizontalPodAutoscalerBehavior(Model):
    """How fast the number of replicas may change up and down."""

    scale_up: HPAScalingRules | None = field(None, wire="ScaleUp", omit_empty=False)
    scale_down: HPAScalingRules | None = field(None, wire="ScaleDown", omit_empty=False)
