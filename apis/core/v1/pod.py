"""Pod: containers that run together on one node, with shared volumes and network."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.container import Container
from apis.core.v1.ephemeral_container import EphemeralContainer
from apis.core.v1.pod_status import PodStatus
from apis.core.v1.references import LocalObjectReference
from apis.core.v1.resource_requirements import ResourceRequirements
from apis.core.v1.scheduling import (
    Affinity,
    PodReadinessGate,
    PodSchedulingGate,
    PodSchedulingGroup,
    Toleration,
    TopologySpreadConstraint,
)
from apis.core.v1.security_context import PodSecurityContext
from apis.core.v1.volume import Volume


class HostAlias(Model):
    """Host names for an IP address in the hosts file of a pod."""

    ip: str = field("", proto=1, omit_empty=False, doc="IP address of the entry.")
    hostnames: list[str] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Host names for the address."
    )


class PodDNSConfigOption(Model):
    """An option of the DNS resolver."""

    name: str = field("", proto=1, doc="Name of the option; required.")
    value: str | None = field(None, proto=2, doc="Value of the option, if it has one.")


class PodDNSConfig(Model):
    """DNS parameters of a pod, besides those of its DNS policy."""

    nameservers: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="IP addresses of name servers, after those of the policy.",
    )
    searches: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Search domains, after those of the policy.",
    )
    options: list[PodDNSConfigOption] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Options of the resolver; they override those of the policy.",
    )


class PodOS(Model):
    """The operating system of a pod."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="`linux` or `windows`; the pod is not started by a node of another system.",
    )


class PodResourceClaim(Model):
    """A ResourceClaim that the containers of a pod can use; exactly one of the names is set."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the entry, a DNS label, which containers refer to.",
    )
    resource_claim_name: str | None = field(
        None, proto=3, doc="Name of a ResourceClaim in the namespace of the pod."
    )
    resource_claim_template_name: str | None = field(
        None,
        proto=4,
        doc="Name of a ResourceClaimTemplate, from which a claim is created for the pod.",
    )


class EvictionResponder(Model, map_type="atomic"):
    """A component that takes part in the eviction of a pod."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the responder.")
    priority: Int32 | None = field(
        None, proto=2, omit_empty=False, doc="Order of the responders: the highest acts first."
    )


