"""ReplicationController: keeps a number of pods running; Deployments have replaced it."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.pod_template import PodTemplateSpec


class ReplicationControllerSpec(Model):
    """The pods of a ReplicationController."""

    replicas: Int32 | None = field(
        None, proto=1, published_default=1, doc="Number of desired pods; defaults to 1."
    )
    min_ready_seconds: Int32 = field(
        0,
        proto=4,
        published_default=0,
        doc="Seconds that a new pod must be ready for to be available; defaults to 0.",
    )
    selector: dict[str, str] = field(
        default_factory=dict,
        proto=2,
        map_type="atomic",
        doc="Labels of the pods that are counted; defaults to the labels of the template.",
    )
    template: PodTemplateSpec | None = field(
        None, proto=3, doc="The pods that are created when there are too few."
    )


class ReplicationControllerCondition(Model):
    """A condition of a ReplicationController."""

    type: str = field(
        "", proto=1, omit_empty=False, doc="Type of the condition, such as `ReplicaFailure`."
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("False", "True", "Unknown"),
        doc="Status of the condition.",
    )
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Short, machine-readable reason of the last transition.")
    message: str = field("", proto=5, doc="Details of the last transition, for humans.")


class ReplicationControllerStatus(Model):
    """Current status of a ReplicationController."""

    replicas: Int32 = field(
        0, proto=1, omit_empty=False, doc="Number of pods that the controller last observed."
    )
    fully_labeled_replicas: Int32 = field(
        0, proto=2, doc="Number of pods with all labels of the template."
    )
    ready_replicas: Int32 = field(0, proto=4, doc="Number of ready pods.")
    available_replicas: Int32 = field(
        0, proto=5, doc="Number of pods that have been ready for `minReadySeconds`."
    )
    observed_generation: int = field(
        0, proto=3, doc="Generation of the controller that the status reports on."
    )
    conditions: list[ReplicationControllerCondition] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Current conditions of the controller.",
    )


class ReplicationController(Object):
    """ReplicationController keeps a number of pods running at any one time."""

    spec: ReplicationControllerSpec = field(
        default_factory=ReplicationControllerSpec,
        proto=2,
        doc="Desired behavior of the controller.",
    )
    status: ReplicationControllerStatus = field(
        default_factory=ReplicationControllerStatus,
        proto=3,
        doc="Most recently observed status of the controller.",
    )
