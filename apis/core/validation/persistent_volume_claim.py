"""Validation of claims: what may change of a claim, and the status of its volume."""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import validate_immutable, validate_label_selector
from apimachinery.names import is_qualified_name
from apimachinery.scalars.quantity import Quantity
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim, PersistentVolumeClaimSpec
from apis.core.v1.persistent_volume_claim_status import BOUND, RESIZE_STATUSES
from apis.core.validation.persistent_volume_claim_spec import validate_claim_spec
from apis.core.validation.resource_names import STORAGE, is_native_resource
from apis.core.validation.struct_diff import struct_diff

STORAGE_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"

_SPEC: Final = Path("spec")
_CLASS: Final = _SPEC.child("volumeAttributesClassName")
_REQUEST: Final = _SPEC.child("resources", "requests", STORAGE)
_ZERO: Final = Quantity("0")


def validate_persistent_volume_claim(
    claim: PersistentVolumeClaim, old: PersistentVolumeClaim | None = None
) -> FieldErrors:
    """Validate a claim; a change of *old* may keep what newer rules forbid."""
    yield from validate_claim_spec(
        claim.spec,
        _SPEC,
        allow_invalid_selector_values=old is not None and _has_invalid_selector(old.spec),
        allow_invalid_api_groups=old is not None and _names_api_group(old.spec),
    )


def validate_persistent_volume_claim_update(
    new: PersistentVolumeClaim, old: PersistentVolumeClaim
) -> FieldErrors:
    yield from validate_persistent_volume_claim(new, old)
    annotation = new.metadata.annotations.get(STORAGE_CLASS_ANNOTATION, "")
    changed = annotation != old.metadata.annotations.get(STORAGE_CLASS_ANNOTATION, "")
    if changed and not _moves_class_from_annotation(new, old):
        yield immutable(Path("metadata", "annotations", STORAGE_CLASS_ANNOTATION), annotation)
    comparable, before = _without_allowed_changes(new, old)
    if comparable != before:
        rule = (
            "spec is immutable after creation except resources.requests and"
            f" volumeAttributesClassName for bound claims\n{struct_diff(before, comparable)}"
        )
        yield forbidden(_SPEC, rule)
    yield from _validate_size(new, old)
    yield from validate_immutable(new.spec.volume_mode, old.spec.volume_mode, Path("volumeMode"))
    yield from _validate_attributes_class(new, old)


def validate_persistent_volume_claim_status_update(new: PersistentVolumeClaim) -> FieldErrors:
    if not new.spec.access_modes:
        yield required(Path("Spec", "accessModes"))
    status, path = new.status, Path("status")
    for name in sorted(status.capacity):
        yield from _validate_amount(status.capacity[name], path.child("capacity").key(name))
    here = path.child("allocatedResourceStatuses")
    for name in sorted(status.allocated_resource_statuses):
        yield from _validate_resource(name, here)
        if status.allocated_resource_statuses[name] not in RESIZE_STATUSES:
            yield not_supported(here, name, RESIZE_STATUSES)
    here = path.child("allocatedResources")
    for name in sorted(status.allocated_resources):
        errors = list(_validate_resource(name, here))
        yield from errors
        if not errors:
            yield from _validate_amount(status.allocated_resources[name], here.key(name))


def _has_invalid_selector(spec: PersistentVolumeClaimSpec) -> bool:
    return any(validate_label_selector(spec.selector, Path("")))


def _names_api_group(spec: PersistentVolumeClaimSpec) -> bool:
    references = (spec.data_source, spec.data_source_ref)
    return any(
        reference is not None and reference.api_group is not None for reference in references
    )


def _moves_class_from_annotation(new: PersistentVolumeClaim, old: PersistentVolumeClaim) -> bool:
    """Return whether the storage class moves from the old annotation to its field."""
    before = old.metadata.annotations.get(STORAGE_CLASS_ANNOTATION)
    after = new.metadata.annotations.get(STORAGE_CLASS_ANNOTATION)
    return (
        before is not None
        and old.spec.storage_class_name is None
        and new.spec.storage_class_name == before
        and after in (None, before)
    )


def _sets_class(new: PersistentVolumeClaim, old: PersistentVolumeClaim) -> bool:
    """Return whether a claim without a storage class gets one, which is allowed once."""
    name = new.spec.storage_class_name
    before = old.metadata.annotations.get(STORAGE_CLASS_ANNOTATION)
    return name is not None and old.spec.storage_class_name is None and before in (None, name)


def _without_allowed_changes(
    new: PersistentVolumeClaim, old: PersistentVolumeClaim
) -> tuple[PersistentVolumeClaimSpec, PersistentVolumeClaimSpec]:
    """Return the specs to compare: the new and the old one without changes that are allowed."""
    after, before = new.spec.deep_copy(), old.spec.deep_copy()
    before.volume_name = before.volume_name or after.volume_name
    if _moves_class_from_annotation(new, old):
        after.storage_class_name = None
    elif _sets_class(new, old):
        after.storage_class_name = before.storage_class_name
    if new.status.phase == BOUND:
        if after.resources.requests:
            size = before.resources.requests.get(STORAGE, _ZERO)
            after.resources.requests = {**after.resources.requests, STORAGE: size}
        after.volume_attributes_class_name = before.volume_attributes_class_name
    return after, before


def _validate_size(new: PersistentVolumeClaim, old: PersistentVolumeClaim) -> FieldErrors:
    """Validate that a request shrinks only to undo an expansion, not below the actual size."""
    size = new.spec.resources.requests.get(STORAGE, _ZERO)
    shrinks = size < old.spec.resources.requests.get(STORAGE, _ZERO)
    if shrinks and size <= old.status.capacity.get(STORAGE, _ZERO):
        yield forbidden(_REQUEST, "field can not be less than status.capacity")


def _validate_attributes_class(
    new: PersistentVolumeClaim, old: PersistentVolumeClaim
) -> FieldErrors:
    name = new.spec.volume_attributes_class_name
    if name == old.spec.volume_attributes_class_name or name:
        return
    if old.status.current_volume_attributes_class_name is not None:
        value = "nil" if name is None else "empty string"
        rule = f"update to {value} is forbidden"
        reason = "when status.currentVolumeAttributesClassName is not nil"
        yield forbidden(_CLASS, f"{rule} {reason}")


def _validate_resource(name: str, path: Path) -> FieldErrors:
    errors = is_qualified_name(name)
    for error in errors:
        yield invalid(path, name, error)
    if not errors and is_native_resource(name) and name != STORAGE:
        yield not_supported(path, name, (STORAGE,))


def _validate_amount(amount: Quantity, path: Path) -> FieldErrors:
    if amount.value() < 0:
        yield invalid(path, amount.value(), "must be a valid resource quantity")
