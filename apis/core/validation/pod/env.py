"""Validation of environment variables and of the fields of the downward API.

The downward API is shared with volumes, which can expose other fields than variables can.
"""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.names import (
    is_config_map_key,
    is_dns1123_label,
    is_qualified_name,
    is_relaxed_env_var_name,
)
from apimachinery.scalars.quantity import Quantity
from apis.core.v1.env import (
    ConfigMapKeySelector,
    EnvFromSource,
    EnvVar,
    EnvVarSource,
    FileKeySelector,
    ObjectFieldSelector,
    ResourceFieldSelector,
    SecretKeySelector,
)
from apis.core.validation.paths import validate_path_without_backsteps

_ENV_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_KNOWN_FIELDS: Final = frozenset(
    {
        *_ENV_FIELDS,
        "metadata.annotations",
        "metadata.labels",
        "spec.restartPolicy",
        "spec.schedulerName",
        "status.phase",
        # An old name of spec.nodeName.
        "spec.host",
    }
)
_RESOURCES: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES: Final = ("requests.hugepages-", "limits.hugepages-")
_CPU_DIVISORS: Final = frozenset({"1m", "1"})
_BYTE_DIVISORS: Final = (
    *("1", "1k", "1M", "1G", "1T", "1P", "1E"),
    *("1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"),
)


def validate_env(variables: Sequence[EnvVar], path: Path) -> FieldErrors:
    for position, variable in enumerate(variables):
        here = path.index(position)
        if not variable.name:
            yield required(here.child("name"))
        for error in is_relaxed_env_var_name(variable.name) if variable.name else ():
            yield invalid(here.child("name"), variable.name, error)
        if variable.value_from is not None:
            yield from _validate_source(variable, variable.value_from, here.child("valueFrom"))


def validate_env_from(sources: Sequence[EnvFromSource], path: Path) -> FieldErrors:
    for position, source in enumerate(sources):
        here = path.index(position)
        for error in is_relaxed_env_var_name(source.prefix) if source.prefix else ():
            yield invalid(here.child("prefix"), source.prefix, error)
        references = (("configMapRef", source.config_map_ref), ("secretRef", source.secret_ref))
        for wire, reference in references:
            if reference is not None:
                yield from _validate_reference(reference.name, here.child(wire, "name"))
        count = sum(reference is not None for _, reference in references)
        if count == 0:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif count > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


def validate_object_field_selector(
    selector: ObjectFieldSelector, path: Path, allowed: Sequence[str] = _ENV_FIELDS
) -> FieldErrors:
    """Validate a reference to a field of the pod; only those in *allowed* have no subscript."""
    if not selector.api_version:
        yield required(path.child("apiVersion"))
        return
    if not selector.field_path:
        yield required(path.child("fieldPath"))
        return
    field, key = _split_subscript(selector.field_path)
    if problem := _conversion_problem(selector, field, key):
        rule = f"error converting fieldPath: {problem}"
        yield invalid(path.child("fieldPath"), selector.field_path, rule)
    elif key is not None:
        # As in Kubernetes, case does not matter in annotations only.
        name = key.lower() if field == "metadata.annotations" else key
        for error in is_qualified_name(name):
            yield invalid(path, name, error)
    else:
        field = "spec.nodeName" if field == "spec.host" else field
        if field not in allowed:
            yield not_supported(path.child("fieldPath"), field, allowed)