class PodSpec(Model):
    """The containers of a pod, and how they run."""

    volumes: list[Volume] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        doc="Volumes that the containers of the pod can mount.",
    )
    init_containers: list[Container] = field(
        default_factory=list,
        proto=20,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc=(
            "Containers that run one after the other before all others; each must succeed. "
            "Those with `restartPolicy: Always` go on as sidecars."
        ),
    )
    containers: list[Container] = field(
        default_factory=list,
        proto=2,
        omit_empty=False,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Containers of the pod; at least one, and immutable but for their images.",
    )
    ephemeral_containers: list[EphemeralContainer] = field(
        default_factory=list,
        proto=34,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc=(
            "Containers added to a running pod; changed only through the subresource "
            "`ephemeralcontainers`."
        ),
    )
    restart_policy: str = field(
        "",
        proto=3,
        known=("Always", "Never", "OnFailure"),
        publish_enum=True,
        doc="Whether containers that end are restarted; defaults to Always.",
    )
    termination_grace_period_seconds: int | None = field(
        None,
        proto=4,
        doc="Seconds between the request to stop and the end of the processes; defaults to 30.",
    )
    active_deadline_seconds: int | None = field(
        None, proto=5, doc="Seconds after which the pod is stopped and marked as failed."
    )
    dns_policy: str = field(
        "",
        proto=6,
        known=("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
        publish_enum=True,
        doc="How names are resolved; defaults to ClusterFirst.",
    )
    node_selector: dict[str, str] = field(
        default_factory=dict,
        proto=7,
        map_type="atomic",
        doc="Labels that the node of the pod must have.",
    )
    service_account_name: str = field("", proto=8, doc="ServiceAccount that the pod runs as.")
    service_account: str = field(
        "", proto=9, doc="Deprecated: the former name of `serviceAccountName`."
    )
    automount_service_account_token: bool | None = field(
        None, proto=21, doc="Whether a token of the service account is mounted."
    )
    node_name: str = field("", proto=10, doc="Node that the pod is bound to; set by the scheduler.")
    host_network: bool = field(
        False, proto=11, doc="Whether the pod uses the network of the node; defaults to false."
    )
    host_pid: bool = field(
        False,
        proto=12,
        wire="hostPID",
        doc="Whether the containers see the processes of the node; defaults to false.",
    )
    host_ipc: bool = field(
        False,
        proto=13,
        wire="hostIPC",
        doc="Whether the containers share the IPC namespace of the node; defaults to false.",
    )
    share_process_namespace: bool | None = field(
        None,
        proto=27,
        doc=(
            "Whether the containers of the pod see each other's processes; not together with "
            "`hostPID`."
        ),
    )
    security_context: PodSecurityContext | None = field(
        None, proto=14, doc="Security settings of all containers; empty by default."
    )
    image_pull_secrets: list[LocalObjectReference] = field(
        default_factory=list,
        proto=15,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Secrets with the credentials of image registries.",
    )
    hostname: str = field("", proto=16, doc="Host name of the pod; defaults to its name.")
    subdomain: str = field(
        "",
        proto=17,
        doc="Subdomain of the pod, for a name like `<hostname>.<subdomain>.<namespace>.svc`.",
    )
    affinity: Affinity | None = field(
        None, proto=18, doc="Scheduling rules by nodes and by other pods."
    )
    scheduler_name: str = field(
        "", proto=19, doc="Scheduler of the pod; defaults to `default-scheduler`."
    )
    tolerations: list[Toleration] = field(
        default_factory=list,
        proto=22,
        list_type="atomic",
        doc="Taints of nodes that the pod tolerates.",
    )
    host_aliases: list[HostAlias] = field(
        default_factory=list,
        proto=23,
        list_map_keys=("ip",),
        patch_strategy="merge",
        patch_merge_key="ip",
        doc="Entries of the hosts file of the pod.",
    )
    priority_class_name: str = field(
        "", proto=24, doc="PriorityClass that the priority is taken from."
    )
    priority: Int32 | None = field(
        None,
        proto=25,
        doc="Priority of the pod, which admission takes from the class; higher is more important.",
    )
    dns_config: PodDNSConfig | None = field(
        None, proto=26, doc="DNS parameters, besides those of the DNS policy."
    )
    readiness_gates: list[PodReadinessGate] = field(
        default_factory=list,
        proto=28,
        list_type="atomic",
        doc="Conditions that the pod needs to be ready, besides those of its containers.",
    )
    runtime_class_name: str | None = field(None, proto=29, doc="RuntimeClass that runs the pod.")
    enable_service_links: bool | None = field(
        None,
        proto=30,
        doc="Whether services are passed on as environment variables; defaults to true.",
    )
    preemption_policy: str | None = field(
        None,
        proto=31,
        known=("Never", "PreemptLowerPriority"),
        publish_enum=True,
        doc="Whether the pod may preempt others; defaults to PreemptLowerPriority.",
    )
    overhead: dict[str, Quantity] = field(
        default_factory=dict,
        proto=32,
        doc="Resources that the runtime class needs beside the containers.",
    )
    topology_spread_constraints: list[TopologySpreadConstraint] = field(
        default_factory=list,
        proto=33,
        list_map_keys=("topologyKey", "whenUnsatisfiable"),
        patch_strategy="merge",
        patch_merge_key="topologyKey",
        doc="How evenly the pods of a group are spread; all constraints count.",
    )
    set_hostname_as_fqdn: bool | None = field(
        None,
        proto=35,
        wire="setHostnameAsFQDN",
        doc="Whether the host name is fully qualified; defaults to false.",
    )
    os: PodOS | None = field(
        None,
        proto=36,
        doc="Operating system of the containers; required for settings that only one system has.",
    )
    host_users: bool | None = field(
        None, proto=37, doc="Whether the pod uses the user namespace of the node; defaults to true."
    )
    scheduling_gates: list[PodSchedulingGate] = field(
        default_factory=list,
        proto=38,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc=(
            "Gates that keep the pod from being scheduled; they can be set on creation only, "
            "and removed later."
        ),
    )
    resource_claims: list[PodResourceClaim] = field(
        default_factory=list,
        proto=39,
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        doc="ResourceClaims that must be allocated before the pod starts; immutable.",
    )
    resources: ResourceRequirements | None = field(
        None, proto=40, doc="Resources of the pod as a whole: cpu, memory and huge pages."
    )
    hostname_override: str | None = field(
        None, proto=41, doc="Host name of the pod, instead of all other settings."
    )
    scheduling_group: PodSchedulingGroup | None = field(
        None, proto=43, doc="Group that the pod is scheduled together with."
    )
    eviction_responders: list[EvictionResponder] = field(
        default_factory=list,
        proto=44,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Components that take part in the eviction of the pod.",
    )


class Pod(Object):
    """Pod is a group of containers that run together on a node, with shared storage and network."""

    spec: PodSpec = field(default_factory=PodSpec, proto=2, doc="Desired behavior of the pod.")
    status: PodStatus = field(
        default_factory=PodStatus, proto=3, doc="Most recently observed status of the pod."
    )
