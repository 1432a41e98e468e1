"""Validation of what a claim for storage asks for.

A claim is an object of its own, the template of a StatefulSet, or part of an ephemeral volume; its
metadata differ, its spec does not.
"""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import (
    dns_label_name,
    dns_subdomain_name,
    validate_annotations,
    validate_label_selector,
    validate_labels,
)
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import is_dns1123_subdomain
from apis.core.v1.persistent_volume_claim import (
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimTemplate,
)
from apis.core.v1.references import TypedLocalObjectReference, TypedObjectReference
from apis.core.validation.resource_names import (
    STORAGE,
    validate_positive_quantity,
)

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")

_EXCLUSIVE: Final = "ReadWriteOncePod"


def validate_claim_template(template: PersistentVolumeClaimTemplate, path: Path) -> FieldErrors:
    yield from validate_template_metadata(template.metadata, path.child("metadata"))
    yield from validate_claim_spec(template.spec, path.child("spec"))


def validate_template_metadata(metadata: ObjectMeta, path: Path) -> FieldErrors:
    """Validate the metadata of a template of claims: only labels and annotations may be set."""
    yield from validate_annotations(metadata.annotations, path.child("annotations"))
    yield from validate_labels(metadata.labels, path.child("labels"))
    unset = ObjectMeta()
    for name, wire in _UNUSED_METADATA.items():
        if getattr(metadata, name) != getattr(unset, name):
            yield forbidden(path.child(wire), "cannot be set")


# As in Kubernetes, some names of fields are spelt as in its source.
_UNUSED_METADATA: Final = {
    "name": "name",
    "generate_name": "generateName",
    "namespace": "namespace",
    "self_link": "selfLink",
    "uid": "uID",
    "resource_version": "resourceVersion",
    "generation": "generation",
    "creation_timestamp": "creationTimestamp",
    "deletion_timestamp": "deletionTimestamp",
    "deletion_grace_period_seconds": "deletionGracePeriodSeconds",
    "owner_references": "ownerReferences",
    "finalizers": "finalizers",
    "managed_fields": "managedFields",
}


def validate_claim_spec(
    spec: PersistentVolumeClaimSpec,
    path: Path,
    *,
    allow_invalid_selector_values: bool = False,
    allow_invalid_api_groups: bool = False,
) -> FieldErrors:
    """Validate the spec of a claim; the options are for stored claims that break newer rules."""
    if not spec.access_modes:
        yield required(path.child("accessModes"), "at least 1 access mode is required")
    yield from validate_label_selector(
        spec.selector, path.child("selector"), allow_invalid_values=allow_invalid_selector_values
    )
    yield from _validate_access_modes(spec.access_modes, path.child("accessModes"))
    storage, resources = spec.resources.requests.get(STORAGE), path.child("resources").key(STORAGE)
    if storage is None:
        yield required(resources)
    else:
        yield from validate_positive_quantity(storage, resources)
    yield from _validate_class_name(spec.storage_class_name, path.child("storageClassName"))
    if spec.volume_mode is not None and spec.volume_mode not in VOLUME_MODES:
        yield not_supported(path.child("volumeMode"), spec.volume_mode, VOLUME_MODES)
    yield from _validate_data_sources(spec, path, allow_invalid_api_groups)
    yield from _validate_class_name(
        spec.volume_attributes_class_name, path.child("volumeAttributesClassName")
    )


def _validate_access_modes(modes: list[str], path: Path) -> FieldErrors:
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(path, mode, ACCESS_MODES)
    if _EXCLUSIVE in modes and set(ACCESS_MODES) & set(modes) != {_EXCLUSIVE}:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _validate_class_name(name: str | None, path: Path) -> FieldErrors:
    for error in dns_subdomain_name(name, False) if name else ():
        yield invalid(path, name, error)


def _validate_data_sources(
    spec: PersistentVolumeClaimSpec, path: Path, allow_invalid_api_groups: bool
) -> FieldErrors:
    source, reference = spec.data_source, spec.data_source_ref
    if source is not None:
        yield from _validate_source(source, path.child("dataSource"), allow_invalid_api_groups)
    if reference is None:
        return
    here = path.child("dataSourceRef")
    yield from _validate_source(reference, here, allow_invalid_api_groups)
    for error in dns_label_name(reference.namespace, False) if reference.namespace else ():
        yield invalid(here.child("namespace"), reference.namespace, error)
    if source is None:
        return
    # As in Kubernetes, the value is a path, which is shown as an empty object.
    if reference.namespace:
        rule = "may not be specified when dataSourceRef.namespace is specified"
        yield invalid(path, {}, rule)
    elif _identity(source) != _identity(reference):
        yield invalid(path, {}, "must match dataSourceRef")


def _validate_source(
    source: TypedLocalObjectReference | TypedObjectReference,
    path: Path,
    allow_invalid_api_groups: bool,
) -> FieldErrors:
    if not source.name:
        yield required(path.child("name"))
    if not source.kind:
        yield required(path.child("kind"))
    if not source.api_group:
        if source.kind != "PersistentVolumeClaim":
            rule = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            yield invalid(path, source.kind, rule)
    elif not allow_invalid_api_groups:
        for error in is_dns1123_subdomain(source.api_group):
            yield invalid(path.child("apiGroup"), source.api_group, error)


def _identity(
    source: TypedLocalObjectReference | TypedObjectReference,
) -> tuple[str | None, str, str]:
    return source.api_group, source.kind, source.name
