"""JSON bytes -> Model, with every complaint at its place.

Two kinds of complaint are kept apart because the wire keeps them apart. A document that does not
have the types of its class cannot be understood at all (`DecodeError`, a 400). One that does, and
breaks a declared constraint or lacks a required field, is understood and refused (`FieldErrors`
in `DecodeError.fields`, a 422).

The fast way is one pass of pydantic over the bytes. Only a document that has nulls where the class
has none, or unknown fields, is looked at again.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from apimachinery.fieldpath import FieldError, Path, invalid, required
from apimachinery.meta.fields import TypeInfo, fields_of
from apimachinery.meta.scalars import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

ModelT = TypeVar("ModelT", bound=BaseModel)


class DecodeError(ValueError):
    """A document that is not one of its class; *fields* is set when only its values are wrong."""

    def __init__(self, message: str, fields: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


@dataclass(frozen=True, slots=True)
class DecodedModel(Generic[ModelT]):
    """An object, and the paths of what the document had beyond it."""

    object: ModelT
    unknown: tuple[str, ...] = ()


def decode_json(
    cls: type[ModelT], data: bytes | str, *, find_unknown: bool = True
) -> DecodedModel[ModelT]:
    """Decode, or raise DecodeError. A null means that the field is absent."""
    try:
        return _validate(cls, data, find_unknown)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=True)
    if problems[0]["type"] == "json_invalid":
        raise DecodeError(str(problems[0]["ctx"]["error"]))
    document = _without_nulls(_loads(data), problems)
    unknown = tuple(unknown_fields(document, cls)) if find_unknown else ()
    try:
        made = cls.model_validate_json(json.dumps(document), by_alias=True, by_name=False)
    except ValidationError as error:
        raise complaint(cls, error.errors(include_url=False)) from None
    return DecodedModel(made, unknown)


def unknown_fields(document: Any, cls: type[BaseModel]) -> Iterator[str]:
    """The paths of what *document* has and *cls* has no field for."""
    return _unknown(document, TypeInfo("model", cls), "")


def is_open(cls: type[BaseModel]) -> bool:
    """Whether objects of the class, or of one that it holds, may have fields nobody declared."""
    known: bool | None = cls.__dict__.get("__is_open_cache__")
    if known is None:
        known = any(found.model_config.get("extra") == "allow" for found in _reachable(cls))
        type.__setattr__(cls, "__is_open_cache__", known)
    return known


def _loads(data: bytes | str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:  # a number of thousands of digits
        raise DecodeError(str(error)) from None


def _validate(cls: type[ModelT], data: bytes | str, find_unknown: bool) -> DecodedModel[ModelT]:
    if not find_unknown or is_open(cls):
        made = cls.model_validate_json(data, by_alias=True, by_name=False)
        return DecodedModel(made, tuple(unknown_fields(_loads(data), cls)) if find_unknown else ())
    return DecodedModel(cls.model_validate_json(data, by_alias=True, by_name=False, extra="forbid"))


def _reachable(cls: type[BaseModel]) -> set[type[BaseModel]]:
    found: set[type[BaseModel]] = set()
    waiting = [cls]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(model for field in fields_of(one) if (model := field.type.model))
    return found


def _without_nulls(document: Any, problems: list[ErrorDetails]) -> Any:
    """Take out the nulls that pydantic complained of; they mean that the field is absent."""
    for problem in problems:
        if problem["input"] is not None or problem["type"] == "extra_forbidden":
            continue
        holder = document
        for step in problem["loc"][:-1]:
            try:
                holder = holder[step]
            except (KeyError, IndexError, TypeError):
                break
        name = problem["loc"][-1] if problem["loc"] else ""
        if isinstance(holder, dict) and holder.get(str(name), ...) is None:
            del holder[str(name)]
    return document


def _unknown(value: Any, kind: TypeInfo, path: str) -> Iterator[str]:
    if kind.category == "model" and isinstance(value, dict):
        fields = {found.wire: found for found in fields_of(kind.python)}
        allowed = kind.python.model_config.get("extra") == "allow"
        for name, item in value.items():
            here = f"{path}.{name}" if path else name
            if name in fields:
                yield from _unknown(item, fields[name].type, here)
            elif not allowed:
                yield here
    elif kind.item is not None and kind.item.model is not None:
        yield from _unknown_in_collection(value, kind.item, path)


def _unknown_in_collection(value: Any, item: TypeInfo, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for position, element in enumerate(value):
            yield from _unknown(element, item, f"{path}[{position}]")
    elif isinstance(value, dict):
        for key, element in value.items():
            yield from _unknown(element, item, f"{path}.{key}")


def complaint(cls: type[BaseModel], problems: list[ErrorDetails]) -> DecodeError:
    """What pydantic found wrong with a document of *cls*, in the words of the wire."""
    mistyped = [problem for problem in problems if _is_mistyped(problem)]
    if mistyped:
        return DecodeError("; ".join(_mistyped(cls, problem) for problem in mistyped))
    fields = [_field_error(problem) for problem in problems]
    return DecodeError(", ".join(str(field) for field in fields), fields)


def _is_mistyped(problem: ErrorDetails) -> bool:
    return problem["type"] not in _CONSTRAINTS or _overflows(problem)


def _overflows(problem: ErrorDetails) -> bool:
    """Whether the broken bound is that of the integer's size, which is part of its type."""
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


def _mistyped(cls: type[BaseModel], problem: ErrorDetails) -> str:
    """The complaint as the original's decoder words it."""
    place = ".".join(str(step) for step in problem["loc"] if isinstance(step, str))
    wanted = _WANTED.get(problem["type"])
    if _overflows(problem):
        bits = 32 if {INT32_MAX, INT32_MIN} & set(problem["ctx"].values()) else 64
        wanted = f"int{bits}"
    name = getattr(cls, "__kind__", cls.__name__)
    if wanted is None:
        return f"{_path(problem['loc'])}: {problem['msg']}"
    where = f"struct field {name}.{place}" if place else "value"
    return f"json: cannot unmarshal {_json_type(problem['input'])} into Go {where} of type {wanted}"


_WANTED = {
    "int_type": "int64",
    "int_from_float": "int64",
    "int_parsing_size": "int64",
    "float_type": "float64",
    "string_type": "string",
    "bool_type": "bool",
    "list_type": "array",
    "dict_type": "map",
    "model_type": "object",
    "model_attributes_type": "object",
}


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) > INT32_MAX):
        return f"number {str(value)[:40]}"
    if isinstance(value, int):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
