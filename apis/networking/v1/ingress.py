"""Ingress: rules that route HTTP requests from outside to services."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import TypedLocalObjectReference

EXACT: Final = "Exact"
PREFIX: Final = "Prefix"
IMPLEMENTATION_SPECIFIC: Final = "ImplementationSpecific"

CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
"""Deprecated annotation with the class of an Ingress, now `spec.ingressClassName`."""


class ServiceBackendPort(Model, map_type="atomic"):
    """A port of a service, by name or by number."""

    name: str = field("", proto=1, doc="Name of the port; excludes `number`.")
    number: Int32 = field(0, proto=2, doc="Number of the port; excludes `name`.")


class IngressServiceBackend(Model):
    """A service that receives requests."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the service, in the namespace of the Ingress. Required.",
    )
    port: ServiceBackendPort = field(
        default_factory=ServiceBackendPort, proto=2, doc="Port of the service. Required."
    )


class IngressBackend(Model):
    """Where requests are sent: to a service or to another resource, not both."""

    resource: TypedLocalObjectReference | None = field(
        None,
        proto=3,
        doc="Another object of the namespace, such as a bucket; excludes `service`.",
    )
    service: IngressServiceBackend | None = field(
        None, proto=4, doc="A service; excludes `resource`."
    )


class HTTPIngressPath(Model):
    """A path, and where requests for it are sent."""

    path: str = field(
        "",
        proto=1,
        doc=(
            "Path that the path of a request is matched against. It begins with `/`, and is"
            " required for types Exact and Prefix."
        ),
    )
    backend: IngressBackend = field(
        default_factory=IngressBackend,
        proto=2,
        required=True,
        doc="Where matching requests are sent. Required.",
    )
    path_type: str | None = field(
        None,
        proto=3,
        omit_empty=False,
        enum=(EXACT, IMPLEMENTATION_SPECIFIC, PREFIX),
        doc=(
            "How the path is matched: Exact compares the whole path, Prefix compares whole"
            " elements between slashes, ImplementationSpecific leaves it to the IngressClass."
            " Required."
        ),
    )


class HTTPIngressRuleValue(Model):
    """Paths of one host."""

    paths: list[HTTPIngressPath] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Paths with their backends; the longest path that matches a request wins. Required.",
    )


class IngressRule(Model):
    """Routing for one host."""

    host: str = field(
        "",
        proto=1,
        doc=(
            "Host name of the requests that the rule is for, either exact or with a wildcard as"
            " its first label, such as `*.example.com`; without it, requests of every host."
            " Ports and IP addresses are not allowed."
        ),
    )
    # In Go the value is an embedded struct, which only protobuf shows.
    http: HTTPIngressRuleValue | None = field(
        None,
        proto=(2, 1),
        doc="Paths of the host; without it, every request is sent to the default backend.",
    )


class IngressTLS(Model):
    """Hosts that are served with TLS, and their certificate."""

    hosts: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Host names in the certificate; by default any host of the load balancer.",
    )
    secret_name: str = field(
        "",
        proto=2,
        doc=(
            "Name of the Secret with the certificate and its key. Without it TLS is routed by the"
            " host name alone."
        ),
    )


class IngressSpec(Model):
    """Routing of an Ingress."""

    default_backend: IngressBackend | None = field(
        None,
        proto=1,
        doc="Where requests are sent that match no rule; required if there are no rules.",
    )
    tls: list[IngressTLS] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Hosts that are served with TLS on port 443.",
    )
    rules: list[IngressRule] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Rules by host; requests that match none are sent to the default backend.",
    )
    ingress_class_name: str | None = field(
        None,
        proto=4,
        doc=(
            "Name of the IngressClass whose controller implements this Ingress. Without it, the"
            " class that is marked as default is set on creation, if there is one."
        ),
    )


class IngressPortStatus(Model):
    """State of a port of the load balancer."""

    port: Int32 = field(0, proto=1, omit_empty=False, doc="Number of the port. Required.")
    protocol: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("SCTP", "TCP", "UDP"),
        publish_enum=True,
        doc="Protocol of the port: TCP, UDP or SCTP. Required.",
    )
    error: str | None = field(
        None,
        proto=3,
        doc="Reason why the port could not be opened, in CamelCase; a controller's own reasons are"
        " written as `example.com/Reason`.",
    )


class IngressLoadBalancerIngress(Model):
    """One point where traffic enters the load balancer."""

    ip: str = field("", proto=1, doc="IP address of the point, if it has one.")
    hostname: str = field("", proto=2, doc="Host name of the point, if it has one.")
    ports: list[IngressPortStatus] = field(
        default_factory=list, proto=4, list_type="atomic", doc="State of the ports."
    )


class IngressLoadBalancerStatus(Model):
    """State of a load balancer."""

    ingress: list[IngressLoadBalancerIngress] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Points where traffic enters the load balancer.",
    )


class IngressStatus(Model):
    """State of an Ingress."""

    load_balancer: IngressLoadBalancerStatus = field(
        default_factory=IngressLoadBalancerStatus,
        proto=1,
        doc="Load balancer that implements the Ingress.",
    )


class Ingress(Object):
    """Ingress is a set of rules that route HTTP requests from outside to services.

    A controller, named by the IngressClass, implements it.
    """

    spec: IngressSpec = field(
        default_factory=IngressSpec, proto=2, doc="Desired routing of requests."
    )
    status: IngressStatus = field(
        default_factory=IngressStatus, proto=3, doc="Current state of the Ingress."
    )
