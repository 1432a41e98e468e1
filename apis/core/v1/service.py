"""Service: a stable name and address for a set of pods."""

from typing import Final

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.wire_types import Int32

CLUSTER_IP: Final = "ClusterIP"
NODE_PORT: Final = "NodePort"
LOAD_BALANCER: Final = "LoadBalancer"
EXTERNAL_NAME: Final = "ExternalName"

HEADLESS: Final = "None"
"""The `clusterIP` of a headless service."""

CLIENT_IP: Final = "ClientIP"
NO_AFFINITY: Final = "None"

IPV4: Final = "IPv4"
IPV6: Final = "IPv6"

SINGLE_STACK: Final = "SingleStack"
PREFER_DUAL_STACK: Final = "PreferDualStack"
REQUIRE_DUAL_STACK: Final = "RequireDualStack"


class ServicePort(Model):
    """A port of a service."""

    name: str = field(
        "", proto=1, doc="Name of the port, a DNS label; required if there are several ports."
    )
    protocol: str = field("TCP", proto=2, enum=("TCP", "UDP", "SCTP"))
    port: Int32 = field(0, proto=3, omit_empty=False, doc="Port that the service exposes.")
    target_port: IntOrString | None = field(
        None, proto=4, doc="Number or name of the port on the pods of the service."
    )
    node_port: Int32 = field(
        0, proto=5, doc="Port on each node, for types NodePort and LoadBalancer."
    )
    app_protocol: str | None = field(
        None, proto=6, doc="Application protocol of the port, such as `kubernetes.io/h2c`."
    )


class ClientIPConfig(Model):
    """Configuration of session affinity by client IP."""

    timeout_seconds: Int32 | None = field(
        None, proto=1, doc="Seconds of stickiness, at most a day; defaults to 10800."
    )


class SessionAffinityConfig(Model):
    """Configuration of session affinity."""

    client_ip: ClientIPConfig | None = field(
        None, proto=1, wire="clientIP", doc="Configuration of session affinity by client IP."
    )


class ServiceSpec(Model):
    """Attributes of a Service."""

    ports: list[ServicePort] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("port", "protocol"),
        patch_strategy="merge",
        patch_merge_key="port",
        doc="Ports exposed by the service.",
    )
    selector: dict[str, str] = field(
        default_factory=dict,
        proto=2,
        map_type="atomic",
        doc="Labels of the pods behind the service; without any, endpoints are managed externally.",
    )
    cluster_ip: str = field(
        "",
        proto=3,
        wire="clusterIP",
        doc="IP address of the service, or `None`; the first of `clusterIPs`.",
    )
    type: str = field(
        "",
        proto=4,
        enum=(CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT),
        doc="How the service is exposed; defaults to ClusterIP.",
    )
    external_ips: list[str] = field(
        default_factory=list,
        proto=5,
        wire="externalIPs",
        list_type="atomic",
        doc="IP addresses at which nodes also accept traffic; not managed by Kubernetes.",
    )
    session_affinity: str = field(
        "", proto=7, enum=(CLIENT_IP, NO_AFFINITY), doc="Session affinity: None or ClientIP."
    )
    load_balancer_ip: str = field(
        "",
        proto=8,
        wire="loadBalancerIP",
        doc="Deprecated: IP address to request for the load balancer.",
    )
    load_balancer_source_ranges: list[str] = field(
        default_factory=list,
        proto=9,
        list_type="atomic",
        doc="Client IP ranges that the load balancer accepts traffic from.",
    )
    external_name: str = field(
        "", proto=10, doc="Host name that DNS returns as an alias, for type ExternalName."
    )
    external_traffic_policy: str = field(
        "",
        proto=11,
        enum=("Cluster", "Local"),
        doc="Routing of external traffic: Cluster, or Local to the node.",
    )
    health_check_node_port: Int32 = field(
        0, proto=12, doc="Node port of health checks for externalTrafficPolicy Local."
    )
    publish_not_ready_addresses: bool = field(
        False, proto=13, doc="Whether DNS also publishes endpoints that are not ready."
    )
    session_affinity_config: SessionAffinityConfig | None = field(
        None, proto=14, doc="Configuration of session affinity."
    )
    ip_family_policy: str | None = field(
        None,
        proto=17,
        enum=(PREFER_DUAL_STACK, REQUIRE_DUAL_STACK, SINGLE_STACK),
        doc="Whether the service is single-stack or dual-stack.",
    )
    cluster_ips: list[str] = field(
        default_factory=list,
        proto=18,
        wire="clusterIPs",
        list_type="atomic",
        doc="IP addresses of the service, at most one per IP family, or only `None`.",
    )
    ip_families: list[str] = field(
        default_factory=list,
        proto=19,
        list_type="atomic",
        known=("IPv4", "IPv6", ""),
        publish_enum=True,
        doc="IP families of the service, `IPv4` and `IPv6`, in the order of `clusterIPs`.",
    )
    allocate_load_balancer_node_ports: bool | None = field(
        None,
        proto=20,
        doc="Whether node ports are allocated for type LoadBalancer; defaults to true.",
    )
    load_balancer_class: str | None = field(
        None, proto=21, doc="Class of the load balancer implementation; immutable once set."
    )
    internal_traffic_policy: str | None = field(
        None,
        proto=22,
        enum=("Cluster", "Local"),
        doc="Routing of internal traffic: Cluster, or Local to the node.",
    )
    traffic_distribution: str | None = field(
        None,
        proto=23,
        enum=("PreferClose", "PreferSameNode", "PreferSameZone"),
        publish_enum=False,
        doc="Preference for endpoints, such as those in the same zone.",
    )


