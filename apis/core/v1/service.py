"""Service: a stable name and address for a set of programs."""

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
"""The cluster IP of a service that has none and wants none."""

CLIENT_IP: Final = "ClientIP"
NO_AFFINITY: Final = "None"

IPV4: Final = "IPv4"
IPV6: Final = "IPv6"

SINGLE_STACK: Final = "SingleStack"
PREFER_DUAL_STACK: Final = "PreferDualStack"
REQUIRE_DUAL_STACK: Final = "RequireDualStack"


class ServicePort(Model):
    """One port of a service."""

    name: str = field("", proto=1, doc="A DNS label; needed when there are several ports.")
    protocol: str = field("TCP", proto=2, enum=("TCP", "UDP", "SCTP"))
    port: Int32 = field(0, proto=3, omit_empty=False, doc="The port that the service shows.")
    target_port: IntOrString | None = field(
        None, proto=4, doc="The port of the programs behind it, by number or name."
    )
    node_port: Int32 = field(0, proto=5, doc="The port on every node, if there is one.")
    app_protocol: str | None = field(
        None, proto=6, doc="What is spoken on the port, such as `kubernetes.io/h2c`."
    )


class ClientIPConfig(Model):
    """How long a client stays with the program that served it."""

    timeout_seconds: Int32 | None = field(None, proto=1, doc="At most a day; 10800 unless given.")


class SessionAffinityConfig(Model):
    """The details of session affinity."""

    client_ip: ClientIPConfig | None = field(
        None, proto=1, wire="clientIP", doc="For affinity by the address of the client."
    )


class ServiceSpec(Model):
    """What a service shows, and what is behind it."""

    ports: list[ServicePort] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("port", "protocol"),
        patch_strategy="merge",
        patch_merge_key="port",
        doc="The ports that it shows.",
    )
    selector: dict[str, str] = field(
        default_factory=dict,
        proto=2,
        map_type="atomic",
        doc="The labels of the programs behind it. Without any, somebody else says who they are.",
    )
    cluster_ip: str = field(
        "", proto=3, wire="clusterIP", doc="Its address, or `None`; the first of `clusterIPs`."
    )
    type: str = field(
        "",
        proto=4,
        enum=(CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT),
        doc="How it is reached: ClusterIP unless given.",
    )
    external_ips: list[str] = field(
        default_factory=list,
        proto=5,
        wire="externalIPs",
        list_type="atomic",
        doc="Addresses at which nodes accept traffic for it; nobody here manages them.",
    )
    session_affinity: str = field(
        "", proto=7, enum=(CLIENT_IP, NO_AFFINITY), doc="Whether clients stay where they were."
    )
    load_balancer_ip: str = field(
        "", proto=8, wire="loadBalancerIP", doc="Deprecated: the address to ask of a balancer."
    )
    load_balancer_source_ranges: list[str] = field(
        default_factory=list,
        proto=9,
        list_type="atomic",
        doc="Networks from which a balancer lets traffic in.",
    )
    external_name: str = field(
        "", proto=10, doc="For ExternalName: the host name it stands for, with no proxy between."
    )
    external_traffic_policy: str = field(
        "",
        proto=11,
        enum=("Cluster", "Local"),
        doc="Whether outside traffic may go to programs on other nodes.",
    )
    health_check_node_port: Int32 = field(
        0, proto=12, doc="Where a balancer asks a node whether it has programs of a Local service."
    )
    publish_not_ready_addresses: bool = field(
        False, proto=13, doc="Whether DNS also names programs that are not ready."
    )
    session_affinity_config: SessionAffinityConfig | None = field(
        None, proto=14, doc="The details of session affinity."
    )
    ip_family_policy: str | None = field(
        None,
        proto=17,
        enum=(PREFER_DUAL_STACK, REQUIRE_DUAL_STACK, SINGLE_STACK),
        doc="How many families of addresses it has.",
    )
    cluster_ips: list[str] = field(
        default_factory=list,
        proto=18,
        wire="clusterIPs",
        list_type="atomic",
        doc="Its addresses, one of each family, or only `None`.",
    )
    ip_families: list[str] = field(
        default_factory=list,
        proto=19,
        list_type="atomic",
        doc="The families of its addresses, `IPv4` and `IPv6`, the first one first.",
    )
    allocate_load_balancer_node_ports: bool | None = field(
        None,
        proto=20,
        doc="Whether a balancer is given ports on nodes; true unless given.",
    )
    load_balancer_class: str | None = field(
        None, proto=21, doc="Which balancer is to serve it; cannot be changed."
    )
    internal_traffic_policy: str | None = field(
        None,
        proto=22,
        enum=("Cluster", "Local"),
        doc="Whether inside traffic may go to programs on other nodes.",
    )
    traffic_distribution: str | None = field(
        None,
        proto=23,
        enum=("PreferClose", "PreferSameNode", "PreferSameZone"),
        doc="Which programs are preferred over others.",
    )


class PortStatus(Model):
    """What became of one port at a balancer."""

    port: Int32 = field(0, proto=1, omit_empty=False, doc="The port of the service.")
    protocol: str = field("", proto=2, omit_empty=False, enum=("TCP", "UDP", "SCTP"))
    error: str | None = field(None, proto=3, doc="Why the balancer does not serve it.")


class LoadBalancerIngress(Model):
    """One point at which a balancer takes traffic: an address or a host name."""

    ip: str = field("", proto=1, doc="The address of the balancer.")
    hostname: str = field("", proto=2, doc="The host name of the balancer.")
    ip_mode: str | None = field(
        None,
        proto=3,
        enum=("Proxy", "VIP"),
        doc="Whether packets keep its address.",
    )
    ports: list[PortStatus] = field(
        default_factory=list, proto=4, list_type="atomic", doc="What became of each port."
    )


class LoadBalancerStatus(Model):
    """Where a balancer takes traffic."""

    ingress: list[LoadBalancerIngress] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Every such point."
    )


class ServiceStatus(Model):
    """What was made of a service."""

    load_balancer: LoadBalancerStatus = field(
        default_factory=LoadBalancerStatus, proto=1, doc="Its balancer, if it has one."
    )
    conditions: list[Condition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="The state of it, one aspect each.",
    )


class Service(Object):
    """A Service is a stable name and address for a set of programs."""

    spec: ServiceSpec = field(default_factory=ServiceSpec, proto=2, doc="What is asked for.")
    status: ServiceStatus = field(default_factory=ServiceStatus, proto=3, doc="What was made.")


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
