"""Container: an image that runs in a pod, with its ports, mounts and resources."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.env import EnvFromSource, EnvVar
from apis.core.v1.probe import Lifecycle, Probe
from apis.core.v1.resource_requirements import ContainerResizePolicy, ResourceRequirements
from apis.core.v1.security_context import SecurityContext


class ContainerPort(Model):
    """A port that a container listens on."""

    name: str = field(
        "", proto=1, doc="Name of the port, unique in the pod, which services can refer to."
    )
    host_port: Int32 = field(
        0, proto=2, doc="Port of the node that is forwarded to the container; most pods need none."
    )
    container_port: Int32 = field(
        0, proto=3, omit_empty=False, doc="Port that the container listens on."
    )
    protocol: str = field(
        "TCP",
        proto=4,
        known=("SCTP", "TCP", "UDP"),
        publish_enum=True,
        doc="Protocol of the port; defaults to TCP.",
    )
    host_ip: str = field(
        "", proto=5, wire="hostIP", doc="Address of the node that `hostPort` is bound to."
    )


class VolumeMount(Model):
    """The mount of a volume in a container."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the volume in the pod.")
    read_only: bool = field(
        False, proto=2, doc="Whether the mount cannot be written; defaults to false."
    )
    recursive_read_only: str | None = field(
        None,
        proto=7,
        known=("Disabled", "Enabled", "IfPossible"),
        doc="Whether mounts below a read-only mount are read-only, too; defaults to Disabled.",
    )
    mount_path: str = field(
        "",
        proto=3,
        omit_empty=False,
        doc="Path in the container at which the volume is mounted; without `:`.",
    )
    sub_path: str = field(
        "", proto=4, doc="Path within the volume that is mounted; defaults to its root."
    )
    mount_propagation: str | None = field(
        None,
        proto=5,
        known=("Bidirectional", "HostToContainer", "None"),
        publish_enum=True,
        doc=(
            "Whether mounts made later are passed between the node and the container; defaults "
            "to None."
        ),
    )
    sub_path_expr: str = field(
        "",
        proto=6,
        doc=(
            "Like `subPath`, with `$(NAME)` replaced by environment variables; not together "
            "with it."
        ),
    )
    bind_mount_options: list[str] = field(
        default_factory=list, proto=8, list_type="set", doc="Further options of the bind mount."
    )


class VolumeDevice(Model):
    """A raw block device in a container."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the volume of a claim in the pod."
    )
    device_path: str = field(
        "", proto=2, omit_empty=False, doc="Path in the container at which the device appears."
    )


class ContainerRestartRuleOnExitCodes(Model):
    """The exit codes that a restart rule applies to."""

    operator: str = field(
        "", proto=1, required=True, doc="`In` for the listed exit codes, `NotIn` for all others."
    )
    values: list[Int32] = field(
        default_factory=list, proto=2, list_type="set", doc="Exit codes, at most 255 of them."
    )


class ContainerRestartRule(Model):
    """What happens to a container that ends with certain exit codes."""

    action: str = field(
        "",
        proto=1,
        required=True,
        doc=(
            "Action of a rule that matches: `Restart`, or `RestartAllContainers` for the whole pod."
        ),
    )
    exit_codes: ContainerRestartRuleOnExitCodes | None = field(
        None, proto=2, doc="Exit codes that the rule applies to."
    )


class Container(Model):
    """A container of a pod."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the container, a DNS label that is unique in the pod.",
    )
    image: str = field(
        "", proto=2, doc="Image to run; may be empty where a controller fills it in."
    )
    command: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Entry point instead of that of the image; not run in a shell. `$(NAME)` refers to "
            "environment variables."
        ),
    )
    args: list[str] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Arguments of the entry point instead of those of the image.",
    )
    working_dir: str = field("", proto=5, doc="Working directory; defaults to that of the image.")
    ports: list[ContainerPort] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("containerPort", "protocol"),
        patch_strategy="merge",
        patch_merge_key="containerPort",
        doc=(
            "Ports that the container listens on; a list for readers, which opens and closes "
            "nothing."
        ),
    )
    env_from: list[EnvFromSource] = field(
        default_factory=list,
        proto=19,
        list_type="atomic",
        doc=(
            "ConfigMaps and Secrets whose keys all become environment variables; of equal names "
            "the last one counts."
        ),
    )
    env: list[EnvVar] = field(
        default_factory=list,
        proto=7,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Environment variables of the container.",
    )
    resources: ResourceRequirements = field(
        default_factory=ResourceRequirements, proto=8, doc="Compute resources of the container."
    )
    resize_policy: list[ContainerResizePolicy] = field(
        default_factory=list,
        proto=23,
        list_type="atomic",
        doc="For each resource, whether the container restarts to be resized.",
    )
    restart_policy: str | None = field(
        None,
        proto=24,
        doc=(
            "Restart policy of this container. `Always` makes an init container a sidecar, "
            "which runs beside the others."
        ),
    )
    restart_policy_rules: list[ContainerRestartRule] = field(
        default_factory=list,
        proto=25,
        list_type="atomic",
        doc="Rules by exit code that come before `restartPolicy`; the first that matches counts.",
    )
    volume_mounts: list[VolumeMount] = field(
        default_factory=list,
        proto=9,
        list_map_keys=("mountPath",),
        patch_strategy="merge",
        patch_merge_key="mountPath",
        doc="Volumes to mount in the container.",
    )
    volume_devices: list[VolumeDevice] = field(
        default_factory=list,
        proto=21,
        list_map_keys=("devicePath",),
        patch_strategy="merge",
        patch_merge_key="devicePath",
        doc="Raw block devices of the container.",
    )
    liveness_probe: Probe | None = field(
        None,
        proto=10,
        doc="Checks whether the container is alive; it is restarted when the probe fails.",
    )
    readiness_probe: Probe | None = field(
        None,
        proto=11,
        doc=(
            "Checks whether the container can serve; services leave the pod out while the probe "
            "fails."
        ),
    )
    startup_probe: Probe | None = field(
        None,
        proto=22,
        doc="Checks whether the container has started; the other probes wait for its success.",
    )
    lifecycle: Lifecycle | None = field(
        None, proto=12, doc="Actions at the start and at the end of the container."
    )
    termination_message_path: str = field(
        "",
        proto=13,
        doc=(
            "File in the container with the last words of a terminated container; defaults to "
            "`/dev/termination-log`."
        ),
    )
    termination_message_policy: str = field(
        "",
        proto=20,
        known=("FallbackToLogsOnError", "File"),
        publish_enum=True,
        doc=(
            "Whether an empty message file of a failed container is replaced by the end of its log."
        ),
    )
    image_pull_policy: str = field(
        "",
        proto=14,
        known=("Always", "IfNotPresent", "Never"),
        publish_enum=True,
        doc=(
            "When the image is pulled; defaults to Always for the tag `latest`, else to "
            "IfNotPresent."
        ),
    )
    security_context: SecurityContext | None = field(
        None, proto=15, doc="Security settings of the container."
    )
    stdin: bool = field(
        False,
        proto=16,
        doc="Whether the container has a standard input that clients can attach to.",
    )
    stdin_once: bool = field(
        False, proto=17, doc="Whether the standard input is closed when the first client detaches."
    )
    tty: bool = field(
        False, proto=18, doc="Whether the container has a terminal; it needs `stdin`."
    )
