"""PodStatus: what scheduler, kubelet and controllers report of a pod."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apis.core.v1.container_status import ContainerStatus
from apis.core.v1.resource_requirements import ResourceRequirements


class PodCondition(Model):
    """A condition of a pod."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Type of the condition, such as `Ready` or `PodScheduled`.",
    )
    observed_generation: int = field(
        0, proto=7, doc="Generation of the pod that the condition was set for."
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("False", "True", "Unknown"),
        doc="Status of the condition.",
    )
    last_probe_time: Time | None = field(
        None,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Time when the condition was last probed.",
    )
    last_transition_time: Time | None = field(
        None, proto=4, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=5, doc="Short, machine-readable reason of the last transition.")
    message: str = field("", proto=6, doc="Details of the last transition, for humans.")


class HostIP(Model):
    """An IP address of the node of a pod."""

    ip: str = field("", proto=1, omit_empty=False, doc="The IP address.")


class PodIP(Model):
    """An IP address of a pod."""

    ip: str = field("", proto=1, omit_empty=False, doc="The IP address.")


class PodResourceClaimStatus(Model):
    """The claim that was created for an entry of `spec.resourceClaims`."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the entry in `spec.resourceClaims`."
    )
    resource_claim_name: str | None = field(
        None, proto=2, doc="Name of the ResourceClaim; unset if none was needed."
    )


class ContainerExtendedResourceRequest(Model):
    """The request of a claim that serves an extended resource of a container."""

    container_name: str = field("", proto=1, omit_empty=False, doc="Name of the container.")
    resource_name: str = field("", proto=2, omit_empty=False, doc="Name of the extended resource.")
    request_name: str = field(
        "", proto=3, omit_empty=False, doc="Name of the request in the claim."
    )


class PodExtendedResourceClaimStatus(Model):
    """The claim that was created for the extended resources of a pod."""

    request_mappings: list[ContainerExtendedResourceRequest] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Requests of the claim, by container and resource.",
    )
    resource_claim_name: str = field(
        "", proto=2, omit_empty=False, doc="Name of the ResourceClaim."
    )


class NodeAllocatableMappedResources(Model):
    """An amount of a node's resource that a claim takes up."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the resource, such as `memory`.")
    quantity: Quantity | None = field(
        None, proto=2, omit_empty=False, doc="Amount of the resource."
    )


class NodeAllocatableOverheadResources(Model):
    """An amount of a node's resource that is needed beside the devices of a claim."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the resource, such as `memory`.")
    per_pod: Quantity | None = field(None, proto=2, doc="Amount for the pod as a whole.")
    per_container: Quantity | None = field(
        None, proto=3, doc="Amount for each container that uses the claim."
    )


class NodeAllocatableResourceClaimStatus(Model):
    """Resources of the node that a claim of the pod takes up."""

    resource_claim_name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the ResourceClaim."
    )
    containers: list[str] = field(
        default_factory=list, proto=2, list_type="set", doc="Containers that use the claim."
    )
    mapping: list[NodeAllocatableMappedResources] = field(
        default_factory=list,
        proto=4,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Resources that the allocated devices stand for.",
    )
    overhead: list[NodeAllocatableOverheadResources] = field(
        default_factory=list,
        proto=5,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Resources that are needed beside the devices.",
    )


class VolumeHealthCondition(Model):
    """A finding about the health of a volume."""

    status: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=("DataLoss", "Degraded", "Inaccessible"),
        publish_enum=True,
        doc="Health of the volume.",
    )
    reason: str = field(
        "", proto=2, omit_empty=False, doc="Short, machine-readable reason of the status."
    )
    message: str = field("", proto=3, doc="Details of the status, for humans.")


class PodVolumeHealth(Model):
    """Health of a volume of the pod."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the volume in the pod.")
    health_conditions: list[VolumeHealthCondition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("status", "reason"),
        patch_strategy="merge",
        patch_merge_key="status",
        doc="Findings about the volume.",
    )
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the health last changed."
    )


class PodStatus(Model):
    """Status of a pod, which may lag behind its true state."""

    observed_generation: int = field(
        0, proto=17, doc="Generation of the pod that the status reports on."
    )
    phase: str = field(
        "",
        proto=1,
        known=("Failed", "Pending", "Running", "Succeeded", "Unknown"),
        publish_enum=True,
        doc="Summary of where the pod is in its life.",
    )
    conditions: list[PodCondition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Current conditions of the pod.",
    )
    message: str = field("", proto=3, doc="Details of the current condition, for humans.")
    reason: str = field("", proto=4, doc="Short reason for the current state, such as `Evicted`.")
    nominated_node_name: str = field(
        "",
        proto=11,
        doc=(
            "Node on which pods of lower priority are preempted for this one, which need not "
            "run there in the end."
        ),
    )
    host_ip: str = field(
        "",
        proto=5,
        wire="hostIP",
        doc="IP address of the node; unset before the pod is started there.",
    )
    host_ips: list[HostIP] = field(
        default_factory=list,
        proto=16,
        wire="hostIPs",
        list_type="atomic",
        patch_strategy="merge",
        patch_merge_key="ip",
        doc="IP addresses of the node, of which the first is `hostIP`.",
    )
    pod_ip: str = field(
        "", proto=6, wire="podIP", doc="IP address of the pod; unset before it is allocated."
    )
    pod_ips: list[PodIP] = field(
        default_factory=list,
        proto=12,
        wire="podIPs",
        list_map_keys=("ip",),
        patch_strategy="merge",
        patch_merge_key="ip",
        doc="IP addresses of the pod, at most one per family, of which the first is `podIP`.",
    )
    start_time: Time | None = field(
        None, proto=7, doc="Time when the kubelet acknowledged the pod."
    )
    init_container_statuses: list[ContainerStatus] = field(
        default_factory=list,
        proto=10,
        list_type="atomic",
        doc="Status of the init containers; the most recent successful one has `ready` true.",
    )
    container_statuses: list[ContainerStatus] = field(
        default_factory=list, proto=8, list_type="atomic", doc="Status of the containers."
    )
    qos_class: str = field(
        "",
        proto=9,
        known=("BestEffort", "Burstable", "Guaranteed"),
        publish_enum=True,
        doc="Quality of service, which follows from requests and limits.",
    )
    ephemeral_container_statuses: list[ContainerStatus] = field(
        default_factory=list,
        proto=13,
        list_type="atomic",
        doc="Status of the ephemeral containers.",
    )
    resize: str = field(
        "",
        proto=14,
        doc=(
            "Progress of a resize; replaced by the conditions PodResizePending and "
            "PodResizeInProgress."
        ),
    )
    resource_claim_statuses: list[PodResourceClaimStatus] = field(
        default_factory=list,
        proto=15,
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        doc="Claims that were created for `spec.resourceClaims`.",
    )
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = field(
        None, proto=18, doc="Claim that was created for extended resources."
    )
    allocated_resources: dict[str, Quantity] = field(
        default_factory=dict,
        proto=19,
        doc="Resources that the node has allocated to the pod as a whole.",
    )
    resources: ResourceRequirements | None = field(
        None,
        proto=20,
        doc="Requests and limits that the running pod as a whole was configured with.",
    )
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = field(
        default_factory=list,
        proto=21,
        list_map_keys=("resourceClaimName",),
        patch_strategy="merge",
        patch_merge_key="resourceClaimName",
        doc="Resources of the node that the claims of the pod take up.",
    )
    volume_health: list[PodVolumeHealth] = field(
        default_factory=list,
        proto=22,
        list_map_keys=("name",),
        doc="Health of the volumes of the pod.",
    )
