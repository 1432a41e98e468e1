"""Decoding: JSON bytes -> Model, with an error for every bad field.

Two kinds of error are distinguished, as on the wire. A document whose values have the wrong types
cannot be decoded (`DecodeError`, a 400). A document that breaks a declared constraint or lacks a
required field is decoded and then rejected (`DecodeError.fields` has the field errors, a 422).

The fast path is one pass of pydantic over the bytes. Only a document with nulls that the class does
not allow, with unknown fields or with untyped parts is parsed a second time.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Generic, TypeVar, get_args

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from apimachinery.fieldpath import FieldError, Path, invalid, required
from apimachinery.model.class_fields import TypeInfo, fields_of, reachable_models
from apimachinery.model.fail_fast import fail_fast_validator, is_large, without_nulls
from apimachinery.model.go_decoding import decoding_error, json_type
from apimachinery.model.go_names import struct_field
from apimachinery.scalars.wire_types import (
    FIELDS_V1,
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    OWN_DECODER,
)

ModelT = TypeVar("ModelT", bound=BaseModel)

MAX_DEPTH: Final = 200
"""The maximum nesting of a document, which is the limit of pydantic's JSON parser."""

_COUNTED: Final = 32 * 1024
MAX_UNKNOWN: Final = 100
"""The maximum number of unknown fields that are listed for a large document."""


