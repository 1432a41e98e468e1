"""Partial documents: fill in the required fields that a part of an object lacks.

Field ownership extracts some fields of an object and converts them to another version. The extract
may lack required fields, without which it cannot be decoded; Go's structs have zero values there,
so this module adds the same zeros.
"""

from typing import Any, Final

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of

_ZEROS: Final[dict[Any, Any]] = {str: "", int: 0, float: 0, bool: False}


def fill_required_fields(document: Any, cls: type[BaseModel]) -> Any:
    """Return a copy of *document* with a zero value for each required field it lacks.

    A required field whose type has no zero value stays missing.
    """
    return _fill(document, TypeInfo("model", cls))


def _fill(value: Any, info: TypeInfo) -> Any:
    if info.category == "model" and isinstance(value, dict):
        return _fill_model(value, info)
    if info.item is None or info.item.model is None:
        return value
    if isinstance(value, list):
        return [_fill(item, info.item) for item in value]
    if isinstance(value, dict):
        return {key: _fill(item, info.item) for key, item in value.items()}
    return value


def _fill_model(value: dict[str, Any], info: TypeInfo) -> dict[str, Any]:
    filled = dict(value)
    for field in fields_of(info.python):
        if filled.get(field.wire) is not None:
            filled[field.wire] = _fill(filled[field.wire], field.type)
        elif field.required and (zero := _zero(field.type)) is not None:
            filled[field.wire] = zero
    return filled


def _zero(info: TypeInfo) -> Any:
    match info.category:
        case "model":
            return _fill_model({}, info)
        case "list":
            return []
        case "map":
            return {}
        case _:
            return _ZEROS.get(info.python)
