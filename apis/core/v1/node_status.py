"""NodeStatus: what a node reports about itself, such as addresses, resources and conditions."""

from typing import Final

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32

READY: Final = "Ready"
"""Type of the condition that says whether the node accepts pods."""

HOSTNAME: Final = "Hostname"
INTERNAL_IP: Final = "InternalIP"
EXTERNAL_IP: Final = "ExternalIP"
INTERNAL_DNS: Final = "InternalDNS"
EXTERNAL_DNS: Final = "ExternalDNS"


class NodeAddress(Model):
    """An address of a node."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=(EXTERNAL_DNS, EXTERNAL_IP, HOSTNAME, INTERNAL_DNS, INTERNAL_IP),
        doc="Type of the address: a host name, or an internal or external IP or DNS name.",
    )
    address: str = field("", proto=2, omit_empty=False, doc="The address.")


class NodeCondition(Model):
    """A condition of a node."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=("DiskPressure", "MemoryPressure", "NetworkUnavailable", "PIDPressure", READY),
        doc="Type of the condition; nodes and controllers may add others.",
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("False", "True", "Unknown"),
        doc="Whether the condition holds.",
    )
    last_heartbeat_time: Time | None = field(
        None,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Time when the condition was last reported.",
    )
    last_transition_time: Time | None = field(
        None,
        proto=4,
        omit_empty=False,
        required=False,
        doc="Time when the status of the condition last changed.",
    )
    reason: str = field("", proto=5, doc="Machine-readable reason of the last transition.")
    message: str = field("", proto=6, doc="Human-readable details of the last transition.")


class ConfigMapNodeConfigSource(Model):
    """Deprecated: a ConfigMap with the configuration of a kubelet."""

    namespace: str = field("", proto=1, omit_empty=False, doc="Namespace of the ConfigMap.")
    name: str = field("", proto=2, omit_empty=False, doc="Name of the ConfigMap.")
    uid: str = field("", proto=3, doc="UID of the ConfigMap; set in the status only.")
    resource_version: str = field(
        "", proto=4, doc="resourceVersion of the ConfigMap; set in the status only."
    )
    kubelet_config_key: str = field(
        "", proto=5, omit_empty=False, doc="Key of the ConfigMap that has the configuration."
    )


class NodeConfigSource(Model):
    """Deprecated: a source of the configuration of a kubelet."""

    config_map: ConfigMapNodeConfigSource | None = field(
        None, proto=2, doc="ConfigMap with the configuration."
    )


class NodeConfigStatus(Model):
    """Deprecated: state of the dynamic configuration of a kubelet."""

    assigned: NodeConfigSource | None = field(
        None, proto=1, doc="Configuration that the kubelet tries to use."
    )
    active: NodeConfigSource | None = field(
        None, proto=2, doc="Configuration that the kubelet uses."
    )
    last_known_good: NodeConfigSource | None = field(
        None, proto=3, doc="Configuration that the kubelet falls back to."
    )
    error: str = field("", proto=4, doc="Problem of the assigned configuration, if any.")


class DaemonEndpoint(Model):
    """Port of a daemon on a node."""

    port: Int32 = field(
        0, proto=1, wire="Port", omit_empty=False, doc="Port that the daemon listens on."
    )


class NodeDaemonEndpoints(Model):
    """Ports of the daemons on a node."""

    kubelet_endpoint: DaemonEndpoint = field(
        default_factory=DaemonEndpoint, proto=1, doc="Endpoint of the kubelet."
    )


class NodeSwapStatus(Model):
    """Swap memory of a node."""

    capacity: int | None = field(None, proto=1, doc="Size of the swap memory in bytes.")


