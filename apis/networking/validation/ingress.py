"""Validation of Ingresses: rules, paths, backends, TLS, and the addresses in the status."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import NULL, FieldErrors, Path, invalid, not_supported, required
from apimachinery.ip_addresses import is_strict_ip, parse_ip
from apimachinery.names import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_path_segment_name,
    is_port_name,
    is_port_number,
    is_wildcard_dns1123_subdomain,
)
from apis.core.v1.references import TypedLocalObjectReference
from apis.networking.v1 import (
    HTTPIngressPath,
    Ingress,
    IngressBackend,
    IngressRule,
    IngressServiceBackend,
    IngressSpec,
    IngressStatus,
    IngressTLS,
)
from apis.networking.v1.ingress import (
    CLASS_ANNOTATION,
    EXACT,
    IMPLEMENTATION_SPECIFIC,
    PREFIX,
)

_PATH_TYPES: Final = (EXACT, IMPLEMENTATION_SPECIFIC, PREFIX)
_FORBIDDEN_IN_PATHS: Final = ("//", "/./", "/../", "%2f", "%2F")
_FORBIDDEN_AT_THE_END: Final = ("/..", "/.")
_NOT_AN_ADDRESS: Final = "must be a DNS name, not an IP address"


def validate_ingress(ingress: Ingress) -> FieldErrors:
    """Validate a new Ingress; its class may be named in two places."""
    yield from validate_ingress_spec(ingress.spec, Path("spec"))
    annotated = ingress.metadata.annotations.get(CLASS_ANNOTATION)
    name = ingress.spec.ingress_class_name
    if annotated is not None and name is not None and annotated != name:
        # Kubernetes leaves out `metadata` here.
        path = Path("annotations", CLASS_ANNOTATION)
        rule = "must match `ingressClassName` when both are specified"
        yield invalid(path, annotated, rule)


def validate_ingress_spec(spec: IngressSpec, path: Path) -> FieldErrors:
    if not spec.rules and spec.default_backend is None:
        yield invalid(path, NULL, "either `defaultBackend` or `rules` must be specified")
    if spec.default_backend is not None:
        yield from _validate_backend(spec.default_backend, path.child("defaultBackend"))
    for position, rule in enumerate(spec.rules):
        yield from _validate_rule(rule, path.child("rules").index(position))
    yield from _validate_tls(spec.tls, path.child("tls"))
    if spec.ingress_class_name is not None:
        for error in is_dns1123_subdomain(spec.ingress_class_name):
            yield invalid(path.child("ingressClassName"), spec.ingress_class_name, error)


def validate_ingress_status(status: IngressStatus) -> FieldErrors:
    path = Path("status", "loadBalancer", "ingress")
    for position, point in enumerate(status.load_balancer.ingress):
        here = path.index(position)
        if point.ip:
            for error in is_strict_ip(point.ip):
                yield invalid(here.child("ip"), point.ip, error)
        if point.hostname:
            for error in is_dns1123_subdomain(point.hostname):
                yield invalid(here.child("hostname"), point.hostname, error)
            if parse_ip(point.hostname) is not None:
                yield invalid(here.child("hostname"), point.hostname, _NOT_AN_ADDRESS)


def _validate_rule(rule: IngressRule, path: Path) -> FieldErrors:
    host = rule.host
    if host:
        if parse_ip(host) is not None:
            yield invalid(path.child("host"), host, _NOT_AN_ADDRESS)
        yield from _validate_host(host, path.child("host"))
    if rule.http is not None:
        here = path.child("http", "paths")
        if not rule.http.paths:
            yield required(here)
        for position, http_path in enumerate(rule.http.paths):
            yield from _validate_path(http_path, here.index(position))


def _validate_host(host: str, path: Path) -> FieldErrors:
    check = is_wildcard_dns1123_subdomain if "*" in host else is_dns1123_subdomain
    for error in check(host):
        yield invalid(path, host, error)


def _validate_path(http_path: HTTPIngressPath, path: Path) -> FieldErrors:
    match http_path.path_type:
        case None:
            yield required(path.child("pathType"), "pathType must be specified")
            return
        case "Exact" | "Prefix":
            yield from _validate_absolute(http_path.path, path.child("path"))
            yield from _validate_elements(http_path.path, path.child("path"))
        case "ImplementationSpecific":
            if http_path.path:
                yield from _validate_absolute(http_path.path, path.child("path"))
        case unknown:
            yield not_supported(path.child("pathType"), unknown, _PATH_TYPES)
    yield from _validate_backend(http_path.backend, path.child("backend"))


def _validate_absolute(value: str, path: Path) -> FieldErrors:
    if not value.startswith("/"):
        yield invalid(path, value, "must be an absolute path")


def _validate_elements(value: str, path: Path) -> FieldErrors:
    for sequence in _FORBIDDEN_IN_PATHS:
        if sequence in value:
            yield invalid(path, value, f"must not contain '{sequence}'")
    for suffix in _FORBIDDEN_AT_THE_END:
        if value.endswith(suffix):
            yield invalid(path, value, f"cannot end with '{suffix}'")


def _validate_backend(backend: IngressBackend, path: Path) -> FieldErrors:
    resource, service = backend.resource, backend.service
    if resource is not None and service is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _validate_resource(resource, path.child("resource"))
    elif service is not None:
        yield from _validate_service(service, path)
    else:
        yield invalid(path, "", "resource or service backend is required")


def _validate_resource(resource: TypedLocalObjectReference, path: Path) -> FieldErrors:
    if resource.api_group is not None:
        for error in is_dns1123_subdomain(resource.api_group):
            yield invalid(path.child("apiGroup"), resource.api_group, error)
    for wire, value in (("kind", resource.kind), ("name", resource.name)):
        if not value:
            yield required(path.child(wire))
        for error in is_path_segment_name(value):
            yield invalid(path.child(wire), value, error)


def _validate_service(service: IngressServiceBackend, path: Path) -> FieldErrors:
    here = path.child("service")
    if not service.name:
        yield required(here.child("name"))
    else:
        for error in is_dns1123_label(service.name):
            yield invalid(here.child("name"), service.name, error)
    name, number = service.port.name, service.port.number
    if name and number:
        yield invalid(path, "", "cannot set both port name & port number")
    elif name:
        for error in is_port_name(name):
            yield invalid(here.child("port", "name"), name, error)
    elif number:
        for error in is_port_number(number):
            yield invalid(here.child("port", "number"), number, error)
    else:
        yield required(path, "port name or number is required")


def _validate_tls(entries: Sequence[IngressTLS], path: Path) -> FieldErrors:
    for position, tls in enumerate(entries):
        here = path.index(position)
        for index, host in enumerate(tls.hosts):
            yield from _validate_host(host, here.child("hosts").index(index))
        if tls.secret_name:
            for error in is_dns1123_subdomain(tls.secret_name):
                yield invalid(here.child("secretName"), tls.secret_name, error)
