"""Server-side apply: who owns which field of an object, and what an apply does to both.

`FieldManager` does it all for whole objects. Below it, from the bottom up:

    paths, fieldset             path elements, and sets of fields (FieldsV1)
    typed, reshape              does a value have its shape, and which fields does it have
    compare, merge, remove      one value against another, by shape
    conflicts, managers         the rules of ownership
    managed_fields              managers as entries of `metadata.managedFields`
"""

from apimachinery.apply.apply_errors import (
    ApplyError,
    InvalidFieldSet,
    InvalidManagedFields,
    InvalidPatch,
    InvalidValue,
    MissingVersion,
)
from apimachinery.apply.compare import Comparison, appear, compare
from apimachinery.apply.conflicts import ApplyConflict, FieldConflict, ManagerIdentifier
from apimachinery.apply.field_manager import FieldManager, no_other_version
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.managers import FieldOwnership, OwnedFields
from apimachinery.apply.merge import merge
from apimachinery.apply.remove import extract_items, remove_items
from apimachinery.apply.typed_values import set_of, validate

__all__ = [
    "ApplyConflict",
    "ApplyError",
    "Comparison",
    "FieldConflict",
    "FieldManager",
    "FieldOwnership",
    "FieldSet",
    "InvalidFieldSet",
    "InvalidManagedFields",
    "InvalidPatch",
    "InvalidValue",
    "ManagerIdentifier",
    "MissingVersion",
    "OwnedFields",
    "appear",
    "compare",
    "extract_items",
    "merge",
    "no_other_version",
    "remove_items",
    "set_of",
    "validate",
]
