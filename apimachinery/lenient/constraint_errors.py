"""Constraint errors: what today's constraints refuse in a stored document."""

from collections.abc import Iterator
from typing import Any

import orjson
from pydantic import BaseModel

from apimachinery.fieldpath import ErrorType, FieldError, FieldErrors, Path, required
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.decoding import DecodeError, decode_json


def stored_errors(cls: type[BaseModel], data: bytes) -> tuple[FieldError, ...]:
    """Return the errors of a document of *cls*, for comparison with those of a new document.

    A required field that was missing when the object was stored has the zero value of its type by
    now. So zero counts as missing: a new document without the field does not change the object.
    """
    errors: tuple[FieldError, ...] = ()
    try:
        decode_json(cls, data, find_unknown=False)
    except DecodeError as error:
        errors = error.fields
    missing = _missing(orjson.loads(data), TypeInfo("model", cls), Path())
    known = {error.field for error in errors if error.type is ErrorType.REQUIRED}
    return (*errors, *(error for error in missing if error.field not in known))


def _missing(value: Any, info: TypeInfo, path: Path) -> FieldErrors:
    """Yield an error for each required field of *value*, at any depth, that is absent or zero."""
    if info.category == "model" and isinstance(value, dict):
        zeros = _zeros(info.python)
        for field in fields_of(info.python):
            member, below = value.get(field.wire), path.child(field.wire)
            if field.required and (member is None or member == zeros.get(field.wire)):
                yield required(below)
            yield from _missing(member, field.type, below)
    elif info.item is not None and info.item.model is not None:
        for step, element in _elements(value):
            below = path.index(step) if isinstance(step, int) else path.child(step)
            yield from _missing(element, info.item, below)


def _zeros(cls: type[BaseModel]) -> dict[str, Any]:
    """Return the values, as JSON, of fields that are missing in a stored document."""
    cached: dict[str, Any] | None = cls.__dict__.get("__zeros_cache__")
    if cached is None:
        has_required = any(field.required for field in fields_of(cls))
        zero = decode_leniently(cls, b"{}").model_dump_json() if has_required else "{}"
        cached = orjson.loads(zero)
        type.__setattr__(cls, "__zeros_cache__", cached)
    return cached


def _elements(value: Any) -> Iterator[tuple[int | str, Any]]:
    if isinstance(value, list):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
