"""Validation of finalizers: core kinds have stricter rules than others."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.metadata_validation import FINALIZER_FOREGROUND, FINALIZER_ORPHAN
from apimachinery.meta.types import ObjectMeta
from apis.core.v1.namespace import FINALIZER_KUBERNETES

_STANDARD: Final = (FINALIZER_KUBERNETES, FINALIZER_ORPHAN, FINALIZER_FOREGROUND)
_FINALIZERS: Final = Path("metadata", "finalizers")


def validate_finalizers(metadata: ObjectMeta) -> FieldErrors:
    """Validate finalizers; that they are qualified names is checked for every kind elsewhere."""
    for position, name in enumerate(metadata.finalizers):
        yield from validate_finalizer(name, _FINALIZERS.index(position))


def validate_finalizer(name: str, path: Path) -> FieldErrors:
    """Validate that a finalizer without a domain is one of Kubernetes' own."""
    if "/" not in name and name not in _STANDARD:
        rule = "name is neither a standard finalizer name nor is it fully qualified"
        yield invalid(path, name, rule)
