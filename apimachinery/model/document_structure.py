"""Document structure: which fields an object has, without their values.

The writer of a new object owns all fields that it has, so objects of one structure have the same
field set. Objects that one program creates usually differ in their values only, and a structure
costs a fraction of the field set that it stands for.

Values are part of it where the field set names them: the items of lists of type "set", and the
keys of lists of type "map". Of other values it says whether they are unset, zero or neither. That
decides whether they are written, and whether they differ from what every object of the class has.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of, shape_of
from apimachinery.model.document_diff import has_only_declared_fields
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape

_Part: TypeAlias = Callable[[Any], Hashable]
"""Returns the structure of the value of one field."""

_IDENTIFYING: Final = (str, int)
"""The types by which items of lists are identified: equal values are written alike."""


class UntypedValues(ValueError):
    """An object with untyped values, whose fields no class declares."""


def structure_of(obj: BaseModel) -> Hashable:
    """Return a value that is equal for objects of a class whose documents have the same fields.

    Raises UntypedValues.
    """
    plan, values = _plan(type(obj)), obj.__dict__
    return (
        tuple(map(bool, plan.scalars(values))),
        tuple([value if value is None else bool(value) for value in plan.optional(values)]),
        tuple([part(values[name]) for name, part in plan.nested]),
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the fields of a class are read."""

    scalars: Callable[[Mapping[str, Any]], Sequence[Any]]
    """Returns the values that are owned as a whole and never None."""
    optional: Callable[[Mapping[str, Any]], Sequence[Any]]
    """Returns the values that are owned as a whole and may be None."""
    nested: tuple[tuple[str, _Part], ...]


def _plan(cls: type[BaseModel]) -> _Plan:
    """Return the plan of *cls*, computed once per class. Raises UntypedValues."""
    cached: _Plan | None = cls.__dict__.get("__structure_plan_cache__")
    if cached is None:
        if not has_only_declared_fields(cls):
            raise UntypedValues(f"{cls.__qualname__} keeps undeclared fields")
        shapes = shape_of(cls).fields
        fields = [(field, shapes[field.wire]) for field in fields_of(cls)]
        whole = [field for field, shape in fields if _is_whole(shape)]
        cached = _Plan(
            _getter([field.name for field in whole if not field.type.optional]),
            _getter([field.name for field in whole if field.type.optional]),
            tuple(
                (field.name, _part(field.type, shape))
                for field, shape in fields
                if not _is_whole(shape)
            ),
        )
        type.__setattr__(cls, "__structure_plan_cache__", cached)
    return cached


def _getter(names: list[str]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


def _is_whole(shape: Shape) -> bool:
    """Return whether values are owned as a whole, and compared with nothing but zero.

    An atomic struct is compared with an empty one, so its fields matter.
    """
    match shape:
        case Scalar() | ListShape(type="atomic") | MapShape(atomic=True):
            return True
    return False


def _part(info: TypeInfo, shape: Shape) -> _Part:
    match shape:
        case ListShape(type="set") if info.item is not None and info.item.python in _IDENTIFYING:
            return _members
        case ListShape(type="map") if info.item is not None and (keys := _keys(info.item, shape)):
            return partial(_items, keys)
        case MapShape() if info.item is not None:
            return _members if _is_whole(shape.values) else _entries(_part(info.item, shape.values))
        case StructShape() if info.category == "model":
            return _struct
    return _refuse


def _keys(item: TypeInfo, shape: ListShape) -> Callable[[Mapping[str, Any]], Sequence[Any]] | None:
    """Return the getter of the keys of an item, None if not all of them are plain values."""
    if item.category != "model":
        return None
    types = {field.wire: field for field in fields_of(item.python)}
    keys = [types.get(wire) for wire in shape.keys]
    names = [key.name for key in keys if key is not None and key.type.python in _IDENTIFYING]
    return _getter(names) if len(names) == len(keys) else None


def _members(value: Any) -> Hashable:
    """Return the keys of a map, or the items of a set."""
    return None if value is None else tuple(value)


def _items(keys: Callable[[Mapping[str, Any]], Sequence[Any]], value: Any) -> Hashable:
    if value is None:
        return None
    return tuple([(tuple(keys(item.__dict__)), structure_of(item)) for item in value])


def _entries(part: _Part) -> _Part:
    def entries(value: Any) -> Hashable:
        return None if value is None else tuple([(key, part(item)) for key, item in value.items()])

    return entries


def _struct(value: Any) -> Hashable:
    return None if value is None else structure_of(value)


def _refuse(value: Any) -> Hashable:
    """Return the structure of an untyped value that is empty. Raises UntypedValues."""
    if value:
        raise UntypedValues("the fields of an untyped value are not declared")
    return value if value is None else False