class NodeSystemInfo(Model):
    """IDs and software versions of a node."""

    machine_id: str = field(
        "", proto=1, wire="machineID", omit_empty=False, doc="ID of the operating system's setup."
    )
    system_uuid: str = field(
        "", proto=2, wire="systemUUID", omit_empty=False, doc="UUID of the hardware."
    )
    boot_id: str = field(
        "", proto=3, wire="bootID", omit_empty=False, doc="ID that changes with every boot."
    )
    kernel_version: str = field("", proto=4, omit_empty=False, doc="Version of the kernel.")
    os_image: str = field(
        "", proto=5, omit_empty=False, doc="Name of the operating system's distribution."
    )
    container_runtime_version: str = field(
        "", proto=6, omit_empty=False, doc="Container runtime, such as `containerd://2.1.0`."
    )
    kubelet_version: str = field("", proto=7, omit_empty=False, doc="Version of the kubelet.")
    kube_proxy_version: str = field(
        "", proto=8, omit_empty=False, doc="Deprecated: version of kube-proxy."
    )
    operating_system: str = field(
        "", proto=9, omit_empty=False, doc="Operating system, such as `linux`."
    )
    architecture: str = field(
        "", proto=10, omit_empty=False, doc="Architecture of the processor, such as `arm64`."
    )
    swap: NodeSwapStatus | None = field(None, proto=11, doc="Swap memory of the node.")
    running_in_user_namespace: bool | None = field(
        None, proto=12, doc="Whether the kubelet runs in a user namespace."
    )


class ContainerImage(Model):
    """A container image on a node."""

    names: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Names of the image, with tags and digests.",
    )
    size_bytes: int = field(0, proto=2, doc="Size of the image in bytes.")


class AttachedVolume(Model):
    """A volume that is attached to a node."""

    name: str = field("", proto=1, omit_empty=False, doc="Unique name of the volume.")
    device_path: str = field(
        "", proto=2, omit_empty=False, doc="Path of the device of the volume on the node."
    )


class NodeRuntimeHandlerFeatures(Model):
    """Features of a handler of the container runtime."""

    recursive_read_only_mounts: bool | None = field(
        None, proto=1, doc="Whether mounts can be read-only recursively."
    )
    user_namespaces: bool | None = field(
        None, proto=2, doc="Whether pods can have user namespaces of their own."
    )


class NodeRuntimeHandler(Model):
    """A handler of the container runtime; RuntimeClasses choose one."""

    name: str = field(
        "", proto=1, published_default="", doc="Name of the handler; empty for the default one."
    )
    features: NodeRuntimeHandlerFeatures | None = field(
        None, proto=2, doc="Features of the handler."
    )


class NodeFeatures(Model):
    """Features of the container runtime that do not depend on a handler."""

    supplemental_groups_policy: bool | None = field(
        None, proto=1, doc="Whether pods can choose a policy for supplemental groups."
    )


class NodeStatus(Model):
    """What a node most recently reported."""

    capacity: dict[str, Quantity] = field(
        default_factory=dict, proto=1, doc="All resources of the node."
    )
    allocatable: dict[str, Quantity] = field(
        default_factory=dict,
        proto=2,
        doc="Resources of the node that pods can use; defaults to the capacity.",
    )
    phase: str = field(
        "",
        proto=3,
        known=("Pending", "Running", "Terminated"),
        publish_enum=True,
        doc="Deprecated and unused.",
    )
    conditions: list[NodeCondition] = field(
        default_factory=list,
        proto=4,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the node, such as Ready.",
    )
    addresses: list[NodeAddress] = field(
        default_factory=list,
        proto=5,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Addresses at which the node can be reached.",
    )
    daemon_endpoints: NodeDaemonEndpoints = field(
        default_factory=NodeDaemonEndpoints, proto=6, doc="Ports of the daemons on the node."
    )
    node_info: NodeSystemInfo = field(
        default_factory=NodeSystemInfo, proto=7, doc="IDs and software versions of the node."
    )
    images: list[ContainerImage] = field(
        default_factory=list, proto=8, list_type="atomic", doc="Container images on the node."
    )
    volumes_in_use: list[str] = field(
        default_factory=list,
        proto=9,
        list_type="atomic",
        doc="Unique names of the attachable volumes that the node has mounted.",
    )
    volumes_attached: list[AttachedVolume] = field(
        default_factory=list,
        proto=10,
        list_type="atomic",
        doc="Volumes that are attached to the node.",
    )
    config: NodeConfigStatus | None = field(
        None, proto=11, doc="Deprecated: state of the dynamic configuration of the kubelet."
    )
    runtime_handlers: list[NodeRuntimeHandler] = field(
        default_factory=list,
        proto=12,
        list_type="atomic",
        doc="Handlers of the container runtime.",
    )
    features: NodeFeatures | None = field(None, proto=13, doc="Features of the container runtime.")
    declared_features: list[str] = field(
        default_factory=list,
        proto=14,
        list_type="atomic",
        doc="Sorted names of the features that the node declares, for scheduling.",
    )
