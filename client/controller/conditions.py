"""Conditions in the status of an object, typed or unstructured.

`apimachinery.meta.conditions` defines how a list of conditions changes; this module locates the
list in an object.
"""

from datetime import datetime

import orjson

from apimachinery.codec import dump_json
from apimachinery.meta import conditions
from apimachinery.meta.types import Condition, Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json


class NoConditions(TypeError):
    """The object has no valid `status.conditions`."""


def conditions_of(obj: Object) -> list[Condition]:
    """Return the conditions of an object; of a typed object, the list itself and not a copy.

    Raises NoConditions if the class has none or if they cannot be decoded.
    """
    if isinstance(obj, Unstructured):
        documents = obj.nested("status", "conditions", default=[])
        return [_condition(document) for document in documents if isinstance(document, dict)]
    typed = getattr(getattr(obj, "status", None), "conditions", None)
    if not isinstance(typed, list):
        raise NoConditions(f"{type(obj).__qualname__} has no list status.conditions")
    return typed


def set_condition(obj: Object, new: Condition, now: datetime) -> bool:
    """Set a condition in the status of *obj* and return whether the status changed.

    Raises NoConditions if *obj* has no conditions.
    """
    current = conditions_of(obj)
    changed = conditions.set_condition(current, new, now)
    if changed and isinstance(obj, Unstructured):
        status = obj.content.setdefault("status", {})
        status["conditions"] = [orjson.loads(dump_json(condition)) for condition in current]
    return changed


def _condition(document: dict[str, object]) -> Condition:
    try:
        return decode_json(Condition, orjson.dumps(document), find_unknown=False).object
    except DecodeError as error:
        raise NoConditions(f"status.conditions: {error}") from None
