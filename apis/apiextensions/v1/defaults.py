"""Defaulting functions of apiextensions.k8s.io/v1."""

from typing import Final

from apis.apiextensions.v1.definition import (
    NO_CONVERSION,
    CustomResourceConversion,
    CustomResourceDefinitionSpec,
    ServiceReference,
)

HTTPS_PORT: Final = 443


def set_spec_defaults(spec: CustomResourceDefinitionSpec) -> None:
    names = spec.names
    if names.kind:
        names.singular = names.singular or names.kind.lower()
        names.list_kind = names.list_kind or f"{names.kind}List"
    if spec.conversion is None:
        spec.conversion = CustomResourceConversion(strategy=NO_CONVERSION)


def set_service_defaults(service: ServiceReference) -> None:
    if service.port is None:
        service.port = HTTPS_PORT
