"""Validation of ControllerRevisions."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, required
from apimachinery.meta.metadata_validation import validate_nonnegative
from apis.apps.v1.controller_revision import ControllerRevision
from apis.apps.validation.workloads import validate_unchanged

_DATA: Final = Path("data")


def validate_controller_revision(revision: ControllerRevision) -> FieldErrors:
    yield from validate_nonnegative(revision.revision, Path("revision"))
    if revision.data is None:
        yield required(_DATA, "data is mandatory")


def validate_controller_revision_update(
    new: ControllerRevision, old: ControllerRevision
) -> FieldErrors:
    yield from validate_nonnegative(new.revision, Path("revision"))
    yield from validate_unchanged(new.data, old.data, _DATA)
