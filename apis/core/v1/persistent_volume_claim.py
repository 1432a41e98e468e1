"""PersistentVolumeClaim: a request for storage, and the template of one."""

from apimachinery.meta.types import LabelSelector, Object, ObjectMeta
from apimachinery.model.model import Model, field
from apis.core.v1.persistent_volume_claim_status import PersistentVolumeClaimStatus
from apis.core.v1.references import TypedLocalObjectReference, TypedObjectReference
from apis.core.v1.resource_requirements import VolumeResourceRequirements


class PersistentVolumeClaimSpec(Model):
    """The storage that a claim requests."""

    access_modes: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        known=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        publish_enum=True,
        doc="Ways in which the volume must be mountable, such as `ReadWriteOnce`.",
    )
    selector: LabelSelector | None = field(
        None, proto=4, doc="Labels of the volumes that can be bound."
    )
    resources: VolumeResourceRequirements = field(
        default_factory=VolumeResourceRequirements,
        proto=2,
        doc="Amount of storage; it may be raised, if the storage class allows that.",
    )
    volume_name: str = field(
        "", proto=3, doc="Name of the PersistentVolume that is bound to the claim."
    )
    storage_class_name: str | None = field(
        None,
        proto=5,
        doc="Storage class that provides the volume; the empty name for volumes without a class.",
    )
    volume_mode: str | None = field(
        None,
        proto=6,
        known=("Block", "Filesystem"),
        publish_enum=True,
        doc="Whether the volume is a file system, the default, or a raw block device.",
    )
    data_source: TypedLocalObjectReference | None = field(
        None,
        proto=7,
        doc=(
            "Claim or snapshot in the namespace with the initial content; the same as "
            "`dataSourceRef`."
        ),
    )
    data_source_ref: TypedObjectReference | None = field(
        None,
        proto=8,
        doc="Object with the initial content of the volume, of any kind that a populator handles.",
    )
    volume_attributes_class_name: str | None = field(
        None,
        proto=9,
        doc="VolumeAttributesClass with the properties of the volume; may be changed later.",
    )


class PersistentVolumeClaimTemplate(Model):
    """The template of a claim that is created for a pod."""

    metadata: ObjectMeta = field(
        default_factory=ObjectMeta,
        proto=1,
        doc="Labels and annotations of the claim; nothing else is allowed.",
    )
    spec: PersistentVolumeClaimSpec = field(
        default_factory=PersistentVolumeClaimSpec,
        proto=2,
        required=True,
        doc="The storage to request; copied to the claim unchanged.",
    )


class PersistentVolumeClaim(Object):
    """PersistentVolumeClaim is a request for storage, bound to the volume that satisfies it."""

    spec: PersistentVolumeClaimSpec = field(
        default_factory=PersistentVolumeClaimSpec, proto=2, doc="The storage that is requested."
    )
    status: PersistentVolumeClaimStatus = field(
        default_factory=PersistentVolumeClaimStatus,
        proto=3,
        doc="Current status of the claim and its volume.",
    )
