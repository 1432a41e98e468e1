"""Level plans: how the fields of one class are decoded from parsed JSON, without nested objects.

A plan is computed from the annotations of a class, which takes microseconds; pydantic compiles a
class together with all that are nested in it. Fields of types without a plain JSON form, such as
quantities, get a validator of their own when a document first has one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, Final, Protocol, TypeAlias, get_args

import orjson
from annotated_types import BaseMetadata
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.fields import FieldInfo

from apimachinery.model.class_fields import TypeInfo, type_info
from apimachinery.model.decoding import MAX_DEPTH, DecodeError
from apimachinery.model.markers import Markers
from apimachinery.model.model import Model, let_threads_run
from apimachinery.model.wire_rules import NULL_WHEN_EMPTY, wire_name
from apimachinery.scalars.time import MICRO_TIME, TIME, parse_micro_time, parse_time
from apimachinery.scalars.wire_types import FIELDS_V1, INT32, RAW

Convert: TypeAlias = Callable[[Any], Any]


class Nested(Protocol):
    """Chooses how the nested objects of a class are decoded: at once, or when they are read."""

    def __call__(self, cls: type[Model], *, at_once: bool) -> Convert: ...


class Unusual(Exception):
    """A value that a plan does not decode: pydantic decodes it, or refuses it."""


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """The fields of one class, by their names on the wire."""

    fields: dict[str, tuple[str, type | None, Convert | None, bool]]
    """The name, the JSON type, the conversion of its values and whether null is a value."""
    defaults: dict[str, Any]
    """Every field in order, with its default if that is immutable."""
    factories: tuple[tuple[str, Callable[[], Any]], ...]

    def decode(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the values of all fields; raises Unusual, or ValueError from a conversion."""
        values, find = self.defaults.copy(), self.fields.get
        for wire, value in document.items():
            field = find(wire)
            if field is None:
                continue
            name, json_type, convert, nullable = field
            if type(value) is json_type:
                values[name] = value if convert is None else convert(value)
            elif value is None:
                if not nullable:
                    raise Unusual
                values[name] = None
            elif json_type is None and convert is not None:
                values[name] = convert(value)
            else:
                raise Unusual
        for name, create in self.factories:
            if values[name] is _ABSENT:
                values[name] = create()
        return values


def level_plan(cls: type[Model], nested: Nested) -> LevelPlan:
    """Return the plan of a class; that of a class with code of its own decodes nothing."""
    if not cls.__pydantic_fields_complete__:
        cls.model_rebuild()
    if not is_plain(cls):
        return LevelPlan({}, {"": _ABSENT}, (("", _refuse),))
    fields, defaults, factories = {}, {}, []
    for name, info in cls.__pydantic_fields__.items():
        types = type_info(info.annotation, tuple(info.metadata))
        json_type, convert = _conversion(name, info, types, nested)
        fields[info.alias or wire_name(name)] = (name, json_type, convert, types.optional)
        defaults[name], create = _default(info, nested)
        if create is not None:
            factories.append((name, create))
    return LevelPlan(fields, defaults, tuple(factories))


def is_plain(cls: type[Model]) -> bool:
    """Return whether a class consists of its fields only, and drops unknown ones."""
    config, decorators, schema_of = (
        cls.model_config,
        cls.__pydantic_decorators__,
        cls.__get_pydantic_core_schema__,
    )
    return (
        config.get("extra") == "ignore"
        and config.get("alias_generator") is wire_name
        and not decorators.field_validators
        and not decorators.model_validators
        and not cls.__private_attributes__
        and cls.__init__ is BaseModel.__init__
        and cls.model_post_init in (BaseModel.model_post_init, let_threads_run)
        and getattr(schema_of, "__func__", None) is _MODEL_SCHEMA
        and all(info.validation_alias in (None, info.alias) for info in _fields(cls).values())
    )


class _Absent:
    """Stands for a value that the document lacks, until the plan creates the default."""


_ABSENT: Final = _Absent()
_MODEL_SCHEMA: Final = getattr(Model.__get_pydantic_core_schema__, "__func__", None)
_SCALARS: Final = (str, bool, int)
_CONFIG: Final = ConfigDict(strict=True, allow_inf_nan=False)


def _fields(cls: type[Model]) -> dict[str, FieldInfo]:
    return cls.__pydantic_fields__


def _refuse(*_: Any) -> Any:
    raise Unusual


