"""Documents that are only a part of an object, and yet must be read as one.

Field ownership takes fields out of objects and converts what is left. A part may lack what its
class requires; Go's structs then have a zero there, and so has the document that is made here.
"""

from typing import Any, Final

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of

_ZEROS: Final[dict[Any, Any]] = {str: "", int: 0, float: 0, bool: False}


def completed(document: Any, cls: type[BaseModel]) -> Any:
    """A copy of *document* with a zero in each required field of *cls* that it does not have.

    A required field of a type that has no zero stays missing.
    """
    return _completed(document, TypeInfo("model", cls))


def _completed(value: Any, kind: TypeInfo) -> Any:
    if kind.category == "model" and isinstance(value, dict):
        return _completed_model(value, kind)
    if kind.item is None or kind.item.model is None:
        return value
    if isinstance(value, list):
        return [_completed(item, kind.item) for item in value]
    if isinstance(value, dict):
        return {key: _completed(item, kind.item) for key, item in value.items()}
    return value


def _completed_model(value: dict[str, Any], kind: TypeInfo) -> dict[str, Any]:
    made = dict(value)
    for field in fields_of(kind.python):
        if made.get(field.wire) is not None:
            made[field.wire] = _completed(made[field.wire], field.type)
        elif field.required and (zero := _zero(field.type)) is not None:
            made[field.wire] = zero
    return made


def _zero(kind: TypeInfo) -> Any:
    match kind.category:
        case "model":
            return _completed_model({}, kind)
        case "list":
            return []
        case "map":
            return {}
        case _:
            return _ZEROS.get(kind.python)
