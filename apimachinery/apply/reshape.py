"""Adjust field sets to a shape: add named parents, follow changes of list and map types."""

from typing import Final

from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.path_elements import Element
from apimachinery.apply.value_shapes import MAPS, field_shape, is_atomic
from apimachinery.model.type_shape import ListShape, Shape, StructShape, Untyped

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
    """Adjust the set after its type changed: owners of a part of a now atomic field own all of it.

    Returns the same instance if nothing changes.
    """
    if not fields.children or shape is None or isinstance(shape, Untyped):
        return fields
    atomic = set()
    changed = {}
    for element, child in fields.children.items():
        below = _child_shape(shape, element)
        if isinstance(below, _CONTAINERS) and is_atomic(below):
            atomic.add(element)
        elif (adjusted := reconcile_with_shape(child, below)) is not child:
            changed[element] = adjusted
    if not (atomic or changed):
        return fields
    children = {e: changed.get(e, c) for e, c in fields.children.items() if e not in atomic}
    return FieldSet(fields.members | atomic, children)


def _child_shape(shape: Shape | None, element: Element) -> Shape | None:
    if element[0] == "f" and isinstance(shape, MAPS):
        return field_shape(shape, element[2:])
    if element[0] != "f" and isinstance(shape, ListShape):
        return shape.items
    return None