def _default(info: FieldInfo, nested: Nested) -> tuple[Any, Callable[[], Any] | None]:
    """Return the default of a field if it may be shared, or else the function that creates it."""
    factory: Any = info.default_factory
    if info.is_required():
        return _ABSENT, _refuse
    if factory in (list, dict):
        return _ABSENT, factory
    if isinstance(factory, type) and issubclass(factory, Model) and is_plain(factory):
        create = nested(factory, at_once=False)
        return _ABSENT, lambda: create({})
    if factory is None and (info.default is None or type(info.default) in _SCALARS):
        return info.default, None
    return _ABSENT, partial(info.get_default, call_default_factory=True, validated_data={})


def _conversion(
    name: str, info: FieldInfo, types: TypeInfo, nested: Nested
) -> tuple[type | None, Convert | None]:
    """Return the JSON type of a field, None for several, and the conversion of its values."""
    instant = next((part for part in types.metadata if part in (TIME, MICRO_TIME)), None)
    if instant is not None and types.category == "scalar":
        return str, parse_time if instant is TIME else parse_micro_time
    if types.category == "map" and types.marked(RAW):
        return dict, _raw
    if types.category == "map" and types.marked(FIELDS_V1):
        return None, _field_set
    if not _is_unmarked(types):
        return None, _other(info, types)
    if types.category == "scalar" and types.python in _SCALARS:
        return types.python, None
    if _is_model(types):
        # Whoever reads an object reads its metadata: a placeholder would cost more than it saves.
        return dict, nested(types.python, at_once=name == "metadata")
    if types.item is not None and _is_unmarked(types.item):
        json_type = list if types.category == "list" else dict
        if types.item.category == "scalar" and types.item.python is str and not types.item.optional:
            return json_type, _strings if json_type is list else _string_map
        if json_type is list and _is_model(types.item) and not types.item.optional:
            return list, partial(_objects, nested(types.item.python, at_once=False))
    return None, _other(info, types)


def _is_model(types: TypeInfo) -> bool:
    return types.category == "model" and issubclass(types.python, Model)


def _is_unmarked(types: TypeInfo) -> bool:
    """Return whether the metadata of a type only describes and constrains its values."""
    return all(
        isinstance(part, _CONSTRAINTS) or part in (INT32, NULL_WHEN_EMPTY)
        for part in types.metadata
    )


_CONSTRAINTS: Final = (Markers, BaseMetadata)


def is_too_deep(document: dict[str, Any]) -> bool:
    """Return whether parsed JSON is nested more deeply than pydantic decodes and encodes."""
    containers: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        containers = [
            item
            for container in containers
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, dict | list)
        ]
        if not containers:
            return False
    return True


def _raw(document: dict[str, Any]) -> dict[str, Any]:
    if is_too_deep(document):
        raise Unusual
    return document


def _field_set(fields: Any) -> Any:
    """Return a set of fields: a dict of the document, or a shared one of a class of its own."""
    if not isinstance(fields, dict):
        raise Unusual
    return _raw(fields) if type(fields) is dict else fields


def dump_plain(value: Any) -> bytes:
    """Encode parsed JSON; raises DecodeError if it is nested too deeply for that."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise DecodeError(f"nested deeper than {MAX_DEPTH} levels") from None


def _strings(values: list[Any]) -> list[Any]:
    for value in values:
        if type(value) is not str:
            raise Unusual
    return values


def _string_map(values: dict[str, Any]) -> dict[str, Any]:
    for value in values.values():
        if type(value) is not str:
            raise Unusual
    return values


def _objects(create: Convert, values: list[Any]) -> list[Any]:
    for value in values:
        if type(value) is not dict:
            raise Unusual
    return [create(value) for value in values]


def _other(info: FieldInfo, types: TypeInfo) -> Convert:
    return _refuse if _has_model(types) else _FieldDecoder(info)


def _has_model(types: TypeInfo) -> bool:
    """Return whether values of a type may hold objects, which pydantic decodes with the class."""
    if types.item is not None:
        return _has_model(types.item)
    alternatives = get_args(types.python) or (types.python,)
    return any(isinstance(cls, type) and issubclass(cls, BaseModel) for cls in alternatives)


class _FieldDecoder:
    """Decodes the values of one field with a validator of its own, compiled on first use."""

    def __init__(self, info: FieldInfo) -> None:
        self._info = info

    def __call__(self, value: Any) -> Any:
        # As JSON, because some types decode base64 and the like only from there.
        return self._adapter.validate_json(dump_plain(value))

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        annotation: Any = self._info.annotation
        for part in self._info.metadata:
            annotation = Annotated[annotation, part]
        return TypeAdapter(annotation, config=_CONFIG)
