"""Conditions in the status of any object, typed or not.

How a condition is set is `apimachinery.meta.conditions`; here is only where it is found.
"""

from datetime import datetime

import orjson

from apimachinery.codec import dump_json
from apimachinery.meta import conditions
from apimachinery.meta.types import Condition, Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json


class NoConditions(TypeError):
    """An object of a class whose status has no conditions."""


def conditions_of(obj: Object) -> list[Condition]:
    """The conditions of an object; of a typed one, the very list."""
    if isinstance(obj, Unstructured):
        found = obj.nested("status", "conditions", default=[])
        return [_condition(each) for each in found if isinstance(each, dict)]
    found = getattr(getattr(obj, "status", None), "conditions", None)
    if not isinstance(found, list):
        raise NoConditions(f"{type(obj).__qualname__} has no list status.conditions")
    return found


def set_condition(obj: Object, new: Condition, now: datetime) -> bool:
    """Set a condition in the status of *obj*; tell whether anything changed."""
    present = conditions_of(obj)
    changed = conditions.set_condition(present, new, now)
    if changed and isinstance(obj, Unstructured):
        status = obj.content.setdefault("status", {})
        status["conditions"] = [orjson.loads(dump_json(each)) for each in present]
    return changed


def _condition(document: dict[str, object]) -> Condition:
    try:
        return decode_json(Condition, orjson.dumps(document), find_unknown=False).object
    except DecodeError as error:
        raise NoConditions(f"status.conditions: {error}") from None
