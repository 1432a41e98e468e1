"""EndpointSlice: a part of the endpoints that implement a service."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import ObjectReference

IPV4: Final = "IPv4"
IPV6: Final = "IPv6"
FQDN: Final = "FQDN"

SERVICE_NAME_LABEL: Final = "kubernetes.io/service-name"
"""Label with the name of the service that a slice belongs to."""
MANAGED_BY_LABEL: Final = "endpointslice.kubernetes.io/managed-by"
"""Label with the controller or other component that maintains a slice."""


class EndpointConditions(Model):
    """State of an endpoint."""

    ready: bool | None = field(
        None,
        proto=1,
        doc=(
            "Whether the endpoint is ready for traffic; unset counts as true. False for an"
            " endpoint that is terminating, unless its service publishes endpoints regardless of"
            " readiness."
        ),
    )
    serving: bool | None = field(
        None,
        proto=2,
        doc="Like `ready`, but also for an endpoint that is terminating; unset counts as `ready`.",
    )
    terminating: bool | None = field(
        None, proto=3, doc="Whether the endpoint is terminating; unset counts as false."
    )


class ForZone(Model):
    """A zone that an endpoint is meant for."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the zone. Required.")


class ForNode(Model):
    """A node that an endpoint is meant for."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the node. Required.")


class EndpointHints(Model):
    """Where the traffic of an endpoint should come from."""

    for_zones: list[ForZone] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Zones whose traffic should be sent to the endpoint, at most 8.",
    )
    for_nodes: list[ForNode] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Nodes whose traffic should be sent to the endpoint, at most 8.",
    )


class Endpoint(Model):
    """One backend of a service."""

    addresses: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="set",
        doc=(
            "Addresses of the endpoint, of the type of the slice. They are interchangeable, and"
            " clients may use the first only. Required, at most 100."
        ),
    )
    conditions: EndpointConditions = field(
        default_factory=EndpointConditions, proto=2, doc="Current state of the endpoint."
    )
    hostname: str | None = field(
        None,
        proto=3,
        doc="Host name of the endpoint, a DNS label; endpoints of one name share a DNS record.",
    )
    target_ref: ObjectReference | None = field(
        None, proto=4, doc="Object that the endpoint represents, such as a pod."
    )
    deprecated_topology: dict[str, str] = field(
        default_factory=dict,
        proto=5,
        doc=(
            "Topology of the endpoint as of v1beta1. Writes in v1 drop it; `zone` and `nodeName`"
            " replace it."
        ),
    )
    node_name: str | None = field(None, proto=6, doc="Node that hosts the endpoint.")
    zone: str | None = field(None, proto=7, doc="Zone that the endpoint is in.")
    hints: EndpointHints | None = field(
        None, proto=8, doc="Where the traffic of the endpoint should come from."
    )


class EndpointPort(Model, map_type="atomic"):
    """A port of all endpoints of a slice."""

    name: str | None = field(
        None,
        proto=1,
        doc=(
            "Name of the port, a DNS label or empty, which is the default; unique in the slice."
            " It is the name of the service's port."
        ),
    )
    protocol: str | None = field(
        None,
        proto=2,
        enum=("SCTP", "TCP", "UDP"),
        doc="Protocol of the port: TCP, which is the default, UDP or SCTP.",
    )
    port: Int32 | None = field(
        None, proto=3, doc="Number of the port; unset for all ports, which clients interpret."
    )
    app_protocol: str | None = field(
        None,
        proto=4,
        doc=(
            "Application protocol of the port, as a hint: a name that IANA has registered, or one"
            " with a domain in front, such as `kubernetes.io/h2c`."
        ),
    )


class EndpointSlice(Object):
    """EndpointSlice is a part of the endpoints of a service.

    The label `kubernetes.io/service-name` names the service; all its slices together are its
    endpoints.
    """

    endpoints: list[Endpoint] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        null_when_empty=True,
        required=False,
        doc="Endpoints of the slice, at most 1000.",
    )
    ports: list[EndpointPort] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        null_when_empty=True,
        required=False,
        doc="Ports of every endpoint of the slice, with names of their own.",
    )
    address_type: str = field(
        "",
        proto=4,
        omit_empty=False,
        enum=(FQDN, IPV4, IPV6),
        doc=(
            "Type of the addresses in the slice: IPv4, IPv6, or FQDN for domain names, which is"
            " deprecated. Required and immutable."
        ),
    )
