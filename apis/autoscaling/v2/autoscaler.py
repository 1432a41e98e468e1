"""HorizontalPodAutoscaler of autoscaling/v2, which is also the internal type."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.autoscaling.v2.metric_status import MetricStatus
from apis.autoscaling.v2.metrics import CrossVersionObjectReference, MetricSpec


class HPAScalingPolicy(Model):
    """A limit for the change within a period of time."""

    type: str = field(
        "",
        proto=1,
        known=("Percent", "Pods"),
        omit_empty=False,
        doc="Unit of the value: Pods or Percent of the current replicas.",
    )
    value: Int32 = field(
        0, proto=2, omit_empty=False, doc="Largest allowed change. Greater than zero."
    )
    period_seconds: Int32 = field(
        0, proto=3, omit_empty=False, doc="Length of the period in seconds, from 1 to 1800."
    )


class HPAScalingRules(Model):
    """How fast the number of replicas may change in one direction."""

    stabilization_window_seconds: Int32 | None = field(
        None,
        proto=3,
        doc=(
            "Seconds for which past recommendations are considered, so that replicas do not"
            " flap; at most 3600. By default 0 for scaling up, and 300 for scaling down."
        ),
    )
    select_policy: str | None = field(
        None,
        proto=1,
        known=("Disabled", "Max", "Min"),
        doc=(
            "Which policy counts if there are several: Max (the default) allows the largest"
            " change, Min the smallest, Disabled none at all."
        ),
    )
    policies: list[HPAScalingPolicy] | None = field(
        None,
        proto=2,
        list_type="atomic",
        doc=(
            "Policies that limit the change. Without any, the default policies of the"
            " direction apply."
        ),
    )
    tolerance: Quantity | None = field(
        None,
        proto=4,
        doc=(
            "Ratio between current and desired value within which nothing is scaled."
            " Without it the tolerance of the cluster applies, 10 percent by default."
        ),
    )


class HorizontalPodAutoscalerBehavior(Model):
    """How fast the number of replicas may change up and down."""

    scale_up: HPAScalingRules | None = field(
        None,
        proto=1,
        doc=(
            "Rules for adding replicas. By default at most 4 pods or 100 percent in 15"
            " seconds, whichever is more."
        ),
    )
    scale_down: HPAScalingRules | None = field(
        None,
        proto=2,
        doc=(
            "Rules for removing replicas. By default all superfluous replicas at once,"
            " after 300 seconds."
        ),
    )


class HorizontalPodAutoscalerSpec(Model):
    """Desired behavior of an autoscaler."""

    scale_target_ref: CrossVersionObjectReference = field(
        default_factory=CrossVersionObjectReference,
        proto=1,
        required=True,
        doc="Object that is scaled; it must have a scale subresource.",
    )
    min_replicas: Int32 | None = field(
        None, proto=2, doc="Lower limit of the replicas, 1 by default."
    )
    max_replicas: Int32 = field(
        0,
        proto=3,
        omit_empty=False,
        doc="Upper limit of the replicas, not less than `minReplicas`. Required.",
    )
    metrics: list[MetricSpec] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc=(
            "Metrics that decide the number of replicas. The largest of the numbers they"
            " ask for is chosen. By default 80 percent average CPU utilization."
        ),
    )
    behavior: HorizontalPodAutoscalerBehavior | None = field(
        None,
        proto=5,
        doc=("How fast the number of replicas may change. Defaults are used for what is not set."),
    )


class HorizontalPodAutoscalerCondition(Model):
    """One aspect of the state of an autoscaler."""

    type: str = field(
        "",
        proto=1,
        known=("AbleToScale", "ScalingActive", "ScalingLimited"),
        omit_empty=False,
        doc="Type of the condition: AbleToScale, ScalingActive or ScalingLimited.",
    )
    status: str = field(
        "",
        proto=2,
        known=("True", "False", "Unknown"),
        omit_empty=False,
        doc="Status of the condition: True, False or Unknown.",
    )
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Reason of the last change, one word.")
    message: str = field("", proto=5, doc="Description of the last change.")
    observed_generation: int | None = field(
        None, proto=6, doc="Generation of the autoscaler that the condition was computed from."
    )


class HorizontalPodAutoscalerStatus(Model):
    """Observed state of an autoscaler."""

    observed_generation: int | None = field(
        None, proto=1, doc="Generation of the autoscaler that this status was computed from."
    )
    last_scale_time: Time | None = field(
        None, proto=2, doc="Time when the number of replicas was last changed."
    )
    current_replicas: Int32 = field(
        0, proto=3, doc="Number of replicas that the target had when it was last observed."
    )
    desired_replicas: Int32 = field(
        0, proto=4, omit_empty=False, doc="Number of replicas that the metrics last asked for."
    )
    current_metrics: list[MetricStatus] | None = field(
        None,
        proto=5,
        omit_empty=False,
        list_type="atomic",
        required=False,
        doc="Last read values of the metrics.",
    )
    conditions: list[HorizontalPodAutoscalerCondition] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the autoscaler: whether it can scale, and why not.",
    )


class HorizontalPodAutoscaler(Object):
    """HorizontalPodAutoscaler keeps metrics at their targets by scaling another object."""

    spec: HorizontalPodAutoscalerSpec = field(
        default_factory=HorizontalPodAutoscalerSpec,
        proto=2,
        required=True,
        doc="Desired behavior of the autoscaler.",
    )
    status: HorizontalPodAutoscalerStatus = field(
        default_factory=HorizontalPodAutoscalerStatus,
        proto=3,
        doc="Observed state of the autoscaler.",
    )
