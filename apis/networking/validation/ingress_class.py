"""Validation of IngressClasses."""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from apimachinery.names import (
    byte_length,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_http_path,
    is_path_segment_name,
)
from apis.networking.v1 import IngressClass, IngressClassParametersReference
from apis.networking.v1.ingress_class import CLUSTER_SCOPE, NAMESPACE_SCOPE

CONTROLLER_MAX: Final = 250

_CONTROLLER: Final = Path("spec", "controller")
_PARAMETERS: Final = Path("spec", "parameters")


def validate_ingress_class(ingress_class: IngressClass) -> FieldErrors:
    spec = ingress_class.spec
    if byte_length(spec.controller) > CONTROLLER_MAX:
        yield too_long(_CONTROLLER, CONTROLLER_MAX)
    yield from _validate_controller(spec.controller, _CONTROLLER)
    if spec.parameters is not None:
        yield from _validate_parameters(spec.parameters, _PARAMETERS)


def validate_ingress_class_update(new: IngressClass, old: IngressClass) -> FieldErrors:
    if new.spec.controller != old.spec.controller:
        yield immutable(_CONTROLLER, new.spec.controller)
    yield from validate_ingress_class(new)


def _validate_controller(controller: str, path: Path) -> FieldErrors:
    if not controller:
        yield required(path)
        return
    host, _, rest = controller.partition("/")
    if not host or not rest:
        yield invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
        return
    # The message shows the part that is wrong, not the whole value.
    for error in is_dns1123_subdomain(host):
        yield invalid(path, host, error)
    for error in is_http_path(rest):
        yield invalid(path, rest, error)


def _validate_parameters(parameters: IngressClassParametersReference, path: Path) -> FieldErrors:
    if parameters.api_group is not None:
        for error in is_dns1123_subdomain(parameters.api_group):
            yield invalid(path.child("apiGroup"), parameters.api_group, error)
    for wire, value in (("kind", parameters.kind), ("name", parameters.name)):
        if not value:
            yield required(path.child(wire))
        for error in is_path_segment_name(value):
            yield invalid(path.child(wire), value, error)
    yield from _validate_scope(parameters, path)


def _validate_scope(parameters: IngressClassParametersReference, path: Path) -> FieldErrors:
    scope, namespace, here = parameters.scope, parameters.namespace, path.child("namespace")
    if scope is None:
        yield required(path.child("scope"))
    elif scope == NAMESPACE_SCOPE:
        if namespace is None:
            yield required(here, "`parameters.scope` is set to 'Namespace'")
        else:
            for error in is_dns1123_label(namespace):
                yield invalid(here, namespace, error)
    elif scope == CLUSTER_SCOPE:
        if namespace is not None:
            yield forbidden(here, "`parameters.scope` is set to 'Cluster'")
    else:
        yield not_supported(path.child("scope"), scope, (CLUSTER_SCOPE, NAMESPACE_SCOPE))
