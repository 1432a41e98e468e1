"""Validation of APIServices."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, quote, required
from apimachinery.names import (
    is_dns1035_label,
    is_dns1123_subdomain,
    is_path_segment_name,
    is_port_number,
)
from apis.apiregistration.v1 import APIService, APIServiceSpec, APIServiceStatus, ServiceReference

MAX_GROUP_PRIORITY: Final = 20_000
MAX_VERSION_PRIORITY: Final = 1_000

_SPEC: Final = Path("spec")
_STATUSES: Final = ("True", "False", "Unknown")


def validate_api_service(service: APIService) -> FieldErrors:
    name, spec = service.metadata.name, service.spec
    expected = f"{spec.version}.{spec.group}"
    if name and name != expected and not is_path_segment_name(name):
        rule = f'must be `spec.version+"."+spec.group`: {quote(expected)}'
        yield invalid(Path("metadata", "name"), name, rule)
    yield from _validate_group_version(spec)
    yield from _validate_priorities(spec)
    if spec.service is None:
        yield from _validate_local(spec)
        return
    yield from _validate_service(spec.service, _SPEC.child("service"))
    if spec.insecure_skip_tls_verify and spec.ca_bundle:
        rule = "may not be true if caBundle is present"
        yield invalid(_SPEC.child("insecureSkipTLSVerify"), True, rule)


def validate_api_service_status(status: APIServiceStatus) -> FieldErrors:
    for position, condition in enumerate(status.conditions):
        if condition.status not in _STATUSES:
            path = Path("status", "conditions").index(position).child("status")
            yield not_supported(path, condition.status, _STATUSES)


def _validate_group_version(spec: APIServiceSpec) -> FieldErrors:
    if not spec.group and spec.version != "v1":
        rule = "only v1 may have an empty group and it better be legacy kube"
        yield required(_SPEC.child("group"), rule)
    for problem in is_dns1123_subdomain(spec.group) if spec.group else ():
        yield invalid(_SPEC.child("group"), spec.group, problem)
    for problem in is_dns1035_label(spec.version):
        yield invalid(_SPEC.child("version"), spec.version, problem)


def _validate_priorities(spec: APIServiceSpec) -> FieldErrors:
    for name, value, maximum in (
        ("groupPriorityMinimum", spec.group_priority_minimum, MAX_GROUP_PRIORITY),
        ("versionPriority", spec.version_priority, MAX_VERSION_PRIORITY),
    ):
        if not 0 < value <= maximum:
            yield invalid(_SPEC.child(name), value, f"must be positive and less than {maximum}")


def _validate_local(spec: APIServiceSpec) -> FieldErrors:
    if spec.ca_bundle:
        size = f"{len(spec.ca_bundle)} bytes"
        yield invalid(_SPEC.child("caBundle"), size, "local APIServices may not have a caBundle")
    if spec.insecure_skip_tls_verify:
        rule = "local APIServices may not have insecureSkipTLSVerify"
        yield invalid(_SPEC.child("insecureSkipTLSVerify"), True, rule)


def _validate_service(service: ServiceReference, path: Path) -> FieldErrors:
    if not service.namespace:
        yield required(path.child("namespace"))
    if not service.name:
        yield required(path.child("name"))
    port = service.port or 0
    if problems := is_port_number(port):
        yield invalid(path.child("port"), port, f"port is not valid: {', '.join(problems)}")
