"""Checks of a kind when it is registered: declarations that do not fit their place in the kind.

Whether a rule of a field can be kept depends on the lists and maps around it, which the class of
the field does not know. Only annotations are read: registering a kind must not compile it.
"""

from collections.abc import Iterator, MutableSet, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, markers_of, type_info
from apimachinery.model.markers import Markers
from apimachinery.scalars.duration import DURATION

_PLAIN: Final = (str, int, bool, float, bytes)
_SETS: Final = (set, frozenset, Set, MutableSet)
_STRING: Final = TypeInfo("scalar", str)


def plain_durations(cls: type[BaseModel]) -> list[str]:
    """Return the paths of the fields whose type is a plain `timedelta`.

    pydantic encodes it in ISO 8601; on the wire a duration is a `Duration`, in Go's format.
    """
    return [found.path for found in _fields(cls, _Place()) if _is_plain_duration(found.type)]


def sets(cls: type[BaseModel]) -> list[str]:
    """Return the paths of the fields that are Python sets.

    JSON has none, and their order differs from process to process; a list whose `list_type` is
    "set" has the same meaning.
    """
    return [found.path for found in _fields(cls, _Place()) if _is_set(found.type)]


def misplaced_rules(cls: type[BaseModel]) -> list[str]:
    """Return a sentence for each rule that cannot be kept where its field stands.

    As in Kubernetes, an immutable field needs a stored counterpart, which items of a list without
    keys do not have, and a selectable field needs a single value.
    """
    problems = []
    for found in _fields(cls, _Place()):
        if found.markers.immutable and found.place.unkeyed_list:
            problems.append(
                f"{found.path} is immutable, but items of {found.place.unkeyed_list} cannot be"
                " compared with stored ones: declare its list_map_keys"
            )
        if found.markers.selectable and found.place.collection:
            problems.append(
                f"{found.path} is selectable, but {found.place.collection} is a list or map: field"
                " selectors need a field with one value"
            )
    return problems


@dataclass(frozen=True, slots=True)
class _Place:
    """The models, lists and maps around a field."""

    path: str = ""
    above: tuple[tuple[type[BaseModel], bool, bool], ...] = ()
    """The models around the field, each with whether it is in a list without keys, and whether it
    is in a list or map."""
    unkeyed_list: str = ""
    """The path of a list without keys; empty if there is none."""
    collection: str = ""
    """The path of a list or map; empty if there is none."""


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    type: TypeInfo
    markers: Markers
    place: _Place


def _fields(cls: type[BaseModel], place: _Place) -> Iterator[_Found]:
    """Yield the fields of *cls*, and of models in it, that a check looks at."""
    for name, info, markers in _own_fields(cls):
        path = f"{place.path}.{name}" if place.path else name
        found = _Found(path, info, markers, place)
        yield found
        model = info.model
        if model is not None and _is_of_interest(model):
            inner = _inside(found, model)
            # A recursive type is searched once for each kind of place.
            if inner.above[-1] not in place.above:
                yield from _fields(model, inner)


def _own_fields(cls: type[BaseModel]) -> tuple[tuple[str, TypeInfo, Markers], ...]:
    """Return the fields of *cls* that a check looks at, computed once per class."""
    cached: tuple[tuple[str, TypeInfo, Markers], ...] | None
    cached = cls.__dict__.get("__kind_checks_cache__")
    if cached is None:
        if not cls.__pydantic_fields_complete__:
            cls.model_rebuild()
        analysed = (
            (name, type_info(info.annotation, tuple(info.metadata)), markers_of(info))
            for name, info in cls.__pydantic_fields__.items()
            # A shortcut for most fields, which are strings, numbers and booleans without rules.
            if info.annotation not in _PLAIN or _has_rules(_STRING, markers_of(info))
        )
        cached = tuple(entry for entry in analysed if entry[1].model or _has_rules(*entry[1:]))
        type.__setattr__(cls, "__kind_checks_cache__", cached)
    return cached


def _has_rules(info: TypeInfo, markers: Markers) -> bool:
    has_marker = markers.immutable or markers.selectable
    return has_marker or _is_plain_duration(info) or _is_set(info)


def _is_of_interest(cls: type[BaseModel]) -> bool:
    """Return whether *cls* or a model in it has fields with rules; most have none."""
    cached: bool | None = cls.__dict__.get("__kind_interest_cache__")
    if cached is None:
        reached, pending = set[type[BaseModel]](), [cls]
        cached = False
        while pending and not cached:
            model = pending.pop()
            reached.add(model)
            cached = any(_has_rules(*entry[1:]) for entry in _own_fields(model))
            nested = (entry[1].model for entry in _own_fields(model))
            pending += [model for model in nested if model is not None and model not in reached]
        type.__setattr__(cls, "__kind_interest_cache__", cached)
    return cached


def _inside(found: _Found, model: type[BaseModel]) -> _Place:
    """Return the place of the fields of *model*, which is in the field *found*."""
    outer, category = found.place, found.type.category
    is_keyed = _is_keyed(found.type, bool(found.markers.list_map_keys))
    unkeyed_list = outer.unkeyed_list or ("" if is_keyed else found.path)
    collection = outer.collection or ("" if category == "model" else found.path)
    above = (*outer.above, (model, bool(unkeyed_list), bool(collection)))
    return _Place(found.path, above, unkeyed_list, collection)


def _is_keyed(info: TypeInfo, has_keys: bool) -> bool:
    """Return whether every model in a value is found by keys: only the outermost list has some."""
    if info.item is None:
        return True
    return (info.category == "map" or has_keys) and _is_keyed(info.item, False)


def _is_plain_duration(info: TypeInfo) -> bool:
    if info.item is not None:
        return _is_plain_duration(info.item)
    if info.marked(DURATION):
        return False
    return info.python is timedelta or timedelta in _alternatives(info)


def _is_set(info: TypeInfo) -> bool:
    if info.item is not None:
        return _is_set(info.item)
    types = (info.python, *_alternatives(info))
    return any((get_origin(part) or part) in _SETS for part in types)


def _alternatives(info: TypeInfo) -> tuple[Any, ...]:
    return get_args(info.python) if info.category == "scalar" else ()
