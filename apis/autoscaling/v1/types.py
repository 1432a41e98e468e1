"""HorizontalPodAutoscaler of autoscaling/v1, which can only say CPU utilization in its fields."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32


class CrossVersionObjectReference(Model, map_type="atomic"):
    """A reference to an object of any kind in the same namespace."""

    kind: str = field("", proto=1, omit_empty=False, doc="Kind of the object, such as Deployment.")
    name: str = field("", proto=2, omit_empty=False, doc="Name of the object.")
    api_version: str = field("", proto=3, doc="API version of the object, such as `apps/v1`.")


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
    target_cpu_utilization_percentage: Int32 | None = field(
        None,
        proto=4,
        wire="targetCPUUtilizationPercentage",
        doc=(
            "Target CPU utilization in percent of the pods' requests, averaged over all"
            " pods. 80 by default, unless there are other metrics."
        ),
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
        0,
        proto=3,
        omit_empty=False,
        doc="Number of replicas that the target had when it was last observed.",
    )
    desired_replicas: Int32 = field(
        0, proto=4, omit_empty=False, doc="Number of replicas that the metrics last asked for."
    )
    current_cpu_utilization_percentage: Int32 | None = field(
        None,
        proto=5,
        wire="currentCPUUtilizationPercentage",
        doc=("Current CPU utilization in percent of the pods' requests, averaged over all pods."),
    )


class HorizontalPodAutoscaler(Object):
    """HorizontalPodAutoscaler keeps CPU utilization at a target by scaling another object."""

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
