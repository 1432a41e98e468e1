"""Adjust field sets to a shape: add named parents, follow changes of types."""

from typing import Final

from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.path_elements import Element
from apimachinery.apply.value_shapes import MAPS, field_shape, is_atomic
from apimachinery.model.type_shape import ListShape, Scalar, Shape, StructShape, Untyped

_CONTAINERS: Final = (ListShape, *MAPS)


def ensure_named_fields_are_members(fields: FieldSet, shape: Shape | None) -> FieldSet:
    """Add every declared field that has a member of the set below it.

    Removing such a set then removes an emptied struct together with its last field. Maps and list
    items need no such step: they are members themselves.
    """
    if not fields.children:
        return fields
    members = set(fields.members)
    children = {}
    for element, child in fields.children.items():
        if isinstance(shape, StructShape) and element[0] == "f" and element[2:] in shape.fields:
            members.add(element)
        children[element] = ensure_named_fields_are_members(child, _child_shape(shape, element))
    return FieldSet(frozenset(members), children)


def reconcile_with_shape(fields: FieldSet, shape: Shape | None) -> FieldSet:
    """Adjust the set after its type changed.

    Fields that the type no longer has are removed. Owners of a part of a field that is now atomic,
    or a scalar, own all of it. Returns the same instance if nothing changes.
    """
    if shape is None or isinstance(shape, Untyped):
        return fields
    gone = {element for element in fields.members if _child_shape(shape, element) is None}
    whole = set()
    changed = {}
    for element, child in fields.children.items():
        below = _child_shape(shape, element)
        if below is None:
            gone.add(element)
        elif _is_whole(below):
            whole.add(element)
        elif (adjusted := reconcile_with_shape(child, below)) is not child:
            changed[element] = adjusted
    if not (gone or whole or changed):
        return fields
    children = {e: changed.get(e, c) for e, c in fields.children.items() if e not in gone | whole}
    return FieldSet(fields.members - gone | whole, {e: c for e, c in children.items() if c})


def _is_whole(shape: Shape) -> bool:
    return isinstance(shape, Scalar) or (isinstance(shape, _CONTAINERS) and is_atomic(shape))


def _child_shape(shape: Shape | None, element: Element) -> Shape | None:
    if element[0] == "f" and isinstance(shape, MAPS):
        return field_shape(shape, element[2:])
    if element[0] != "f" and isinstance(shape, ListShape):
        return shape.items
    return None
