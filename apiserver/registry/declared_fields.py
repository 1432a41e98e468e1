"""Declared fields: enforce the rules that the classes of a kind declare on their fields.

A version and the internal class may each declare rules (`apimachinery.model.declared_rules`). Those
of the internal class hold for every write. Those of a version hold for writes in that version: the
object is validated as clients will read it there, and so after defaulting, patching and mutating
admission. It is converted only if the version declares rules. A field that the conversion drops is
not stored, so that there is nothing to enforce for it.
"""

from dataclasses import replace

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.types import Object
from apimachinery.model.declared_rules import has_declared, validate_declared
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import Scheme


def declared_errors(
    scheme: Scheme, kind: GroupVersionKind, new: Object, old: Object | None, *, only: str = ""
) -> FieldErrors:
    """Yield the errors of an internal object, with the field names of *kind*, the request's.

    A field with rules in both classes may be reported by both. With *only* that field of the
    object is validated and no other.
    """
    versioned = scheme.class_of(kind) if scheme.recognizes(kind) else None
    if versioned is not None and versioned is not type(new) and has_declared(versioned):
        converted = scheme.convert(new, versioned)
        stored = None if old is None else scheme.convert(old, versioned)
        yield from validate_declared(converted, stored, only=only)
    for error in validate_declared(new, old, only=only):
        if versioned is not None:
            error = replace(error, field=scheme.field_path(versioned, error.field))
        yield error
