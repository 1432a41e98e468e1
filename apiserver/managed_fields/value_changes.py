"""Value changes: the fields whose values an update changes, if it changes nothing else.

Most updates neither add nor remove a field: a controller renews a time, a count or a condition that
it owns already. Their changes are found by walking the two objects side by side, without encoding
either of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

from apimachinery.apply import path_elements as paths
from apimachinery.apply.path_elements import Path
from apimachinery.meta.types import ManagedFieldsEntry
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of, shape_of
from apimachinery.model.document_diff import has_only_declared_fields, is_exact
from apimachinery.model.model import Model
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape
from apimachinery.scalars.time import TIME, format_time

Changes: TypeAlias = list[Path]
_Part: TypeAlias = Callable[[Any, Any, Path, Changes], None]
"""Adds the changes between two values that differ; raises OtherFields."""


class OtherFields(Exception):
    """Two objects do not have the same fields, or have values that only documents can compare."""


def changed_values(old: Model, new: Model) -> Changes:
    """Return the paths of the leaves in which two objects of a class differ.

    Raises OtherFields.
    """
    changes: Changes = []
    _compare_fields(old, new, (), changes)
    return changes


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field of a class is compared."""

    name: str
    element: str
    is_exact: bool
    """Whether equal values are written alike."""
    add_changes: _Part


def _compare_fields(old: Model, new: Model, path: Path, changes: Changes) -> None:
    before, after = old.__dict__, new.__dict__
    for field in _plan(type(new)):
        one, other = before[field.name], after[field.name]
        if one is other or (field.is_exact and one == other):
            continue
        field.add_changes(one, other, (*path, field.element), changes)


def _plan(cls: type[Model]) -> tuple[_Field, ...]:
    """Return how the fields of *cls* are compared, computed once per class."""
    cached: tuple[_Field, ...] | None = cls.__dict__.get("__value_changes_cache__")
    if cached is None:
        shapes = shape_of(cls).fields
        cached = tuple(
            _field(field, shapes[field.wire])
            for field in fields_of(cls)
            if field.type.model is not ManagedFieldsEntry  # they have no owners
        )
        type.__setattr__(cls, "__value_changes_cache__", cached)
    return cached


def _field(field: ModelField, shape: Shape) -> _Field:
    # A struct is compared field by field, which finds the values that are not exact.
    exact = is_exact(field.type) and not isinstance(shape, StructShape)
    return _Field(field.name, paths.field(field.wire), exact, _part(field.type, shape))


def _part(info: TypeInfo, shape: Shape) -> _Part:
    match shape:
        case StructShape(atomic=False) if _is_declared(info):
            return _in_struct
        case ListShape(type="map", items=StructShape(atomic=False)) if info.item is not None:
            return partial(_in_items, _key_names(info.item, shape))
        case Scalar() if info.marked(TIME):
            return _in_time
        case MapShape(atomic=False, values=Scalar()) if _is_plain(info):
            return _in_map
        case Scalar() | ListShape(type="atomic") | MapShape(atomic=True) if _is_plain(info):
            return _in_leaf
    return _refuse


def _is_plain(info: TypeInfo) -> bool:
    """Return whether the type is a scalar, or a collection of scalars, that is always exact.

    Structs that differ may be written alike: an empty list is left out like an unset one.
    """
    if info.item is not None:
        return _is_plain(info.item)
    return info.category == "scalar" and info.python is not timedelta and is_exact(info)


def _is_declared(info: TypeInfo) -> bool:
    return info.category == "model" and has_only_declared_fields(info.python)


def _key_names(item: TypeInfo, shape: ListShape) -> Mapping[str, str]:
    """Return the names of the key fields by their names on the wire."""
    if not _is_declared(item):
        return {}
    names = {field.wire: field.name for field in fields_of(item.python)}
    return {wire: names[wire] for wire in shape.keys} if names.keys() >= set(shape.keys) else {}


def _refuse(old: Any, new: Any, path: Path, changes: Changes) -> None:
    raise OtherFields


def _in_leaf(old: Any, new: Any, path: Path, changes: Changes) -> None:
    # An unset or zero value may be left out of the document.
    if not old or not new:
        raise OtherFields
    changes.append(path)


def _in_time(old: Any, new: Any, path: Path, changes: Changes) -> None:
    if old is None or new is None:
        raise OtherFields
    if format_time(old) != format_time(new):
        changes.append(path)


def _in_map(old: Any, new: Any, path: Path, changes: Changes) -> None:
    if not old or not new or old.keys() != new.keys():
        raise OtherFields
    changes += [(*path, paths.field(key)) for key, value in new.items() if old[key] != value]


def _in_struct(old: Any, new: Any, path: Path, changes: Changes) -> None:
    if old is None or new is None:
        raise OtherFields
    _compare_fields(old, new, path, changes)


def _in_items(keys: Mapping[str, str], old: Any, new: Any, path: Path, changes: Changes) -> None:
    elements = _elements(keys, old)
    # A set of them is smaller if two items have the same keys, which are not compared one by one.
    if elements != _elements(keys, new) or len(set(elements)) < len(elements):
        raise OtherFields
    for element, before, after in zip(elements, old, new, strict=True):
        _compare_fields(before, after, (*path, element), changes)


def _elements(keys: Mapping[str, str], items: Sequence[Model] | None) -> list[str]:
    if not items or not keys:
        raise OtherFields
    values = ({wire: item.__dict__[name] for wire, name in keys.items()} for item in items)
    return [_element(each) for each in values]


def _element(values: Mapping[str, Any]) -> str:
    # A key that is unset may be left out of the document, or have a default.
    if not all(isinstance(value, str | int) and value for value in values.values()):
        raise OtherFields
    return paths.key(values)
