"""Defaulting functions of discovery.k8s.io/v1."""

from apis.discovery.v1.endpoint_slice import EndpointPort


def set_endpoint_port_defaults(port: EndpointPort) -> None:
    if port.name is None:
        port.name = ""
    if port.protocol is None:
        port.protocol = "TCP"
