"""Document diff: encode only the fields that differ between two objects.

A write usually changes one or two of many fields. Field ownership compares the encoded old and new
objects, and need not encode the fields that are equal.
"""

from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin

import orjson
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.wire_rules import NULL_WHEN_EMPTY

Document = dict[str, Any]
Fields = dict[str, Any]
"""Field names in pydantic's include/exclude format: True for a whole field, or nested names."""

_BY_VALUE, _BY_FIELD, _ALWAYS_CHANGED = range(3)
"""How a field is compared: by its value, field by field (a Model), or not at all: it counts as
changed unless both objects share the value."""

_EXACT: Final = (str, int, float, bool, bytes, datetime, timedelta, Enum)
"""Types whose equal values are encoded alike. A Quantity is not among them (1Gi equals 1073741824),
nor is untyped JSON (1 equals true)."""


_ZEROS: Final[dict[type, Any]] = {str: "", int: 0, bool: False}


def has_only_declared_fields(cls: type[BaseModel]) -> bool:
    """Return whether objects of the class cannot have undeclared fields."""
    return cls.model_config.get("extra") != "allow"


def changed_parts(
    old: BaseModel, new: BaseModel, *, leave_out: Fields
) -> tuple[Document, Document]:
    """Encode the fields in which two objects of a class differ, without *leave_out*."""
    fields = _without(_changed(old, new), leave_out)
    if not fields:
        return {}, {}
    return _document(old, include=fields), _document(new, include=fields)


def whole_document(obj: BaseModel, *, leave_out: Fields) -> Document:
    """Encode all fields of an object, without *leave_out*."""
    return _document(obj, exclude=leave_out)


def empty_document(cls: type[BaseModel]) -> Document:
    """Return the parts that every object of a class has, empty: what a creation starts from.

    In Go they are the structs that are no pointers, and the lists and scalars that are written when
    they are empty. Nobody owns them, only the fields and items in them.
    """
    empty: Document = {}
    for field in fields_of(cls):
        if field.type.category == "model" and not field.type.optional and not field.required:
            empty[field.wire] = empty_document(field.type.python)
        elif _is_written_when_empty(field.info):
            # A time is a struct in Go, which is null if it is zero.
            if NULL_WHEN_EMPTY in field.info.metadata or field.type.python is datetime:
                empty[field.wire] = None
            elif field.markers.list_map_keys:
                empty[field.wire] = []
            elif field.type.python in _ZEROS and not field.type.optional:
                empty[field.wire] = _ZEROS[field.type.python]
    return empty


def _is_written_when_empty(info: FieldInfo) -> bool:
    return info.exclude_if is not None and not info.exclude_if([])


def _changed(old: BaseModel, new: BaseModel) -> Fields:
    changed: Fields = {}
    old_values, new_values = old.__dict__, new.__dict__
    for name, comparison in _comparison_plan(type(old)):
        before, after = old_values[name], new_values[name]
        if before is after or (comparison == _BY_VALUE and before == after):
            continue
        if comparison != _BY_FIELD or before is None or after is None:
            changed[name] = True
        elif nested := _changed(before, after):
            changed[name] = nested
    return changed


def _without(fields: Fields, left_out: Fields) -> Fields:
    remaining: Fields = {}
    for name, nested in fields.items():
        excluded = left_out.get(name)
        if excluded is True:
            continue
        if excluded and nested is not True:
            nested = _without(nested, excluded)
        if nested:
            remaining[name] = nested
    return remaining


def _document(obj: BaseModel, **selected: Fields) -> Document:
    # The serializer returns bytes; `model_dump_json` would decode them to a str in between.
    data = obj.__pydantic_serializer__.to_json(obj, by_alias=True, **selected)  # type: ignore[arg-type]
    document: Document = orjson.loads(data)
    return document


def _comparison_plan(cls: type[BaseModel]) -> tuple[tuple[str, int], ...]:
    cached: tuple[tuple[str, int], ...] | None = cls.__dict__.get("__comparison_plan_cache__")
    if cached is None:
        cached = tuple((field.name, _comparison(field.type)) for field in fields_of(cls))
        type.__setattr__(cls, "__comparison_plan_cache__", cached)
    return cached


def _comparison(info: TypeInfo) -> int:
    if info.category == "model":
        return _BY_FIELD if has_only_declared_fields(info.python) else _ALWAYS_CHANGED
    return _BY_VALUE if is_exact(info) else _ALWAYS_CHANGED


def is_exact(info: TypeInfo, enclosing: tuple[type, ...] = ()) -> bool:
    """Return whether equal values of a type are always encoded alike.

    *enclosing* are the classes that the type is nested in.
    """
    if info.item is not None:
        return is_exact(info.item, enclosing)
    if info.category == "model":
        if info.python in enclosing:
            return True  # a recursive type: its other fields decide
        nested = (*enclosing, info.python)
        return has_only_declared_fields(info.python) and all(
            is_exact(field.type, nested) for field in fields_of(info.python)
        )
    return info.category == "scalar" and all(map(_is_exact_scalar, _alternatives(info.python)))


def _alternatives(python: Any) -> tuple[Any, ...]:
    """Return the types of a union; none for a Literal, whose values are all exact."""
    if get_origin(python) is Literal:
        return ()
    return get_args(python) or (python,)


def _is_exact_scalar(python: Any) -> bool:
    return isinstance(python, type) and issubclass(python, _EXACT)
