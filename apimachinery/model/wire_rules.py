"""Wire rules: field names, omission of empty fields, map order and integer bounds, for pydantic.

Separate from `Model` because pydantic applies them while it compiles the first Model class.
"""

import operator
from collections.abc import Callable, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, SerializerFunctionWrapHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from apimachinery.scalars.wire_types import INT64_MAX, INT64_MIN

_PLAIN_FACTORIES: Final = (list, dict, BaseModel)
"""Classes that are called without arguments to make a default."""


def wire_name(name: str) -> str:
    """Return the camelCase of a snake_case name: the wire name of fields that declare none."""
    first, *words = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in words)


_is_none = partial(operator.is_, None)


def never(_: Any) -> bool:
    return False


class _NullWhenEmpty:
    """Serializes an empty list as null."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema: Any = handler(source)
        schema["serialization"] = core_schema.wrap_serializer_function_ser_schema(
            _null_if_empty, when_used="json"
        )
        return cast(CoreSchema, schema)


def _null_if_empty(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
    return handler(value) if value else None


NULL_WHEN_EMPTY = _NullWhenEmpty()


def _is_none_or_empty_collection(value: Any) -> bool:
    return value is None or (isinstance(value, list | dict) and not value)


def omission(info: FieldInfo) -> Callable[[Any], bool] | None:
    """Return the test for omitting a field, by the rules in `apimachinery.model.model`.

    None means that the field is always encoded.
    """
    # An omitted field is read with its default, so an empty value would become a computed one.
    if info.is_required() or is_computed(info):
        return None
    default = default_of(info)
    if default is None:
        return _is_none if not _may_be_collection(info.annotation) else _is_none_or_empty_collection
    if isinstance(default, BaseModel) or default:
        return None
    return operator.not_


def is_computed(info: FieldInfo) -> bool:
    """Return whether the default of a field may be another one in another process.

    Only classes, and functions that build an object, a list or a map, are taken for constant. A
    scalar would be written as a plain default if it were; that two calls return the same value
    proves nothing, as with the name of the host.
    """
    if info.default_factory is None or isinstance(info.default_factory, type):
        return False
    default, again = default_of(info), default_of(info)
    return not isinstance(default, BaseModel | list | dict) or default != again


def default_of(info: FieldInfo) -> Any:
    """Return the default of a field, a new one if it is mutable."""
    factory = info.default_factory
    if isinstance(factory, type) and issubclass(factory, _PLAIN_FACTORIES):
        return factory()
    # pydantic inspects the signature of the factory each time, which takes 0.1 ms for `list`.
    return info.get_default(call_default_factory=True, validated_data={})


def _may_be_collection(annotation: Any) -> bool:
    """Return whether a union contains a plain list or map; a raw document is neither."""
    return any(get_origin(alternative) in (list, dict) for alternative in get_args(annotation))


FLAT, MODEL, MODEL_LIST, DEEP = range(1, 5)
"""How a field is copied: as a collection of immutable values, a Model, a list of Models, or
recursively by the types of its values."""


def copy_plan(cls: type[BaseModel]) -> tuple[tuple[str, int], ...]:
    """Return the fields with mutable values, and how a deep copy copies each."""
    depths = ((name, _depth(info.annotation)) for name, info in cls.__pydantic_fields__.items())
    return tuple((name, depth) for name, depth in depths if depth)


def _depth(annotation: Any) -> int:
    """Return how values of a type are copied; 0 if they are immutable."""
    arguments = [argument for argument in get_args(annotation) if argument is not NoneType]
    origin = get_origin(annotation)
    if origin is Annotated or (origin in (Union, UnionType) and len(arguments) == 1):
        return _depth(arguments[0])
    if origin in (list, dict):
        inner = _depth(arguments[-1])
        return FLAT if inner == 0 else MODEL_LIST if (origin, inner) == (list, MODEL) else DEEP
    if origin in (Union, UnionType):
        return DEEP if any(_depth(alternative) for alternative in arguments) else 0
    if origin in (Literal, Mapping):  # fields typed as Mapping are never changed in place
        return 0
    return _depth_of_class(annotation)


def _depth_of_class(cls: Any) -> int:
    if cls in (Any, object, list, dict) or not isinstance(cls, type):
        return DEEP
    if issubclass(cls, BaseModel):
        return MODEL
    # Hashable classes are immutable: a number, a string, a time, a Quantity.
    return 0 if cls.__hash__ is not None else DEEP


def refine(schema: Any) -> None:
    """Bound the integers of a core schema to 64 bits and sort its maps by key, in place.

    References to other models are not followed: each model refines its own schema.
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
    # Sorting the items as pairs would take three times as long, in one call.
    return {key: value[key] for key in sorted(value)}


def sorted_deep(value: Any) -> Any:
    """Return a JSON value with all its maps sorted by key."""
    if isinstance(value, dict):
        return {key: sorted_deep(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [sorted_deep(item) for item in value]
    return value
