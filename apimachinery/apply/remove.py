"""Remove a set of fields from a value (`remove_items`), or everything else (`extract_items`)."""

from apimachinery.apply import path_elements as paths
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.value_shapes import (
    JSON,
    as_list,
    as_map,
    check_depth,
    is_atomic,
    item_elements,
    require_field_shape,
    resolve,
)
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape


def remove_items(value: JSON, fields: FieldSet, shape: Shape) -> JSON:
    """Return *value* without *fields*.

    A granular container that loses all its content becomes null, unless it is one of *fields*
    itself and is removed. An atomic container has no removable parts: it becomes null as a whole
    when *fields* has paths below it.
    """
    return _remove(value, fields, shape, 0)


def extract_items(value: JSON, fields: FieldSet, shape: Shape) -> JSON:
    """Return *value* with only *fields*: the configuration whose applier owns exactly these.

    Items of keyed lists always keep their key fields.
    """
    return _extract(value, fields, shape, 0)


def _remove(value: JSON, fields: FieldSet, shape: Shape, depth: int) -> JSON:
    if not fields:
        return value
    check_depth(depth)
    concrete = resolve(shape, value)
    if isinstance(concrete, Scalar):
        return value
    if is_atomic(concrete):
        return None
    if isinstance(concrete, ListShape):
        return _remove_from_list(as_list(value), fields, concrete, depth) or None
    return _remove_from_map(as_map(value), fields, concrete, depth) or None


def _remove_from_map(
    value: dict[str, JSON], fields: FieldSet, shape: MapShape | StructShape, depth: int
) -> dict[str, JSON]:
    remaining = {}
    for name, item in value.items():
        element = paths.field(name)
        if element in fields.members:
            continue
        below = fields.children.get(element)
        if below is not None:
            item = _remove(item, below, require_field_shape(shape, name), depth + 1)
        remaining[name] = item
    return remaining


def _remove_from_list(
    items: list[JSON], fields: FieldSet, shape: ListShape, depth: int
) -> list[JSON]:
    elements = item_elements(shape, items)
    return [
        _remove(item, fields.below(element), shape.items, depth + 1)
        for element, item in zip(elements, items, strict=True)
        if element not in fields.members
    ]


def _extract(value: JSON, fields: FieldSet, shape: Shape, depth: int) -> JSON:
    check_depth(depth)
    concrete = resolve(shape, value)
    if value is None or isinstance(concrete, Scalar) or is_atomic(concrete):
        return value
    if isinstance(concrete, ListShape):
        return _extract_from_list(as_list(value), fields, concrete, depth)
    return _extract_from_map(as_map(value), fields, concrete, depth)


def _extract_from_map(
    value: dict[str, JSON], fields: FieldSet, shape: MapShape | StructShape, depth: int
) -> dict[str, JSON]:
    extracted = {}
    for name, item in value.items():
        element = paths.field(name)
        if element in fields.members or element in fields.children:
            below = require_field_shape(shape, name)
            extracted[name] = _extract(item, fields.below(element), below, depth + 1)
    return extracted


def _extract_from_list(
    items: list[JSON], fields: FieldSet, shape: ListShape, depth: int
) -> list[JSON]:
    extracted = []
    for element, item in zip(item_elements(shape, items), items, strict=True):
        if element not in fields.members and element not in fields.children:
            continue
        part = _extract(item, fields.below(element), shape.items, depth + 1)
        if shape.type == "map":
            part = {name: item[name] for name in shape.keys if name in item} | part
        extracted.append(part)
    return extracted
