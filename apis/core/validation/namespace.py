"""Validation of namespaces, and of updates of their status and finalizers."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.metadata_validation import validate_qualified_finalizer
from apimachinery.names import is_qualified_name
from apis.core.v1.namespace import ACTIVE, TERMINATING, Namespace

_FINALIZERS: Final = Path("spec", "finalizers")


def validate_namespace(namespace: Namespace) -> FieldErrors:
    for name in namespace.spec.finalizers:
        yield from _validate_qualified_finalizer(name, _FINALIZERS)


def validate_namespace_status_update(new: Namespace) -> FieldErrors:
    """Validate that the phase agrees with the deletion timestamp."""
    path = Path("status", "Phase")
    if new.metadata.deletion_timestamp is None:
        if new.status.phase != ACTIVE:
            rule = "may only be 'Active' if `deletionTimestamp` is empty"
            yield invalid(path, new.status.phase, rule)
    elif new.status.phase != TERMINATING:
        rule = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        yield invalid(path, new.status.phase, rule)


def validate_namespace_finalize_update(new: Namespace) -> FieldErrors:
    for position, name in enumerate(new.spec.finalizers):
        yield from _validate_qualified_finalizer(name, _FINALIZERS.index(position))


def _validate_qualified_finalizer(name: str, path: Path) -> FieldErrors:
    for error in is_qualified_name(name):
        yield invalid(path, name, error)
    yield from validate_qualified_finalizer(name, path)