class PortStatus(Model):
    """Status of a service port at a load balancer."""

    port: Int32 = field(0, proto=1, omit_empty=False, doc="Number of the service port.")
    protocol: str = field(
        "", proto=2, omit_empty=False, known=("TCP", "UDP", "SCTP"), publish_enum=True
    )
    error: str | None = field(
        None, proto=3, doc="Reason why the load balancer does not serve the port."
    )


class LoadBalancerIngress(Model):
    """Status of a load-balancer ingress point: an IP address or a host name."""

    ip: str = field("", proto=1, doc="IP address of the load balancer.")
    hostname: str = field("", proto=2, doc="Host name of the load balancer.")
    ip_mode: str | None = field(
        None,
        proto=3,
        known=("Proxy", "VIP"),
        doc="How the IP address is handled: VIP or Proxy.",
    )
    ports: list[PortStatus] = field(
        default_factory=list, proto=4, list_type="atomic", doc="Status of each service port."
    )


class LoadBalancerStatus(Model):
    """Status of a load balancer."""

    ingress: list[LoadBalancerIngress] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Ingress points of the load balancer.",
    )


class ServiceStatus(Model):
    """Current status of a Service."""

    load_balancer: LoadBalancerStatus = field(
        default_factory=LoadBalancerStatus,
        proto=1,
        doc="Status of the load balancer, if there is one.",
    )
    conditions: list[Condition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Current conditions of the service.",
    )


class Service(Object):
    """Service is a stable name and address for a set of pods."""

    spec: ServiceSpec = field(
        default_factory=ServiceSpec, proto=2, doc="Desired behavior of the service."
    )
    status: ServiceStatus = field(
        default_factory=ServiceStatus, proto=3, doc="Most recently observed status of the service."
    )


def is_headless(service: Service) -> bool:
    """Return whether the service is headless: `clusterIP: None`."""
    return service.spec.cluster_ips == [HEADLESS]


def is_externally_accessible(service: Service) -> bool:
    """Return whether the service accepts external traffic."""
    spec = service.spec
    return spec.type in (NODE_PORT, LOAD_BALANCER) or (
        spec.type == CLUSTER_IP and bool(spec.external_ips)
    )


def needs_health_check(service: Service) -> bool:
    """Return whether load balancers must health-check nodes for local endpoints."""
    spec = service.spec
    return spec.type == LOAD_BALANCER and spec.external_traffic_policy == "Local"
