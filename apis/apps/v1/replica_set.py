"""ReplicaSet: a number of equal pods."""

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.pod_template import PodTemplateSpec


class ReplicaSetSpec(Model):
    """Desired behavior of a replica set."""

    replicas: Int32 | None = field(None, proto=1, doc="Number of desired pods, 1 by default.")
    min_ready_seconds: Int32 = field(
        0,
        proto=4,
        doc=(
            "Seconds for which a new pod must be ready, without a container crashing,"
            " before it counts as available. 0 by default."
        ),
    )
    selector: LabelSelector | None = field(
        None,
        proto=2,
        required=True,
        doc=(
            "Labels of the pods that are counted. It must match the labels of the template"
            " and cannot be changed. Required."
        ),
    )
    template: PodTemplateSpec = field(
        default_factory=PodTemplateSpec,
        proto=3,
        doc=("Pods that are created if there are too few. Their restart policy is Always."),
    )


class ReplicaSetCondition(Model):
    """One aspect of the state of a replica set."""

    type: str = field(
        "",
        proto=1,
        known=("ReplicaFailure",),
        omit_empty=False,
        required=False,
        doc="Type of the condition, such as ReplicaFailure.",
    )
    status: str = field(
        "",
        proto=2,
        known=("True", "False", "Unknown"),
        omit_empty=False,
        required=False,
        doc="Status of the condition: True, False or Unknown.",
    )
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Reason of the last change, one word.")
    message: str = field("", proto=5, doc="Description of the last change.")


class ReplicaSetStatus(Model):
    """Observed state of a replica set."""

    replicas: Int32 = field(
        0, proto=1, omit_empty=False, doc="Number of pods that are not terminating."
    )
    fully_labeled_replicas: Int32 = field(
        0,
        proto=2,
        doc=("Number of pods that are not terminating and have all labels of the template."),
    )
    ready_replicas: Int32 = field(
        0, proto=4, doc="Number of pods with the condition Ready that are not terminating."
    )
    available_replicas: Int32 = field(
        0,
        proto=5,
        doc=("Number of pods that have been ready for `minReadySeconds` and are not terminating."),
    )
    terminating_replicas: Int32 | None = field(
        None,
        proto=7,
        doc=("Number of pods that are being deleted and are not yet Failed or Succeeded."),
    )
    observed_generation: int = field(
        0, proto=3, doc="Generation of the replica set that this status was computed from."
    )
    conditions: list[ReplicaSetCondition] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the replica set.",
    )


class ReplicaSet(Object):
    """ReplicaSet keeps a number of equal pods running. Deployments manage replica sets."""

    spec: ReplicaSetSpec = field(
        default_factory=ReplicaSetSpec,
        proto=2,
        required=True,
        doc="Desired behavior of the replica set.",
    )
    status: ReplicaSetStatus = field(
        default_factory=ReplicaSetStatus, proto=3, doc="Observed state of the replica set."
    )
