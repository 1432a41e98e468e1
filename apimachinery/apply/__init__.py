"""Server-side apply: track field ownership and merge applied configurations.

`FieldManager` is the entry point and works on whole objects. The modules below it, bottom up:

    path_elements, fieldset     path elements, and sets of fields (FieldsV1)
    value_shapes, typed_values  validate a value against its shape and list the fields it sets
    reshape                     adjust a field set to the shape of its type
    compare, merge, remove      compare, merge and prune values by shape
    conflicts, managers         the rules of field ownership
    managed_fields              encode and decode `metadata.managedFields`
    last_applied                migrate from client-side apply
"""

from apimachinery.apply.apply_errors import (
    ApplyError,
    InvalidFieldSet,
    InvalidManagedFields,
    InvalidPatch,
    InvalidValue,
    MissingVersion,
)
from apimachinery.apply.compare import Comparison, compare, compare_to_empty
from apimachinery.apply.conflicts import ApplyConflict, FieldConflict, ManagerIdentifier
from apimachinery.apply.field_manager import FieldManager, no_other_version
from apimachinery.apply.field_ownership import FieldOwnership, OwnedFields
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.merge import merge
from apimachinery.apply.remove import extract_items, remove_items
from apimachinery.apply.typed_values import field_set_of, validate

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
    "compare",
    "compare_to_empty",
    "extract_items",
    "field_set_of",
    "merge",
    "no_other_version",
    "remove_items",
    "validate",
]
