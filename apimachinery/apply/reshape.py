"""Sets of fields against a shape: which fields have names, and what a new shape changes."""

from typing import Final

from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.path_elements import Element
from apimachinery.apply.value_shapes import MAPS, field_shape, is_atomic
from apimachinery.model.type_shape import ListShape, Shape, StructShape, Untyped

_CONTAINERS: Final = (ListShape, *MAPS)


def with_named_fields(fields: FieldSet, shape: Shape | None) -> FieldSet:
    """The set, and every declared field that something in the set is below of.

    A struct that has been emptied is removed together with its last field; a map or an item is
    in the set by itself already.
    """
    if not fields.children:
        return fields
    members = set(fields.members)
    children = {}
    for element, child in fields.children.items():
        if isinstance(shape, StructShape) and element[0] == "f" and element[2:] in shape.fields:
            members.add(element)
        children[element] = with_named_fields(child, _child_shape(shape, element))
    return FieldSet(frozenset(members), children)


def reconcile(fields: FieldSet, shape: Shape | None) -> FieldSet:
    """The set after its type has changed: who owned parts of what is now atomic owns it whole."""
    if not fields.children or shape is None or isinstance(shape, Untyped):
        return fields
    whole = set()
    changed = {}
    for element, child in fields.children.items():
        below = _child_shape(shape, element)
        if isinstance(below, _CONTAINERS) and is_atomic(below):
            whole.add(element)
        elif (kept := reconcile(child, below)) is not child:
            changed[element] = kept
    if not (whole or changed):
        return fields
    children = {e: changed.get(e, c) for e, c in fields.children.items() if e not in whole}
    return FieldSet(fields.members | whole, children)


def _child_shape(shape: Shape | None, element: Element) -> Shape | None:
    if element[0] == "f" and isinstance(shape, MAPS):
        return field_shape(shape, element[2:])
    if element[0] != "f" and isinstance(shape, ListShape):
        return shape.items
    return None
