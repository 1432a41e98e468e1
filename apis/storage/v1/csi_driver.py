"""CSIDriver: how a CSI driver wants to be called."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field

PERSISTENT: Final = "Persistent"
EPHEMERAL: Final = "Ephemeral"
READ_WRITE_ONCE_WITH_FS_TYPE: Final = "ReadWriteOnceWithFSType"


class TokenRequest(Model):
    """A service account token that a driver needs to mount a volume."""

    audience: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Audience of the token; empty for the audiences of the API server. Required.",
    )
    expiration_seconds: int | None = field(
        None, proto=2, doc="Lifetime of the token in seconds, from 600 to 2^32."
    )


class CSIDriverSpec(Model):
    """How a driver wants to be called."""

    attach_required: bool | None = field(
        None,
        proto=1,
        doc=(
            "Whether volumes have to be attached before they are mounted, which needs a"
            " VolumeAttachment. True by default, and immutable."
        ),
    )
    pod_info_on_mount: bool | None = field(
        None,
        proto=2,
        doc=(
            "Whether the driver gets the name, namespace, UID and service account of the pod when"
            " a volume is mounted. False by default."
        ),
    )
    volume_lifecycle_modes: list[str] = field(
        default_factory=list,
        proto=3,
        known=(EPHEMERAL, PERSISTENT),
        list_type="set",
        doc=(
            "Kinds of volumes that the driver supports: Persistent, which is the default, and"
            " Ephemeral for volumes that live as long as a pod. Immutable."
        ),
    )
    storage_capacity: bool | None = field(
        None,
        proto=4,
        doc=(
            "Whether pods are scheduled only where the driver has reported enough capacity, in"
            " CSIStorageCapacity objects. False by default."
        ),
    )
    fs_group_policy: str | None = field(
        None,
        proto=5,
        enum=("File", "None", READ_WRITE_ONCE_WITH_FS_TYPE),
        publish_enum=False,
        doc=(
            "Whether ownership and permissions of a volume may be changed when it is mounted:"
            " ReadWriteOnceWithFSType, which is the default, decides by the volume, File allows"
            " it, None forbids it."
        ),
    )
    token_requests: list[TokenRequest] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Service account tokens of the pod that the driver needs to mount volumes.",
    )
    requires_republish: bool | None = field(
        None,
        proto=7,
        doc=(
            "Whether the driver is called periodically for a mounted volume, to renew its"
            " contents. False by default."
        ),
    )
    se_linux_mount: bool | None = field(
        None,
        proto=8,
        wire="seLinuxMount",
        doc=(
            "Whether the driver supports the mount option `-o context` of SELinux. False by"
            " default."
        ),
    )
    node_allocatable_update_period_seconds: int | None = field(
        None,
        proto=9,
        doc=(
            "Seconds between updates of the number of volumes that a node can have, at least 10;"
            " without it there are no periodic updates."
        ),
    )
    service_account_token_in_secrets: bool | None = field(
        None,
        proto=10,
        doc=(
            "Whether tokens are passed to the driver as secrets and not as attributes of the"
            " volume, which may be logged; only with `tokenRequests`."
        ),
    )
    prevent_pod_scheduling_if_missing: bool | None = field(
        None,
        proto=11,
        doc="Whether pods are not scheduled to nodes without the driver; false by default.",
    )


class CSIDriver(Object):
    """CSIDriver describes a CSI driver; its name is the name of the driver."""

    spec: CSIDriverSpec = field(
        default_factory=CSIDriverSpec,
        proto=2,
        required=True,
        doc="How the driver wants to be called.",
    )
