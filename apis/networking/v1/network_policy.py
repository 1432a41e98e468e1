"""NetworkPolicy: which traffic is allowed to and from pods."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.wire_types import Int32

INGRESS: Final = "Ingress"
EGRESS: Final = "Egress"


class NetworkPolicyPort(Model):
    """A port, or a range of ports, that traffic is allowed on."""

    protocol: str | None = field(
        None,
        proto=1,
        enum=("SCTP", "TCP", "UDP"),
        doc="Protocol of the traffic: TCP, which is the default, UDP or SCTP.",
    )
    port: IntOrString | None = field(
        None,
        proto=2,
        doc="Number of the port, or the name of a port of the pods; unset for all ports.",
    )
    end_port: Int32 | None = field(
        None,
        proto=3,
        doc="Last port of a range that begins with `port`, which must be a number then.",
    )


class IPBlock(Model):
    """A range of IP addresses outside of the cluster."""

    cidr: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="The range in CIDR notation, such as `192.168.1.0/24`. Required.",
    )
    except_: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Ranges inside `cidr` that are excluded.",
    )


class NetworkPolicyPeer(Model):
    """Where traffic may come from or go to: selected pods, or a range of addresses."""

    pod_selector: LabelSelector | None = field(
        None,
        proto=1,
        doc=(
            "Selects pods by their labels, in the namespaces of `namespaceSelector`, or in the"
            " namespace of the policy without one. An empty selector selects all pods."
        ),
    )
    namespace_selector: LabelSelector | None = field(
        None,
        proto=2,
        doc=(
            "Selects namespaces by their labels; without `podSelector`, all their pods. An empty"
            " selector selects all namespaces."
        ),
    )
    ip_block: IPBlock | None = field(
        None, proto=3, doc="A range of addresses; excludes the two selectors."
    )


class NetworkPolicyIngressRule(Model):
    """Traffic that is allowed to the pods: it matches both the ports and the peers."""

    ports: list[NetworkPolicyPort] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Ports of the pods that traffic is allowed to; empty for all ports.",
    )
    from_: list[NetworkPolicyPeer] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Sources that traffic is allowed from; empty for all sources.",
    )


class NetworkPolicyEgressRule(Model):
    """Traffic that is allowed from the pods: it matches both the ports and the peers."""

    ports: list[NetworkPolicyPort] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Ports of the destinations that traffic is allowed to; empty for all ports.",
    )
    to: list[NetworkPolicyPeer] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Destinations that traffic is allowed to; empty for all destinations.",
    )


class NetworkPolicySpec(Model):
    """Pods of a policy, and the traffic that it allows."""

    pod_selector: LabelSelector = field(
        default_factory=LabelSelector,
        proto=1,
        doc=(
            "Selects the pods that the policy is for, in its namespace. An empty selector selects"
            " all of them. The policies of a pod add up: what any of them allows is allowed."
        ),
    )
    ingress: list[NetworkPolicyIngressRule] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Rules for traffic to the pods; without any, the policy allows none.",
    )
    egress: list[NetworkPolicyEgressRule] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=("Rules for traffic from the pods; without any, a policy of type Egress allows none."),
    )
    policy_types: list[str] = field(
        default_factory=list,
        proto=4,
        enum=(EGRESS, INGRESS),
        list_type="atomic",
        doc=(
            "Directions that the policy restricts: Ingress, Egress or both. By default Ingress,"
            " and Egress if there are rules for it."
        ),
    )


class NetworkPolicy(Object):
    """NetworkPolicy restricts the traffic of a set of pods to what its rules allow."""

    spec: NetworkPolicySpec = field(
        default_factory=NetworkPolicySpec, proto=2, doc="Pods and rules of the policy."
    )
