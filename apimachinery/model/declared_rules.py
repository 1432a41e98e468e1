"""Declared rules: what `field(enum=…)`, `immutable=True` and `selectable=True` promise.

`validate_declared` enforces the first two when a write is validated, with Kubernetes' messages;
decoding never does, so that clients and stores read any value. `selectable_fields` lists the third.

An update is validated like Kubernetes' declarative validation: a value that the stored object has
at the same place is not validated again, so that an object written under older rules stays
editable. Places correspond by field, by key of a map, by the keys of a list with `list_map_keys`,
and by value in a list of strings. The items of other lists of models have no counterpart: such a
list is validated as a whole if it has changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from apimachinery.fieldpath import FieldErrors, Path, immutable, not_supported
from apimachinery.model.class_fields import ModelField, any_marked, fields_of
from apimachinery.model.model import Model
from apimachinery.model.semantic_equality import equal

_NONE: Final = object()
"""The stored value where there is no stored object, or none that corresponds."""


def has_declared(cls: type[BaseModel]) -> bool:
    """Return whether the class, or one nested in it, has a field with an enum or immutable."""
    cached: bool | None = cls.__dict__.get("__has_declared_cache__")
    if cached is None:
        cached = any_marked(cls, lambda markers: bool(markers.enum) or markers.immutable)
        type.__setattr__(cls, "__has_declared_cache__", cached)
    return cached


def validate_declared(obj: Model, old: Model | None, *, only: str = "") -> FieldErrors:
    """Yield the errors of an object, each path once; *old* is the stored one, None on creation.

    With *only* that field is validated and no other, for updates of the status.
    """
    if has_declared(type(obj)):
        yield from _validate(obj, old, Path(), only)


def selectable_fields(cls: type[BaseModel]) -> Mapping[str, str]:
    """Return the labels of the fields of *cls* that are declared selectable, and their paths.

    Both are the dotted wire path, as in `Resource.fields`. Raises TypeError for a selectable field
    in a list or map, which has more than one value.
    """
    if not any_marked(cls, lambda markers: markers.selectable):
        return {}
    return {path: path for path in _selectable(cls, "", (), place=cls.__qualname__)}


@dataclass(frozen=True, slots=True)
class _Rule:
    """The rules of one field, and of the models in it."""

    name: str
    wire: str
    is_model: bool
    enum: tuple[str, ...]
    """The allowed values, sorted."""
    may_be_empty: bool
    """Whether the empty string means that the field is unset."""
    immutable: bool
    keys: tuple[str, ...]
    """The names of the fields that identify the items of a list."""
    nested: bool
    """Whether models in the field have rules."""


def _rules(cls: type[BaseModel]) -> tuple[_Rule, ...]:
    """Return the rules of the fields of *cls*, computed once per class."""
    cached: tuple[_Rule, ...] | None = cls.__dict__.get("__declared_rules_cache__")
    if cached is None:
        rules = map(_rule, fields_of(cls))
        cached = tuple(rule for rule in rules if rule.enum or rule.immutable or rule.nested)
        type.__setattr__(cls, "__declared_rules_cache__", cached)
    return cached


def _rule(field: ModelField) -> _Rule:
    model, is_omitted = field.type.model, field.info.exclude_if
    return _Rule(
        field.name,
        field.wire,
        field.type.category == "model",
        enum=tuple(sorted(field.markers.enum)),
        may_be_empty=is_omitted is not None and is_omitted(""),
        immutable=field.markers.immutable,
        keys=_key_names(field),
        nested=model is not None and has_declared(model),
    )


def _key_names(field: ModelField) -> tuple[str, ...]:
    keys, item = field.markers.list_map_keys, field.type.item
    if not keys or item is None or item.category != "model":
        return ()
    names = {key.wire: key.name for key in fields_of(item.python)}
    return tuple(names[wire] for wire in keys if wire in names)


def _validate(obj: BaseModel, old: Any, path: Path, only: str = "") -> FieldErrors:
    values = obj.__dict__
    stored_values = old.__dict__ if isinstance(old, BaseModel) else None
    for rule in _rules(type(obj)):
        if only and rule.wire != only:
            continue
        stored = _NONE if stored_values is None else stored_values.get(rule.name)
        yield from _validate_field(rule, values.get(rule.name), stored, path.child(rule.wire))


def _validate_field(rule: _Rule, value: Any, stored: Any, path: Path) -> FieldErrors:
    if stored is not _NONE and (rule.immutable or not rule.is_model):
        if value is stored or equal(value, stored):
            return
        if rule.immutable:
            yield immutable(path, value)
            return
    if value is None:
        return
    if rule.enum and not (value == "" and rule.may_be_empty):
        yield from _validate_enum(rule.enum, value, stored, path)
    if rule.nested:
        yield from _validate_nested(value, stored, path, rule.keys)


def _validate_enum(enum: tuple[str, ...], value: Any, stored: Any, path: Path) -> FieldErrors:
    if isinstance(value, list):
        known = frozenset(stored) if isinstance(stored, list) else ()
        for position, item in enumerate(value):
            if item not in known:
                yield from _validate_enum(enum, item, _NONE, path.index(position))
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(stored, dict) or stored.get(key, _NONE) != item:
                yield from _validate_enum(enum, item, _NONE, path.key(key))
    elif value is not None and value not in enum:
        yield not_supported(path, value, enum)


def _validate_nested(
    value: Any, stored: Any, path: Path, keys: tuple[str, ...] = ()
) -> FieldErrors:
    if isinstance(value, BaseModel):
        yield from _validate(value, stored, path)
    elif isinstance(value, list):
        counterparts = _by_keys(stored, keys)
        for position, item in enumerate(value):
            counterpart = counterparts.get(_keys_of(item, keys), _NONE) if keys else _NONE
            yield from _validate_nested(item, counterpart, path.index(position))
    elif isinstance(value, dict):
        stored_items = stored if isinstance(stored, dict) else {}
        for key, item in value.items():
            yield from _validate_nested(item, stored_items.get(key, _NONE), path.key(key))


def _by_keys(items: Any, keys: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    """Return the items of a list by their keys; of several with equal keys, the first."""
    if not keys or not isinstance(items, list):
        return {}
    return {_keys_of(item, keys): item for item in reversed(items)}


def _keys_of(item: BaseModel, keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(item.__dict__.get(key) for key in keys)


def _selectable(
    cls: type[BaseModel], path: str, above: tuple[type[BaseModel], ...], *, place: str
) -> Iterator[str]:
    for field in fields_of(cls):
        field_path = f"{path}.{field.wire}" if path else field.wire
        if field.markers.selectable:
            yield field_path
        model = field.type.model
        if model is None or model in (*above, cls):
            continue
        nested = _selectable(model, field_path, (*above, cls), place=place)
        if field.type.category == "model":
            yield from nested
        elif found := next(nested, None):
            raise TypeError(
                f"{place}: {found} is selectable, but {field_path} is a {field.type.category}:"
                " field selectors need a field with one value"
            )
