"""The rules every field follows on the wire, as pydantic wants to hear them.

Apart from Model because they must exist before the first Model class does: a class is compiled by
pydantic when it is defined.
"""

import operator
from collections.abc import Callable, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from apimachinery.scalars.wire_types import INT64_MAX, INT64_MIN


def wire_name(name: str) -> str:
    """The camelCase of a snake_case name: the one rule for every field that declares none."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


_is_none = partial(operator.is_, None)


def never(_: Any) -> bool:
    return False


def _is_none_or_empty_collection(value: Any) -> bool:
    return value is None or (isinstance(value, list | dict) and not value)


def omission(info: FieldInfo) -> Callable[[Any], bool] | None:
    """When a field is left out, by the rules in `apimachinery.model.model`."""
    if info.is_required():
        return None
    default = info.get_default(call_default_factory=True, validated_data={})
    if default is None:
        return _is_none if not _may_be_collection(info.annotation) else _is_none_or_empty_collection
    if isinstance(default, BaseModel) or default:
        return None
    return operator.not_


def _may_be_collection(annotation: Any) -> bool:
    """Whether a plain list or map is among the types; a raw document is neither."""
    return any(get_origin(arm) in (list, dict) for arm in get_args(annotation))


FLAT, MODEL, MODEL_LIST, DEEP = range(1, 5)
"""How a field is copied: a collection of values, a Model, a list of Models, or whatever it is."""


def copy_plan(cls: type[BaseModel]) -> tuple[tuple[str, int], ...]:
    """The fields that a deep copy must enter, and how; the others hold what cannot change."""
    found = ((name, _depth(info.annotation)) for name, info in cls.__pydantic_fields__.items())
    return tuple((name, depth) for name, depth in found if depth)


def _depth(annotation: Any) -> int:
    """0 for what cannot change."""
    arguments = [arm for arm in get_args(annotation) if arm is not NoneType]
    origin = get_origin(annotation)
    if origin is Annotated or (origin in (Union, UnionType) and len(arguments) == 1):
        return _depth(arguments[0])
    if origin in (list, dict):
        inner = _depth(arguments[-1])
        return FLAT if inner == 0 else MODEL_LIST if (origin, inner) == (list, MODEL) else DEEP
    if origin in (Union, UnionType):
        return DEEP if any(_depth(arm) for arm in arguments) else 0
    if origin in (Literal, Mapping):  # a Mapping is what nobody changes in place
        return 0
    return _depth_of_class(annotation)


def _depth_of_class(cls: Any) -> int:
    if cls in (Any, object, list, dict) or not isinstance(cls, type):
        return DEEP
    if issubclass(cls, BaseModel):
        return MODEL
    # What can be hashed is a value: a number, a text, a time, a Quantity.
    return 0 if cls.__hash__ is not None else DEEP


def refine(schema: Any) -> None:
    """Bound integers to 64 bits and write maps in the order of their keys, in place.

    References to other models are not followed: each refines itself.
    """
    if isinstance(schema, list):
        for part in schema:
            refine(part)
        return
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "int":
        schema.setdefault("ge", INT64_MIN)
        schema.setdefault("le", INT64_MAX)
    elif schema.get("type") == "dict" and "serialization" not in schema:
        untyped = schema.get("values_schema", {}).get("type", "any") == "any"
        schema["serialization"] = core_schema.plain_serializer_function_ser_schema(
            sorted_deep if untyped else _sorted_by_key,
            return_schema=core_schema.any_schema() if untyped else _without_ref(schema),
        )
    for key in ("schema", "fields", "items_schema", "values_schema", "choices", "json_schema"):
        part = schema.get(key)
        for child in part.values() if key == "fields" and isinstance(part, dict) else (part,):
            refine(child)


def _without_ref(schema: Any) -> CoreSchema:
    return cast(CoreSchema, {key: part for key, part in schema.items() if key != "ref"})


def _sorted_by_key(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) < 2:
        return value
    return dict(sorted(value.items()))


def sorted_deep(value: Any) -> Any:
    """A JSON value with every map in the order of its keys."""
    if isinstance(value, dict):
        return {key: sorted_deep(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [sorted_deep(item) for item in value]
    return value
