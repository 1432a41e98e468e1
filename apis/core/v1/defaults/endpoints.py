"""Defaulting functions of Endpoints."""

from apis.core.v1.endpoints import EndpointPort


def set_endpoint_port_defaults(port: EndpointPort) -> None:
    port.protocol = port.protocol or "TCP"
