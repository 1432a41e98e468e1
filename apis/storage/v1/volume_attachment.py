"""VolumeAttachment: that a volume is to be attached to a node, and whether it is."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.persistent_volume import PersistentVolumeSpec


class VolumeAttachmentSource(Model):
    """The volume to attach; exactly one field is set."""

    persistent_volume_name: str | None = field(
        None, proto=1, doc="Name of the PersistentVolume to attach."
    )
    inline_volume_spec: PersistentVolumeSpec | None = field(
        None,
        proto=2,
        doc=(
            "Spec of a volume that a pod defines inline, translated to a PersistentVolume; only"
            " for migration to CSI drivers."
        ),
    )


class VolumeAttachmentSpec(Model):
    """What is attached, where, and by whom. Immutable."""

    attacher: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the CSI driver that attaches the volume. Required.",
    )
    source: VolumeAttachmentSource = field(
        default_factory=VolumeAttachmentSource,
        proto=2,
        required=True,
        doc="Volume to attach. Required.",
    )
    node_name: str = field(
        "", proto=3, omit_empty=False, doc="Node to attach the volume to. Required."
    )


class VolumeError(Model):
    """Failure of an operation on a volume."""

    time: Time | None = field(
        None, proto=1, omit_empty=False, required=False, doc="Time of the failure."
    )
    message: str = field(
        "",
        proto=2,
        doc="Description of the failure, at most 1024 bytes, without sensitive information.",
    )
    error_code: Int32 | None = field(
        None, proto=3, doc="Code of the gRPC error that the driver returned."
    )


class VolumeAttachmentStatus(Model):
    """State of an attachment, set by the driver."""

    attached: bool = field(
        False, proto=1, omit_empty=False, doc="Whether the volume is attached. Required."
    )
    attachment_metadata: dict[str, str] = field(
        default_factory=dict,
        proto=2,
        doc="Information that the attach operation returned for the mount operation.",
    )
    attach_error: VolumeError | None = field(
        None, proto=3, doc="Last failure of the attach operation; unset after success."
    )
    detach_error: VolumeError | None = field(
        None, proto=4, doc="Last failure of the detach operation; unset after success."
    )


class VolumeAttachment(Object):
    """VolumeAttachment asks a driver to attach a volume to a node; its deletion, to detach it."""

    spec: VolumeAttachmentSpec = field(
        default_factory=VolumeAttachmentSpec,
        proto=2,
        required=True,
        doc="What is attached, and where. Immutable.",
    )
    status: VolumeAttachmentStatus = field(
        default_factory=VolumeAttachmentStatus, proto=3, doc="State of the attachment."
    )