def validate_resource_field_selector(
    selector: ResourceFieldSelector, path: Path, *, in_volume: bool
) -> FieldErrors:
    """Validate a reference to a resource of a container; a volume must name the container."""
    resource = selector.resource
    if in_volume and not selector.container_name:
        yield required(path.child("containerName"))
    elif not resource:
        yield required(path.child("resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        yield not_supported(path.child("resource"), resource, _RESOURCES)
    if not selector.divisor.is_zero:
        yield from _validate_divisor(resource, selector.divisor, path.child("divisor"))


def _validate_source(variable: EnvVar, source: EnvVarSource, path: Path) -> FieldErrors:
    if source.field_ref is not None:
        yield from validate_object_field_selector(source.field_ref, path.child("fieldRef"))
    if source.resource_field_ref is not None:
        here = path.child("resourceFieldRef")
        yield from validate_resource_field_selector(
            source.resource_field_ref, here, in_volume=False
        )
    if source.config_map_key_ref is not None:
        yield from _validate_key(source.config_map_key_ref, path.child("configMapKeyRef"))
    if source.secret_key_ref is not None:
        yield from _validate_key(source.secret_key_ref, path.child("secretKeyRef"))
    if source.file_key_ref is not None:
        yield from _validate_file_key(source.file_key_ref, path.child("fileKeyRef"))
    yield from _validate_source_count(variable, source, path)


def _validate_source_count(variable: EnvVar, source: EnvVarSource, path: Path) -> FieldErrors:
    references = (
        source.field_ref,
        source.resource_field_ref,
        source.config_map_key_ref,
        source.secret_key_ref,
        source.file_key_ref,
    )
    count = sum(reference is not None for reference in references)
    if count == 0:
        rule = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
            "`secretKeyRef` or `fileKeyRef`"
        )
        yield invalid(path, "", rule)
    elif variable.value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def _validate_reference(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
    # As in Kubernetes, the name may end like a prefix of generated names.
    for error in dns_subdomain_name(name, True) if name else ():
        yield invalid(path, name, error)


def _validate_key(selector: ConfigMapKeySelector | SecretKeySelector, path: Path) -> FieldErrors:
    for error in dns_subdomain_name(selector.name, False):
        yield invalid(path.child("name"), selector.name, error)
    if not selector.key:
        yield required(path.child("key"))
    for error in is_config_map_key(selector.key) if selector.key else ():
        yield invalid(path.child("key"), selector.key, error)


def _validate_file_key(selector: FileKeySelector, path: Path) -> FieldErrors:
    if not selector.key:
        yield required(path.child("key"))
    for error in is_relaxed_env_var_name(selector.key) if selector.key else ():
        yield invalid(path.child("key"), selector.key, error)
    if not selector.volume_name:
        yield required(path.child("volumeName"))
    for error in is_dns1123_label(selector.volume_name) if selector.volume_name else ():
        yield invalid(path.child("volumeName"), selector.volume_name, error)
    if not selector.path:
        yield required(path.child("path"))
    yield from validate_path_without_backsteps(selector.path, path.child("path"))


def _split_subscript(field: str) -> tuple[str, str | None]:
    """Split `metadata.labels['app']` into the field and the key."""
    head, opened, key = field.removesuffix("']").partition("['")
    return (head, key) if field.endswith("']") and opened and head else (field, None)


def _conversion_problem(selector: ObjectFieldSelector, field: str, key: str | None) -> str:
    if selector.api_version != "v1":
        return f"unsupported pod version: {selector.api_version}"
    if key is not None:
        if field in ("metadata.annotations", "metadata.labels"):
            return ""
        return f"field label does not support subscript: {selector.field_path}"
    return "" if field in _KNOWN_FIELDS else f"field label not supported: {field}"


def _validate_divisor(resource: str, divisor: Quantity, path: Path) -> FieldErrors:
    _, _, name = resource.partition(".")
    if resource.startswith(_HUGE_PAGES):
        name = "hugepages"
    elif resource not in _RESOURCES:
        return
    if name == "cpu":
        if str(divisor) not in _CPU_DIVISORS:
            rule = "only divisor's values 1m and 1 are supported with the cpu resource"
            yield invalid(path, resource, rule)
    elif str(divisor) not in _BYTE_DIVISORS:
        shown = "local ephemeral storage" if name == "ephemeral-storage" else name
        rule = (
            f"only divisor's values {', '.join(_BYTE_DIVISORS)} "
            f"are supported with the {shown} resource"
        )
        yield invalid(path, resource, rule)
