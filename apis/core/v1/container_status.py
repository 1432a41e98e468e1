"""ContainerStatus: what a kubelet reports of a container."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.probe import STOP_SIGNALS
from apis.core.v1.resource_requirements import ResourceRequirements


class ContainerStateWaiting(Model):
    """A container that is not running yet."""

    reason: str = field(
        "", proto=1, doc="Short reason why the container is waiting, such as `ImagePullBackOff`."
    )
    message: str = field("", proto=2, doc="Details of the reason, for humans.")


class ContainerStateRunning(Model):
    """A container that runs."""

    started_at: Time | None = field(
        None,
        proto=1,
        omit_empty=False,
        required=False,
        doc="Time when the container was last started.",
    )


class ContainerStateTerminated(Model):
    """A container that has ended."""

    exit_code: Int32 = field(0, proto=1, omit_empty=False, doc="Exit code of the container.")
    signal: Int32 = field(0, proto=2, doc="Signal that ended the container, if one did.")
    reason: str = field(
        "", proto=3, doc="Short reason of the end, such as `Completed` or `OOMKilled`."
    )
    message: str = field("", proto=4, doc="Last words of the container.")
    started_at: Time | None = field(
        None, proto=5, omit_empty=False, required=False, doc="Time when the container was started."
    )
    finished_at: Time | None = field(
        None, proto=6, omit_empty=False, required=False, doc="Time when the container ended."
    )
    container_id: str = field(
        "", proto=7, wire="containerID", doc="ID of the container, in the form `<type>://<id>`."
    )


class ContainerState(Model):
    """The state of a container: waiting, running or terminated. Waiting, if none is set."""

    waiting: ContainerStateWaiting | None = field(
        None, proto=1, doc="Details of a waiting container."
    )
    running: ContainerStateRunning | None = field(
        None, proto=2, doc="Details of a running container."
    )
    terminated: ContainerStateTerminated | None = field(
        None, proto=3, doc="Details of a terminated container."
    )


class ImageVolumeStatus(Model):
    """Status of a mounted image."""

    image_ref: str = field("", proto=1, required=True, doc="Digest of the image that is mounted.")


class VolumeStatus(Model):
    """Status of a mounted volume."""

    image: ImageVolumeStatus | None = field(None, proto=1, doc="Status of a mounted image.")


class VolumeMountStatus(Model):
    """Status of a volume mount."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the mount, as in `volumeMounts` of the container.",
    )
    mount_path: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Path of the mount, as in `volumeMounts` of the container.",
    )
    read_only: bool = field(False, proto=3, doc="Whether the mount is read-only.")
    recursive_read_only: str | None = field(
        None,
        proto=4,
        known=("Disabled", "Enabled"),
        doc="Whether mounts below it are read-only, too.",
    )
    volume_status: VolumeStatus | None = field(None, proto=5, doc="Status of the mounted volume.")


class LinuxContainerUser(Model):
    """The user of the first process of a container on Linux."""

    uid: int = field(0, proto=1, omit_empty=False, doc="User ID of the process.")
    gid: int = field(0, proto=2, omit_empty=False, doc="Primary group ID of the process.")
    supplemental_groups: list[int] = field(
        default_factory=list, proto=3, list_type="atomic", doc="Further group IDs of the process."
    )


class ContainerUser(Model):
    """The user of the first process of a container."""

    linux: LinuxContainerUser | None = field(
        None, proto=1, doc="The user on Linux; a process may have changed it since."
    )


class ResourceHealth(Model):
    """Health of a single device of a resource."""

    resource_id: str = field(
        "",
        proto=1,
        wire="resourceID",
        omit_empty=False,
        doc="ID of the device, unique for its resource on the node.",
    )
    health: str = field("", proto=2, doc="`Healthy`, `Unhealthy` or `Unknown`.")
    message: str | None = field(None, proto=6, doc="Details of the health, for humans.")


class ResourceStatus(Model):
    """Health of the devices that a container has of one resource."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the resource, or `claim:<claim>/<request>`."
    )
    resources: list[ResourceHealth] = field(
        default_factory=list, proto=2, list_map_keys=("resourceID",), doc="Health of each device."
    )


class ContainerStatus(Model):
    """Status of a container."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the container, as in the spec.")
    state: ContainerState = field(
        default_factory=ContainerState, proto=2, doc="Current state of the container."
    )
    last_state: ContainerState = field(
        default_factory=ContainerState,
        proto=3,
        doc="State before the last restart; only with restarts.",
    )
    ready: bool = field(
        False,
        proto=4,
        omit_empty=False,
        doc="Whether the container passes its readiness probe, or runs without one.",
    )
    restart_count: Int32 = field(
        0,
        proto=5,
        omit_empty=False,
        doc="Number of restarts; dead containers that were removed may be missing in it.",
    )
    image: str = field("", proto=6, omit_empty=False, doc="Image that the container runs.")
    image_id: str = field(
        "",
        proto=7,
        wire="imageID",
        omit_empty=False,
        doc="ID of the image that the container runs.",
    )
    container_id: str = field(
        "", proto=8, wire="containerID", doc="ID of the container, in the form `<type>://<id>`."
    )
    started: bool | None = field(
        None,
        proto=9,
        doc="Whether the container has passed its startup probe, or runs without one.",
    )
    allocated_resources: dict[str, Quantity] = field(
        default_factory=dict,
        proto=10,
        doc="Resources that the node has allocated to the container.",
    )
    resources: ResourceRequirements | None = field(
        None, proto=11, doc="Requests and limits that the running container was configured with."
    )
    volume_mounts: list[VolumeMountStatus] = field(
        default_factory=list,
        proto=12,
        list_map_keys=("mountPath",),
        patch_strategy="merge",
        patch_merge_key="mountPath",
        doc="Status of the volume mounts.",
    )
    user: ContainerUser | None = field(None, proto=13, doc="User of the first process.")
    allocated_resources_status: list[ResourceStatus] = field(
        default_factory=list,
        proto=14,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Health of the devices of the container.",
    )
    stop_signal: str | None = field(
        None,
        proto=15,
        known=STOP_SIGNALS,
        publish_enum=True,
        doc="Signal that stops the container.",
    )
