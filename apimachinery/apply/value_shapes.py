"""Values and their shapes: the steps that validation, comparison, merge and removal share.

The shape of an `Untyped` value follows from its content: a map is granular, a list is atomic, and
null is an empty map. Null is a valid value of every shape and stands for an empty container.
"""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import ApplyProblem, InvalidValue
from apimachinery.apply.fieldset import MAX_DEPTH
from apimachinery.apply.path_elements import Element
from apimachinery.fieldpath import quote
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape, Untyped

JSON = Any
Concrete = Scalar | ListShape | MapShape | StructShape
"""Any shape but `Untyped`."""

ABSENT: Final[Any] = object()
"""Marks a missing value, as opposed to null."""

NOT_DECLARED: Final = "field not declared in schema"

# Tuples, because isinstance() is twice as fast with them as with unions.
CONTAINERS: Final = (dict, list)
MAPS: Final = (MapShape, StructShape)

_UNTYPED: Final = Untyped()
_UNTYPED_MAP: Final = MapShape(_UNTYPED)
_UNTYPED_LIST: Final = ListShape(_UNTYPED)
_SCALAR: Final = Scalar()


class BadItem(ValueError):
    """A list item has no valid identity."""


def resolve(shape: Shape, value: JSON) -> Concrete:
    """Return the shape itself, or for `Untyped` the shape of the value's content."""
    if not isinstance(shape, Untyped):
        return shape
    if value is None or isinstance(value, dict):
        return _UNTYPED_MAP
    return _UNTYPED_LIST if isinstance(value, list) else _SCALAR


def field_shape(shape: MapShape | StructShape, name: str) -> Shape | None:
    """Return the shape of a field, or None if the field is not allowed."""
    undeclared = undeclared_shape(shape)
    return shape.fields.get(name, undeclared) if isinstance(shape, StructShape) else undeclared


def undeclared_shape(shape: MapShape | StructShape) -> Shape | None:
    """Return the shape of fields not declared by name, or None if they are not allowed."""
    if isinstance(shape, MapShape):
        return shape.values
    return _UNTYPED if shape.preserves_unknown else None


def require_field_shape(shape: MapShape | StructShape, name: str) -> Shape:
    """Return the shape of a field; raise InvalidValue if the field is not allowed."""
    field_type = field_shape(shape, name)
    if field_type is None:
        raise InvalidValue(ApplyProblem(f".{name}", NOT_DECLARED))
    return field_type


def is_atomic(shape: Concrete) -> bool:
    """Return whether values of this shape are owned and replaced as a whole."""
    if isinstance(shape, ListShape):
        return shape.type == "atomic"
    return isinstance(shape, Scalar) or shape.atomic


def as_map(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def item_element(shape: ListShape, item: JSON) -> Element:
    """Return the element that identifies *item* in a list of type set or map.

    Raises BadItem if the item lacks a key or its type cannot identify it.
    """
    try:
        return _key_element(shape, item) if shape.type == "map" else _value_element(item)
    except paths.UnsupportedValue as error:
        raise BadItem(str(error)) from None


def item_elements(shape: ListShape, items: Sequence[JSON]) -> list[Element]:
    """Return the element of each item; raise InvalidValue if one has no valid identity."""
    elements = []
    for position, item in enumerate(items):
        try:
            elements.append(item_element(shape, item))
        except BadItem as error:
            raise InvalidValue(ApplyProblem("", f"element {position}: {error}")) from None
    return elements


def equal(left: JSON, right: JSON) -> bool:
    """Return whether two values are equal JSON: 1 equals 1.0, but true does not equal 1."""
    return same_serialization(left, right) or _equal(left, right, 0)


def same_serialization(left: JSON, right: JSON) -> bool:
    """Return whether two values serialize to the same JSON.

    Faster than `equal`, but it can return False for equal values (1 and 1.0).
    """
    try:
        return orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
            right, option=orjson.OPT_SORT_KEYS
        )
    except (orjson.JSONEncodeError, RecursionError):
        return False


def check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidValue(ApplyProblem("", f"nested more than {MAX_DEPTH} levels deep"))


def go_text(value: JSON, depth: int = 0) -> str:
    """Return the value as Go prints it in messages."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        pairs = (f"{name}:{go_text(value[name], depth + 1)}" for name in sorted(value, key=str))
        return f"map[{' '.join(pairs)}]"
    if isinstance(value, list) and depth < MAX_DEPTH:
        return f"[{' '.join(go_text(item, depth + 1) for item in value)}]"
    if isinstance(value, CONTAINERS):
        return "..."
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key_element(shape: ListShape, item: JSON) -> Element:
    if item is None:
        raise BadItem("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise BadItem("associative list with keys may not have non-map elements")
    # A key without a value and a default is left out: an item that has it is another one.
    values = {name: item.get(name, shape.key_defaults.get(name)) for name in shape.keys}
    present = {name: value for name, value in values.items() if value is not None or name in item}
    if not present:
        names = " ".join(map(quote, shape.keys))
        raise BadItem(
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    return paths.key(present)


def _value_element(item: JSON) -> Element:
    if isinstance(item, dict):
        raise BadItem("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise BadItem("not supported: associative list with lists as elements")
    if item is None:
        raise BadItem("associative list without keys has an element that's an explicit null")
    return paths.value(item)


def _equal(left: JSON, right: JSON, depth: int) -> bool:
    check_depth(depth)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            _equal(value, right[name], depth + 1) for name, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            _equal(a, b, depth + 1) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, CONTAINERS) or isinstance(right, CONTAINERS):
        return False
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
