"""EphemeralContainer: a container that is added to a running pod, to debug it."""

from apimachinery.model.model import Model, field
from apis.core.v1.container import ContainerPort, ContainerRestartRule, VolumeDevice, VolumeMount
from apis.core.v1.env import EnvFromSource, EnvVar
from apis.core.v1.probe import Lifecycle, Probe
from apis.core.v1.resource_requirements import ContainerResizePolicy, ResourceRequirements
from apis.core.v1.security_context import SecurityContext


class EphemeralContainer(Model):
    """A container without resources of its own, added to a running pod to debug it."""

    name: str = field(
        "",
        proto=(1, 1),
        omit_empty=False,
        doc="Name of the container, a DNS label that no other container of the pod has.",
    )
    image: str = field("", proto=(1, 2), doc="Image to run.")
    command: list[str] = field(
        default_factory=list,
        proto=(1, 3),
        list_type="atomic",
        doc="Entry point instead of that of the image; not run in a shell.",
    )
    args: list[str] = field(
        default_factory=list,
        proto=(1, 4),
        list_type="atomic",
        doc="Arguments of the entry point instead of those of the image.",
    )
    working_dir: str = field(
        "", proto=(1, 5), doc="Working directory; defaults to that of the image."
    )
    ports: list[ContainerPort] = field(
        default_factory=list,
        proto=(1, 6),
        list_map_keys=("containerPort", "protocol"),
        patch_strategy="merge",
        patch_merge_key="containerPort",
        doc="Not allowed for ephemeral containers.",
    )
    env_from: list[EnvFromSource] = field(
        default_factory=list,
        proto=(1, 19),
        list_type="atomic",
        doc="ConfigMaps and Secrets whose keys all become environment variables.",
    )
    env: list[EnvVar] = field(
        default_factory=list,
        proto=(1, 7),
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Environment variables of the container.",
    )
    resources: ResourceRequirements = field(
        default_factory=ResourceRequirements,
        proto=(1, 8),
        doc="Not allowed: ephemeral containers use what the pod has spare.",
    )
    resize_policy: list[ContainerResizePolicy] = field(
        default_factory=list,
        proto=(1, 23),
        list_type="atomic",
        doc="Not allowed for ephemeral containers.",
    )
    restart_policy: str | None = field(
        None, proto=(1, 24), doc="Not allowed for ephemeral containers."
    )
    restart_policy_rules: list[ContainerRestartRule] = field(
        default_factory=list,
        proto=(1, 25),
        list_type="atomic",
        doc="Not allowed for ephemeral containers.",
    )
    volume_mounts: list[VolumeMount] = field(
        default_factory=list,
        proto=(1, 9),
        list_map_keys=("mountPath",),
        patch_strategy="merge",
        patch_merge_key="mountPath",
        doc="Volumes of the pod to mount in the container; without sub paths.",
    )
    volume_devices: list[VolumeDevice] = field(
        default_factory=list,
        proto=(1, 21),
        list_map_keys=("devicePath",),
        patch_strategy="merge",
        patch_merge_key="devicePath",
        doc="Raw block devices of the container.",
    )
    liveness_probe: Probe | None = field(
        None, proto=(1, 10), doc="Not allowed for ephemeral containers."
    )
    readiness_probe: Probe | None = field(
        None, proto=(1, 11), doc="Not allowed for ephemeral containers."
    )
    startup_probe: Probe | None = field(
        None, proto=(1, 22), doc="Not allowed for ephemeral containers."
    )
    lifecycle: Lifecycle | None = field(
        None, proto=(1, 12), doc="Not allowed for ephemeral containers."
    )
    termination_message_path: str = field(
        "",
        proto=(1, 13),
        doc="File in the container with the last words of a terminated container.",
    )
    termination_message_policy: str = field(
        "",
        proto=(1, 20),
        known=("FallbackToLogsOnError", "File"),
        publish_enum=True,
        doc=(
            "Whether an empty message file of a failed container is replaced by the end of its log."
        ),
    )
    image_pull_policy: str = field(
        "",
        proto=(1, 14),
        known=("Always", "IfNotPresent", "Never"),
        publish_enum=True,
        doc=(
            "When the image is pulled; defaults to Always for the tag `latest`, else to "
            "IfNotPresent."
        ),
    )
    security_context: SecurityContext | None = field(
        None, proto=(1, 15), doc="Security settings of the container."
    )
    stdin: bool = field(
        False,
        proto=(1, 16),
        doc="Whether the container has a standard input that clients can attach to.",
    )
    stdin_once: bool = field(
        False,
        proto=(1, 17),
        doc="Whether the standard input is closed when the first client detaches.",
    )
    tty: bool = field(
        False, proto=(1, 18), doc="Whether the container has a terminal; it needs `stdin`."
    )
    target_container_name: str = field(
        "",
        proto=2,
        doc=(
            "Container of the pod whose processes this one can see; if unset, it sees those of "
            "the pod's settings."
        ),
    )
