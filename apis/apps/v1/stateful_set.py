"""StatefulSet: pods with names and storage of their own."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.v1.pod_template import PodTemplateSpec

ROLLING_UPDATE: Final = "RollingUpdate"
ON_DELETE: Final = "OnDelete"
ORDERED_READY: Final = "OrderedReady"
PARALLEL: Final = "Parallel"
RETAIN: Final = "Retain"
DELETE: Final = "Delete"


class RollingUpdateStatefulSetStrategy(Model):
    """How many pods a rolling update replaces, and how many at a time."""

    partition: Int32 | None = field(
        None,
        proto=1,
        doc=(
            "Lowest ordinal that is updated; pods below it keep the old template. 0, all"
            " pods, by default."
        ),
    )
    max_unavailable: IntOrString | None = field(
        None,
        proto=2,
        doc=(
            "Number or percentage of pods, rounded up, that may be unavailable during the"
            " update; not 0. By default 1."
        ),
    )


class StatefulSetUpdateStrategy(Model):
    """How old pods are replaced by new ones."""

    type: str = field(
        "",
        proto=1,
        known=("OnDelete", "Recreate", "RollingUpdate"),
        publish_enum=True,
        doc=(
            "RollingUpdate (the default) replaces pods from the largest ordinal to the"
            " smallest, OnDelete creates a new pod when its predecessor has been deleted."
        ),
    )
    rolling_update: RollingUpdateStatefulSetStrategy | None = field(
        None, proto=2, doc="Settings of a rolling update; only if the type is RollingUpdate."
    )


class StatefulSetPersistentVolumeClaimRetentionPolicy(Model):
    """What becomes of the claims that were created from `volumeClaimTemplates`."""

    when_deleted: str = field(
        "",
        proto=1,
        known=("Delete", "Retain"),
        doc=(
            "Whether claims are kept (Retain, the default) or deleted (Delete) when the"
            " stateful set is deleted."
        ),
    )
    when_scaled: str = field(
        "",
        proto=2,
        known=("Delete", "Retain"),
        doc=(
            "Whether claims of superfluous pods are kept (Retain, the default) or deleted"
            " (Delete) when the stateful set is scaled down."
        ),
    )


class StatefulSetOrdinals(Model):
    """How the pods of a stateful set are numbered."""

    start: Int32 = field(
        0, proto=1, omit_empty=False, required=False, doc="Number of the first pod, 0 by default."
    )


class StatefulSetSpec(Model):
    """Desired behavior of a stateful set."""

    replicas: Int32 | None = field(None, proto=1, doc="Number of desired pods, 1 by default.")
    selector: LabelSelector | None = field(
        None,
        proto=2,
        required=True,
        doc=(
            "Labels of the pods that belong to the stateful set. It must match the labels"
            " of the template and cannot be changed. Required."
        ),
    )
    template: PodTemplateSpec = field(
        default_factory=PodTemplateSpec,
        proto=3,
        required=True,
        doc=(
            "Pods that the stateful set creates. Each has a stable name: that of the"
            " stateful set and a number."
        ),
    )
    volume_claim_templates: list[PersistentVolumeClaim] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc=(
            "Claims that every pod gets, one of each, with a name of its own. A claim takes"
            " the place of a volume of the template with the same name. Cannot be changed."
        ),
    )
    service_name: str = field(
        "",
        proto=5,
        omit_empty=False,
        required=False,
        doc=(
            "Name of the headless service that gives the pods their host names. Cannot be changed."
        ),
    )
    pod_management_policy: str = field(
        "",
        proto=6,
        known=("OrderedReady", "Parallel"),
        publish_enum=True,
        doc=(
            "OrderedReady (the default) creates pods one after the other and waits for"
            " each, Parallel creates and deletes all at once. Cannot be changed."
        ),
    )
    update_strategy: StatefulSetUpdateStrategy = field(
        default_factory=StatefulSetUpdateStrategy,
        proto=7,
        doc="How old pods are replaced by new ones when the template changes.",
    )
    revision_history_limit: Int32 | None = field(
        None, proto=8, doc="Number of old revisions that are kept for rollbacks, 10 by default."
    )
    min_ready_seconds: Int32 = field(
        0,
        proto=9,
        doc=(
            "Seconds for which a new pod must be ready, without a container crashing,"
            " before it counts as available. 0 by default."
        ),
    )
    persistent_volume_claim_retention_policy: (
        StatefulSetPersistentVolumeClaimRetentionPolicy | None
    ) = field(
        None,
        proto=10,
        doc=(
            "What becomes of claims when pods, or the stateful set, are deleted. They are"
            " kept by default."
        ),
    )
    ordinals: StatefulSetOrdinals | None = field(None, proto=11, doc="How the pods are numbered.")


class StatefulSetCondition(Model):
    """One aspect of the state of a stateful set."""

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


class StatefulSetStatus(Model):
    """Observed state of a stateful set."""

    observed_generation: int = field(
        0, proto=1, doc="Generation of the stateful set that this status was computed from."
    )
    replicas: Int32 = field(0, proto=2, omit_empty=False, doc="Number of pods.")
    ready_replicas: Int32 = field(0, proto=3, doc="Number of pods with the condition Ready.")
    current_replicas: Int32 = field(
        0, proto=4, doc="Number of pods of the revision `currentRevision`."
    )
    updated_replicas: Int32 = field(
        0, proto=5, doc="Number of pods of the revision `updateRevision`."
    )
    current_revision: str = field(
        "", proto=6, doc="Revision of the pods with the smallest ordinals."
    )
    update_revision: str = field("", proto=7, doc="Revision of the pods with the largest ordinals.")
    collision_count: Int32 | None = field(
        None,
        proto=9,
        doc=(
            "Number of hash collisions; controllers count them to find a unique name for a"
            " new revision."
        ),
    )
    conditions: list[StatefulSetCondition] = field(
        default_factory=list,
        proto=10,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the stateful set.",
    )
    available_replicas: Int32 = field(
        0,
        proto=11,
        omit_empty=False,
        required=False,
        doc="Number of pods that have been ready for `minReadySeconds`.",
    )


class StatefulSet(Object):
    """StatefulSet keeps pods running that have names, and storage, of their own."""

    spec: StatefulSetSpec = field(
        default_factory=StatefulSetSpec,
        proto=2,
        required=True,
        doc="Desired behavior of the stateful set.",
    )
    status: StatefulSetStatus = field(
        default_factory=StatefulSetStatus, proto=3, doc="Observed state of the stateful set."
    )
