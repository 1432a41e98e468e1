"""The documents of only what differs between two objects.

A write mostly changes a field or two of many. Whoever wants to know what it has changed on the
wire, as field ownership does, need not write the whole of both objects to see it.
"""

from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin

import orjson
from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of

Document = dict[str, Any]
Fields = dict[str, Any]
"""Names of fields as pydantic takes them: True for a whole field, or the fields below it."""

_COMPARED, _ENTERED, _TAKEN = range(3)
"""How a field is looked at: its values are compared, it is a Model to go into, or it counts as
changed whatever it holds."""

_EXACT: Final = (str, int, float, bool, bytes, datetime, timedelta, Enum)
"""Types whose values are written alike when Python calls them equal. A Quantity is not among them
(1Gi equals 1073741824), nor is any JSON (1 equals true)."""


def has_only_fields(cls: type[BaseModel]) -> bool:
    """Whether objects of the class have declared fields alone, so that parts of them have names."""
    return cls.model_config.get("extra") != "allow"


def changed_parts(
    old: BaseModel, new: BaseModel, *, leave_out: Fields
) -> tuple[Document, Document]:
    """What is in one of two objects of a class and not the same in the other, as documents."""
    fields = _without(_changed(old, new), leave_out)
    if not fields:
        return {}, {}
    return _document(old, include=fields), _document(new, include=fields)


def whole_document(obj: BaseModel, *, leave_out: Fields) -> Document:
    """All that an object has, as a document."""
    return _document(obj, exclude=leave_out)


def _changed(old: BaseModel, new: BaseModel) -> Fields:
    found: Fields = {}
    before, after = old.__dict__, new.__dict__
    for name, how in _plan(type(old)):
        was, now = before[name], after[name]
        if was is now or (how == _COMPARED and was == now):
            continue
        if how != _ENTERED or was is None or now is None:
            found[name] = True
        elif below := _changed(was, now):
            found[name] = below
    return found


def _without(fields: Fields, left_out: Fields) -> Fields:
    kept: Fields = {}
    for name, below in fields.items():
        less = left_out.get(name)
        if less is True:
            continue
        if less and below is not True:
            below = _without(below, less)
        if below:
            kept[name] = below
    return kept


def _document(obj: BaseModel, **which: Fields) -> Document:
    # `model_dump_json` would make a text of it first.
    data = obj.__pydantic_serializer__.to_json(obj, by_alias=True, **which)  # type: ignore[arg-type]
    document: Document = orjson.loads(data)
    return document


def _plan(cls: type[BaseModel]) -> tuple[tuple[str, int], ...]:
    known: tuple[tuple[str, int], ...] | None = cls.__dict__.get("__changes_cache__")
    if known is None:
        known = tuple((found.name, _how(found.type)) for found in fields_of(cls))
        # On the class itself, as everything that is known of it.
        type.__setattr__(cls, "__changes_cache__", known)
    return known


def _how(kind: TypeInfo) -> int:
    if kind.category == "model":
        return _ENTERED if has_only_fields(kind.python) else _TAKEN
    return _COMPARED if _is_exact(kind, ()) else _TAKEN


def _is_exact(kind: TypeInfo, above: tuple[type, ...]) -> bool:
    if kind.item is not None:
        return _is_exact(kind.item, above)
    if kind.category == "model":
        if kind.python in above:
            return True  # as far as it goes round, and the rest of it is looked at
        below = (*above, kind.python)
        return has_only_fields(kind.python) and all(
            _is_exact(found.type, below) for found in fields_of(kind.python)
        )
    return kind.category == "scalar" and all(map(_is_exact_scalar, _arms(kind.python)))


def _arms(python: Any) -> tuple[Any, ...]:
    if get_origin(python) is Literal:
        return ()
    return get_args(python) or (python,)


def _is_exact_scalar(python: Any) -> bool:
    return isinstance(python, type) and issubclass(python, _EXACT)
