"""Deployment: a number of equal pods that are updated step by step."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.pod_template import PodTemplateSpec

ROLLING_UPDATE: Final = "RollingUpdate"
RECREATE: Final = "Recreate"


class RollingUpdateDeployment(Model):
    """How many pods a rolling update replaces at a time."""

    max_unavailable: IntOrString | None = field(
        None,
        proto=1,
        doc=(
            "Number or percentage of the desired pods that may be unavailable during the"
            " update; percentages are rounded down. 25% by default. Not 0 if `maxSurge` is"
            " 0."
        ),
    )
    max_surge: IntOrString | None = field(
        None,
        proto=2,
        doc=(
            "Number or percentage of pods that may exist above the desired number;"
            " percentages are rounded up. 25% by default. Not 0 if `maxUnavailable` is 0."
        ),
    )


class DeploymentStrategy(Model):
    """How old pods are replaced by new ones."""

    type: str = field(
        "",
        proto=1,
        known=("Recreate", "RollingUpdate"),
        publish_enum=True,
        doc=(
            "RollingUpdate (the default) replaces pods step by step, Recreate deletes all"
            " old pods before it creates new ones."
        ),
    )
    rolling_update: RollingUpdateDeployment | None = field(
        None, proto=2, doc="Settings of a rolling update; only if the type is RollingUpdate."
    )


class DeploymentSpec(Model):
    """Desired behavior of a deployment."""

    replicas: Int32 | None = field(None, proto=1, doc="Number of desired pods, 1 by default.")
    selector: LabelSelector | None = field(
        None,
        proto=2,
        required=True,
        doc=(
            "Labels of the pods that belong to the deployment. It must match the labels of"
            " the template and cannot be changed. Required."
        ),
    )
    template: PodTemplateSpec = field(
        default_factory=PodTemplateSpec,
        proto=3,
        required=True,
        doc="Pods that the deployment creates. Their restart policy is Always.",
    )
    strategy: DeploymentStrategy = field(
        default_factory=DeploymentStrategy,
        proto=4,
        patch_strategy="retainKeys",
        doc="How old pods are replaced by new ones when the template changes.",
    )
    min_ready_seconds: Int32 = field(
        0,
        proto=5,
        doc=(
            "Seconds for which a new pod must be ready, without a container crashing,"
            " before it counts as available. 0 by default."
        ),
    )
    revision_history_limit: Int32 | None = field(
        None, proto=6, doc="Number of old replica sets that are kept for rollbacks, 10 by default."
    )
    paused: bool = field(
        False, proto=7, doc="Whether changes of the template are not rolled out at present."
    )
    progress_deadline_seconds: Int32 | None = field(
        None,
        proto=9,
        doc=(
            "Seconds without progress after which an update counts as failed; the"
            " deployment keeps trying. Greater than `minReadySeconds`, 600 by default."
        ),
    )


class DeploymentCondition(Model):
    """One aspect of the state of a deployment."""

    type: str = field(
        "",
        proto=1,
        known=("Available", "Progressing", "ReplicaFailure"),
        omit_empty=False,
        required=False,
        doc="Type of the condition: Available, Progressing or ReplicaFailure.",
    )
    status: str = field(
        "",
        proto=2,
        known=("True", "False", "Unknown"),
        omit_empty=False,
        required=False,
        doc="Status of the condition: True, False or Unknown.",
    )
    last_update_time: Time | None = field(
        None,
        proto=6,
        omit_empty=False,
        required=False,
        doc="Time when the condition was last updated.",
    )
    last_transition_time: Time | None = field(
        None, proto=7, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Reason of the last change, one word.")
    message: str = field("", proto=5, doc="Description of the last change.")


class DeploymentStatus(Model):
    """Observed state of a deployment."""

    observed_generation: int = field(
        0, proto=1, doc="Generation of the deployment that this status was computed from."
    )
    replicas: Int32 = field(0, proto=2, doc="Number of pods that are not terminating.")
    updated_replicas: Int32 = field(
        0, proto=3, doc="Number of pods with the current template that are not terminating."
    )
    ready_replicas: Int32 = field(
        0, proto=7, doc="Number of pods with the condition Ready that are not terminating."
    )
    available_replicas: Int32 = field(
        0,
        proto=4,
        doc=("Number of pods that have been ready for `minReadySeconds` and are not terminating."),
    )
    unavailable_replicas: Int32 = field(
        0, proto=5, doc="Number of pods that are missing until all desired pods are available."
    )
    terminating_replicas: Int32 | None = field(
        None,
        proto=9,
        doc=("Number of pods that are being deleted and are not yet Failed or Succeeded."),
    )
    conditions: list[DeploymentCondition] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the deployment.",
    )
    collision_count: Int32 | None = field(
        None,
        proto=8,
        doc=(
            "Number of hash collisions; controllers count them to find a unique name for a"
            " new replica set."
        ),
    )


class Deployment(Object):
    """Deployment keeps a number of equal pods running and updates them step by step."""

    spec: DeploymentSpec = field(
        default_factory=DeploymentSpec,
        proto=2,
        required=True,
        doc="Desired behavior of the deployment.",
    )
    status: DeploymentStatus = field(
        default_factory=DeploymentStatus, proto=3, doc="Observed state of the deployment."
    )
