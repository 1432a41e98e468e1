"""Defaults of apiregistration.k8s.io/v1."""

from typing import Final

from apis.apiregistration.v1.types import ServiceReference

PORT: Final = 443


def set_service_reference_defaults(service: ServiceReference) -> None:
    if service.port is None:
        service.port = PORT
