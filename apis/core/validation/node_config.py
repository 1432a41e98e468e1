"""Validation of the deprecated dynamic configuration of kubelets, which old nodes may have."""

from apimachinery.fieldpath import FieldErrors, GoStruct, Path, forbidden, invalid, required
from apimachinery.meta.metadata_validation import dns_label_name, dns_subdomain_name
from apimachinery.names import is_config_map_key
from apis.core.v1.node_status import (
    ConfigMapNodeConfigSource,
    NodeConfigSource,
    NodeConfigStatus,
)


def validate_config_source_spec(source: NodeConfigSource, path: Path) -> FieldErrors:
    config_map, here = source.config_map, path.child("configMap")
    if config_map is None:
        yield from _missing(path)
        return
    if config_map.uid:
        yield forbidden(here.child("uid"), "uid must not be set in spec")
    if config_map.resource_version:
        yield forbidden(here.child("resourceVersion"), "resourceVersion must not be set in spec")
    yield from _validate_config_map(config_map, here)


def validate_config_status(status: NodeConfigStatus, path: Path) -> FieldErrors:
    for name, source in (
        ("assigned", status.assigned),
        ("active", status.active),
        ("lastKnownGood", status.last_known_good),
    ):
        if source is not None:
            yield from _validate_status_source(source, path.child(name))


def _validate_status_source(source: NodeConfigSource, path: Path) -> FieldErrors:
    config_map, here = source.config_map, path.child("configMap")
    if config_map is None:
        yield from _missing(path)
        return
    if not config_map.uid:
        yield required(here.child("uid"))
    if not config_map.resource_version:
        yield required(here.child("resourceVersion"))
    yield from _validate_config_map(config_map, here)


def _validate_config_map(source: ConfigMapNodeConfigSource, path: Path) -> FieldErrors:
    for name, value, check in (
        ("namespace", source.namespace, dns_label_name),
        ("name", source.name, dns_subdomain_name),
    ):
        if not value:
            yield required(path.child(name))
        for error in check(value, False) if value else ():
            yield invalid(path.child(name), value, error)
    key = source.kubelet_config_key
    if not key:
        yield required(path.child("kubeletConfigKey"))
    for error in is_config_map_key(key) if key else ():
        yield invalid(path.child("kubeletConfigKey"), key, error)


def _missing(path: Path) -> FieldErrors:
    shown = GoStruct(ConfigMap=None)
    yield invalid(path, shown, "exactly one reference subfield must be non-nil")
