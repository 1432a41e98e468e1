"""Endpoints: the addresses behind a service, in one object. EndpointSlices replace them."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import ObjectReference


class EndpointAddress(Model, map_type="atomic"):
    """Deprecated: an IP address behind a service."""

    ip: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="IP address; neither loopback (127.0.0.0/8, ::1) nor link-local.",
    )
    target_ref: ObjectReference | None = field(
        None, proto=2, doc="Object that provides the endpoint, such as a pod."
    )
    hostname: str = field("", proto=3, doc="Host name of the endpoint, a DNS label.")
    node_name: str | None = field(None, proto=4, doc="Name of the node that hosts the endpoint.")


class EndpointPort(Model, map_type="atomic"):
    """Deprecated: a port of the addresses of a subset."""

    name: str = field(
        "",
        proto=1,
        doc="Name of the port as in the service; required if there are several ports.",
    )
    port: Int32 = field(0, proto=2, omit_empty=False, doc="Number of the port.")
    protocol: str = field(
        "",
        proto=3,
        known=("SCTP", "TCP", "UDP"),
        publish_enum=True,
        doc="Protocol of the port; defaults to TCP.",
    )
    app_protocol: str | None = field(
        None, proto=4, doc="Application protocol of the port, such as `kubernetes.io/h2c`."
    )


class EndpointSubset(Model):
    """Deprecated: addresses that share ports; each address has each port."""

    addresses: list[EndpointAddress] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Addresses that are ready for traffic.",
    )
    not_ready_addresses: list[EndpointAddress] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Addresses that are not ready: starting, or failing their probes.",
    )
    ports: list[EndpointPort] = field(
        default_factory=list, proto=3, list_type="atomic", doc="Ports of the addresses."
    )


class Endpoints(Object):
    """Endpoints lists the addresses behind a service of the same name.

    Deprecated since v1.33: EndpointSlices of discovery.k8s.io/v1 replace it.
    """

    subsets: list[EndpointSubset] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Addresses and their ports; addresses with different ports are in different subsets.",
    )