class DecodeError(ValueError):
    """A document that cannot be decoded; *fields* is set if only its values are invalid."""

    def __init__(self, message: str, fields: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


@dataclass(frozen=True, slots=True)
class DecodedModel(Generic[ModelT]):
    """A decoded object, and the paths of the unknown fields of its document."""

    object: ModelT
    unknown: tuple[str, ...] = ()


def decode_json(
    cls: type[ModelT], data: bytes | str, *, find_unknown: bool = True
) -> DecodedModel[ModelT]:
    """Decode JSON bytes to an object of *cls*; raises DecodeError.

    A null field counts as absent; a null element of a list or value of a map becomes the zero
    value of its type. Of the invalid items in a list or map of a large document, only the first is
    reported.
    """
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if has_untyped_parts(cls):
        reject_non_finite_numbers(data)
    elif not find_unknown or _has_floats(cls):
        _reject_literals(data)
    # Most documents are valid, and small enough to be counted only if they are not.
    if len(data) > _COUNTED and is_large(data):
        return _decode_large(cls, data, find_unknown)
    try:
        return _validate(cls, data, find_unknown)
    except ValidationError as error:
        problems = [] if is_large(data) else error.errors(include_url=False)
    if not problems:
        return _decode_large(cls, data, find_unknown)
    return _decode_refused(cls, data, problems, find_unknown)


def _decode_refused(
    cls: type[ModelT], data: bytes, problems: list[ErrorDetails], find_unknown: bool
) -> DecodedModel[ModelT]:
    """Decode a document again that may have nulls or unknown fields; raises DecodeError."""
    if problems[0]["type"] == "json_invalid":
        raise DecodeError(str(problems[0]["ctx"]["error"]))
    _reject_literals(data)
    document = _without_nulls(cls, load_json(data), problems)
    unknown = tuple(unknown_fields(document, cls)) if find_unknown else ()
    try:
        obj = cls.model_validate_json(json.dumps(document), by_alias=True, by_name=False)
    except ValidationError as error:
        remaining = error.errors(include_url=False)
        if any(map(_is_mistyped, remaining)) and (message := decoding_error(cls, data)):
            raise DecodeError(message) from None
        raise to_decode_error(cls, remaining) from None
    return DecodedModel(obj, unknown)


def _decode_large(cls: type[ModelT], data: bytes, find_unknown: bool) -> DecodedModel[ModelT]:
    _reject_literals(data)
    validator = fail_fast_validator(cls)
    try:
        obj: ModelT = validator.validate_json(data, by_alias=True, by_name=False)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        if problems[0]["type"] == "json_invalid":
            raise DecodeError(str(problems[0]["ctx"]["error"])) from None
        if b"null" not in data:
            raise to_decode_error(cls, problems) from None
        # Not by orjson, which refuses numbers that unknown fields may have.
        document = json.dumps(without_nulls(_load_large(data), TypeInfo("model", cls)))
        try:
            obj = validator.validate_json(document, by_alias=True, by_name=False)
        except ValidationError as remaining:
            raise to_decode_error(cls, remaining.errors(include_url=False)) from None
    if not find_unknown:
        return DecodedModel(obj)
    unknown = islice(unknown_fields(_load_large(data), cls), MAX_UNKNOWN)
    return DecodedModel(obj, tuple(unknown))


def _load_large(data: bytes) -> Any:
    """Parse JSON with the faster parser, unless it has numbers that are too large for that."""
    try:
        return orjson.loads(data)
    except ValueError:
        return load_json(data)


def unknown_fields(document: Any, cls: type[BaseModel]) -> Iterator[str]:
    """Yield the paths of the fields of *document* that *cls* does not declare."""
    return map(str, _unknown(document, TypeInfo("model", cls), Path()))


def _preserves_unknown(cls: type[BaseModel]) -> bool:
    """Return whether the class, or one nested in it, keeps undeclared fields."""
    cached: bool | None = cls.__dict__.get("__preserves_unknown_cache__")
    if cached is None:
        cached = any(model.model_config.get("extra") == "allow" for model in reachable_models(cls))
        type.__setattr__(cls, "__preserves_unknown_cache__", cached)
    return cached


def load_json(data: bytes | str, **hooks: Any) -> Any:
    """Parse with the standard library's parser, which accepts *hooks*; raises DecodeError."""
    try:
        return json.loads(data, parse_int=_integer, parse_float=_float, **hooks)
    except RecursionError:
        raise DecodeError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise DecodeError(str(error)) from None


def _integer(digits: str) -> int | float:
    # Conversions of long integers take quadratic time; no field can hold such a number anyway.
    return int(digits) if len(digits) < 310 else float(digits)


def _float(text: str) -> float:
    # In Python, so that other threads can have their turn between two numbers: those with many
    # digits take a microsecond each.
    return float(text)


def _validate(cls: type[ModelT], data: bytes, find_unknown: bool) -> DecodedModel[ModelT]:
    # Not by `model_validate_json`, which looks at twice as many options.
    validate = cls.__pydantic_validator__.validate_json
    if find_unknown and not _preserves_unknown(cls):
        return DecodedModel(validate(data, extra="forbid", by_alias=True, by_name=False))
    obj = validate(data, by_alias=True, by_name=False)
    return DecodedModel(obj, tuple(unknown_fields(load_json(data), cls)) if find_unknown else ())


def _reject_literals(data: bytes) -> None:
    """Raise DecodeError for NaN and Infinity, which pydantic accepts where it skips a field.

    Searching for a single byte is much faster than for a word.
    """
    if (b"N" in data and b"NaN" in data) or (b"I" in data and b"Infinity" in data):
        reject_non_finite_numbers(data)


def reject_non_finite_numbers(data: bytes | str) -> None:
    """Raise DecodeError for NaN, Infinity and, in untyped parts, 1e400, which pydantic accepts.

    They are not JSON, and could not be encoded as JSON again.
    """
    try:
        orjson.loads(data)
    except ValueError as error:
        raise DecodeError(str(error)) from None


def has_untyped_parts(cls: type[BaseModel]) -> bool:
    """Return whether the class, or one nested in it, has a field that accepts any JSON.

    `FieldsV1` does not count: server-side apply validates it.
    """
    cached: bool | None = cls.__dict__.get("__untyped_cache__")
    if cached is None:
        types = [field.type for model in reachable_models(cls) for field in fields_of(model)]
        cached = _preserves_unknown(cls) or any(_is_untyped(info) for info in types)
        type.__setattr__(cls, "__untyped_cache__", cached)
    return cached


def _has_floats(cls: type[BaseModel]) -> bool:
    """Return whether the class, or one nested in it, has a field for numbers with a fraction."""
    cached: bool | None = cls.__dict__.get("__floats_cache__")
    if cached is None:
        types = [field.type for model in reachable_models(cls) for field in fields_of(model)]
        cached = any(map(_is_float, types))
        type.__setattr__(cls, "__floats_cache__", cached)
    return cached


def _is_float(info: TypeInfo) -> bool:
    if info.item is not None:
        return _is_float(info.item)
    return info.category == "scalar" and float in (info.python, *get_args(info.python))


def _is_untyped(info: TypeInfo) -> bool:
    if info.item is not None:
        return not info.marked(FIELDS_V1) and _is_untyped(info.item)
    return info.category == "any"


def _without_nulls(cls: type[BaseModel], document: Any, problems: list[ErrorDetails]) -> Any:
    """Remove the nulls that pydantic rejected, or replace them by zero values."""
    for problem in problems:
        if problem["input"] is not None or problem["type"] == "extra_forbidden":
            continue
        parent, info = _parent(cls, document, problem["loc"])
        name = problem["loc"][-1] if problem["loc"] else ""
        if info.category == "model" and isinstance(parent, dict):
            parent.pop(str(name), None)
        elif info.item is not None and problem["type"] in _ZEROS:
            parent[name] = _ZEROS[problem["type"]]
    return document


def _parent(
    cls: type[BaseModel], document: Any, location: tuple[int | str, ...]
) -> tuple[Any, TypeInfo]:
    """Return the object, list or map that contains the value at *location*, and its type."""
    parent, info = document, TypeInfo("model", cls)
    for step in location[:-1]:
        child = _child_type(info, step)
        if child is None:
            return None, _UNTYPED
        parent, info = parent[step], child
    return parent, info


def _child_type(info: TypeInfo, step: int | str) -> TypeInfo | None:
    if info.category == "model":
        return next((field.type for field in fields_of(info.python) if field.wire == step), None)
    return info.item


_UNTYPED: Final = TypeInfo("any", Any)
_ZEROS: Final[dict[str, Any]] = {
    "string_type": "",
    "int_type": 0,
    "float_type": 0,
    "bool_type": False,
    "list_type": [],
    "dict_type": {},
    "model_type": {},
}


def _unknown(value: Any, info: TypeInfo, path: Path) -> Iterator[Path]:
    if info.marked(OWN_DECODER):
        return
    if info.category == "model" and isinstance(value, dict):
        fields = {field.wire: field for field in fields_of(info.python)}
        keeps_unknown = info.python.model_config.get("extra") == "allow"
        for name, item in value.items():
            if name in fields:
                yield from _unknown(item, fields[name].type, path.member(name))
            elif not keeps_unknown:
                yield path.member(name)
    elif info.item is not None and info.item.model is not None:
        yield from _unknown_in_collection(value, info.item, path)
    elif isinstance(value, dict) and (model := union_model(info)) is not None:
        yield from _unknown(value, model, path)


def union_model(info: TypeInfo) -> TypeInfo | None:
    """Return the Model of a union of scalars and a Model, which a JSON object must be."""
    if info.category != "scalar":
        return None
    classes = (cls for cls in get_args(info.python) if isinstance(cls, type))
    return next((TypeInfo("model", cls) for cls in classes if issubclass(cls, BaseModel)), None)


def _unknown_in_collection(value: Any, item: TypeInfo, path: Path) -> Iterator[Path]:
    if isinstance(value, list):
        for position, element in enumerate(value):
            yield from _unknown(element, item, path.index(position))
    elif isinstance(value, dict):
        for key, element in value.items():
            yield from _unknown(element, item, path.member(key))


def to_decode_error(cls: type[BaseModel], problems: list[ErrorDetails]) -> DecodeError:
    """Translate pydantic's errors about a document of *cls* to Kubernetes' messages."""
    mistyped = next((problem for problem in problems if _is_mistyped(problem)), None)
    if mistyped is not None:
        return DecodeError(_mistyped_message(cls, mistyped))
    fields = [_field_error(problem) for problem in problems]
    return DecodeError(", ".join(str(field) for field in fields), fields)


def _is_mistyped(problem: ErrorDetails) -> bool:
    return problem["type"] not in _CONSTRAINTS or _overflows(problem)


def _overflows(problem: ErrorDetails) -> bool:
    """Return whether the broken bound is that of an int32 or int64, which is part of the type."""
    limits = problem.get("ctx", {})
    return limits.get("le") in (INT32_MAX, INT64_MAX) or limits.get("ge") in (INT32_MIN, INT64_MIN)


_CONSTRAINTS = {
    "missing": "",
    "greater_than": "should be greater than {gt}",
    "greater_than_equal": "should be greater than or equal to {ge}",
    "less_than": "should be less than {lt}",
    "less_than_equal": "should be less than or equal to {le}",
    "multiple_of": "should be a multiple of {multiple_of}",
    "string_too_short": "should be at least {min_length} chars long",
    "string_too_long": "should be at most {max_length} chars long",
    "string_pattern_mismatch": "should match '{pattern}'",
    "too_short": "should have at least {min_length} items",
    "too_long": "should have at most {max_length} items",
    "literal_error": "supported values: {expected}",
    "enum": "supported values: {expected}",
}


def _field_error(problem: ErrorDetails) -> FieldError:
    path = _path(problem["loc"])
    rule = _CONSTRAINTS[problem["type"]]
    if not rule:
        return required(path)
    return invalid(path, problem["input"], f"{path} in body {rule.format(**problem['ctx'])}")


def _path(location: tuple[int | str, ...]) -> Path:
    path = Path()
    for step in location:
        path = path.index(step) if isinstance(step, int) else path.child(step)
    return path


def _mistyped_message(cls: type[BaseModel], problem: ErrorDetails) -> str:
    """Return the message of Go's JSON decoder."""
    if problem["type"] not in _MISTYPED and not _overflows(problem):
        return f"{_path(problem['loc'])}: {problem['msg']}"
    struct, path, go_type = struct_field(cls, problem["loc"])
    target = f"struct field {struct}.{path}" if path else "value"
    value = _described(problem["input"], go_type)
    return f"json: cannot unmarshal {value} into Go {target} of type {go_type}"


_MISTYPED: Final = frozenset(
    {
        "int_type",
        "int_from_float",
        "int_parsing_size",
        "float_type",
        "string_type",
        "bool_type",
        "list_type",
        "dict_type",
        "model_type",
        "model_attributes_type",
    }
)


def _described(value: Any, go_type: str) -> str:
    """Describe a JSON value; Go shows the digits of a number that is not such an integer."""
    if isinstance(value, bool) or not isinstance(value, int | float) or "int" not in go_type:
        return json_type(value)
    return f"number {str(value)[:40]}"
