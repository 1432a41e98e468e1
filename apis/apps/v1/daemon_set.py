"""DaemonSet: one pod on every node."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.pod_template import PodTemplateSpec

ROLLING_UPDATE: Final = "RollingUpdate"
ON_DELETE: Final = "OnDelete"
TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
"""The annotation that counts the changes of the template."""


class RollingUpdateDaemonSet(Model):
    """How many pods a rolling update replaces at a time."""

    max_unavailable: IntOrString | None = field(
        None,
        proto=1,
        doc=(
            "Number or percentage of nodes, rounded up, whose pod may be unavailable during"
            " the update. 1 by default. Not 0 if `maxSurge` is 0."
        ),
    )
    max_surge: IntOrString | None = field(
        None,
        proto=2,
        doc=(
            "Number or percentage of nodes, rounded up, on which a new pod may start before"
            " the old one is deleted. 0 by default. Not 0 if `maxUnavailable` is 0."
        ),
    )


class DaemonSetUpdateStrategy(Model):
    """How old pods are replaced by new ones."""

    type: str = field(
        "",
        proto=1,
        known=("OnDelete", "RollingUpdate"),
        publish_enum=True,
        doc=(
            "RollingUpdate (the default) replaces pods step by step, OnDelete creates a new"
            " pod when its predecessor has been deleted."
        ),
    )
    rolling_update: RollingUpdateDaemonSet | None = field(
        None, proto=2, doc="Settings of a rolling update; only if the type is RollingUpdate."
    )


class DaemonSetSpec(Model):
    """Desired behavior of a daemon set."""

    selector: LabelSelector | None = field(
        None,
        proto=1,
        required=True,
        doc=(
            "Labels of the pods that belong to the daemon set. It must match the labels of"
            " the template and cannot be changed. Required."
        ),
    )
    template: PodTemplateSpec = field(
        default_factory=PodTemplateSpec,
        proto=2,
        required=True,
        doc=(
            "Pod that is created on every node that its node selector allows. Its restart"
            " policy is Always."
        ),
    )
    update_strategy: DaemonSetUpdateStrategy = field(
        default_factory=DaemonSetUpdateStrategy,
        proto=3,
        doc="How old pods are replaced by new ones when the template changes.",
    )
    min_ready_seconds: Int32 = field(
        0,
        proto=4,
        doc=(
            "Seconds for which a new pod must be ready, without a container crashing,"
            " before it counts as available. 0 by default."
        ),
    )
    revision_history_limit: Int32 | None = field(
        None, proto=6, doc="Number of old revisions that are kept for rollbacks, 10 by default."
    )


class DaemonSetCondition(Model):
    """One aspect of the state of a daemon set."""

    type: str = field("", proto=1, omit_empty=False, required=False, doc="Type of the condition.")
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


class DaemonSetStatus(Model):
    """Observed state of a daemon set."""

    current_number_scheduled: Int32 = field(
        0, proto=1, omit_empty=False, doc="Number of nodes that run the pod and should."
    )
    number_misscheduled: Int32 = field(
        0, proto=2, omit_empty=False, doc="Number of nodes that run the pod and should not."
    )
    desired_number_scheduled: Int32 = field(
        0, proto=3, omit_empty=False, doc="Number of nodes that should run the pod."
    )
    number_ready: Int32 = field(
        0,
        proto=4,
        omit_empty=False,
        doc="Number of nodes that should run the pod, and whose pod is ready.",
    )
    observed_generation: int = field(
        0, proto=5, doc="Generation of the daemon set that this status was computed from."
    )
    updated_number_scheduled: Int32 = field(
        0, proto=6, doc="Number of nodes that run the pod with the current template."
    )
    number_available: Int32 = field(
        0,
        proto=7,
        doc=(
            "Number of nodes that should run the pod, and whose pod has been ready for"
            " `minReadySeconds`."
        ),
    )
    number_unavailable: Int32 = field(
        0,
        proto=8,
        doc=("Number of nodes that should run the pod, and have none that is available."),
    )
    collision_count: Int32 | None = field(
        None,
        proto=9,
        doc=(
            "Number of hash collisions; controllers count them to find a unique name for a"
            " new revision."
        ),
    )
    conditions: list[DaemonSetCondition] = field(
        default_factory=list,
        proto=10,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the daemon set.",
    )


class DaemonSet(Object):
    """DaemonSet runs a copy of a pod on every node, or on every node of a kind."""

    spec: DaemonSetSpec = field(
        default_factory=DaemonSetSpec,
        proto=2,
        required=True,
        doc="Desired behavior of the daemon set.",
    )
    status: DaemonSetStatus = field(
        default_factory=DaemonSetStatus, proto=3, doc="Observed state of the daemon set."
    )
