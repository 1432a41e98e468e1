"""JSON bytes -> Model, with every complaint at its place.

Two kinds of complaint are kept apart because the wire keeps them apart. A document that does not
have the types of its class cannot be understood at all (`DecodeError`, a 400). One that does, and
breaks a declared constraint or lacks a required field, is understood and refused (`FieldErrors`
in `DecodeError.fields`, a 422).

The fast way is one pass of pydantic over the bytes. Only a document that has nulls where the class
has none, or unknown fields, or parts without a type, is looked at again.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, get_args

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from apimachinery.fieldpath import FieldError, Path, invalid, required
from apimachinery.model.class_fields import TypeInfo, fields_of, reachable
from apimachinery.scalars.wire_types import FIELDS_V1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

ModelT = TypeVar("ModelT", bound=BaseModel)

MAX_DEPTH: Final = 200
"""How deep documents may nest, which is what pydantic's JSON parser allows."""


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
    """Decode, or raise DecodeError.

    A null means that the field is absent; as an element of a list, or a value of a map, it is the
    zero of its type.
    """
    try:
        return _validate(cls, data, find_unknown)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=True)
    if problems[0]["type"] == "json_invalid":
        raise DecodeError(str(problems[0]["ctx"]["error"]))
    document = _without_nulls(cls, load_json(data), problems)
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
        known = any(found.model_config.get("extra") == "allow" for found in reachable(cls))
        type.__setattr__(cls, "__is_open_cache__", known)
    return known


def load_json(data: bytes | str, **hooks: Any) -> Any:
    """Parse by Python's own parser, which takes *hooks*, or raise DecodeError."""
    try:
        return json.loads(data, parse_int=_integer, **hooks)
    except RecursionError:
        raise DecodeError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise DecodeError(str(error)) from None


def _integer(digits: str) -> int | float:
    # Python refuses to read integers of thousands of digits, and no field can hold one.
    return int(digits) if len(digits) < 4000 else float(digits)


def _validate(cls: type[ModelT], data: bytes | str, find_unknown: bool) -> DecodedModel[ModelT]:
    if has_untyped_parts(cls):
        refuse_non_numbers(data)
    if not find_unknown or is_open(cls):
        made = cls.model_validate_json(data, by_alias=True, by_name=False)
        return DecodedModel(
            made, tuple(unknown_fields(load_json(data), cls)) if find_unknown else ()
        )
    return DecodedModel(cls.model_validate_json(data, by_alias=True, by_name=False, extra="forbid"))


def refuse_non_numbers(data: bytes | str) -> None:
    """Refuse NaN, Infinity and 1e400: pydantic reads them, and JSON cannot write them again."""
    try:
        orjson.loads(data)
    except ValueError as error:
        raise DecodeError(str(error)) from None


def has_untyped_parts(cls: type[BaseModel]) -> bool:
    """Whether any JSON can stand somewhere in the class; a set of fields is checked elsewhere."""
    known: bool | None = cls.__dict__.get("__untyped_cache__")
    if known is None:
        types = [field.type for found in reachable(cls) for field in fields_of(found)]
        known = is_open(cls) or any(_is_untyped(kind) for kind in types)
        type.__setattr__(cls, "__untyped_cache__", known)
    return known


def _is_untyped(kind: TypeInfo) -> bool:
    if kind.item is not None:
        return not kind.marked(FIELDS_V1) and _is_untyped(kind.item)
    return kind.category == "any"


def _without_nulls(cls: type[BaseModel], document: Any, problems: list[ErrorDetails]) -> Any:
    """Take out the nulls that pydantic complained of, or put the zeros they stand for."""
    for problem in problems:
        if problem["input"] is not None or problem["type"] == "extra_forbidden":
            continue
        holder, kind = _holder(cls, document, problem["loc"])
        name = problem["loc"][-1] if problem["loc"] else ""
        if kind.category == "model" and isinstance(holder, dict):
            holder.pop(str(name), None)
        elif kind.item is not None and problem["type"] in _ZEROS:
            holder[name] = _ZEROS[problem["type"]]
    return document


def _holder(
    cls: type[BaseModel], document: Any, location: tuple[int | str, ...]
) -> tuple[Any, TypeInfo]:
    """What the value at *location* is a part of, and its type."""
    holder, kind = document, TypeInfo("model", cls)
    for step in location[:-1]:
        below = _below(kind, step)
        if below is None:
            return None, _NOWHERE
        holder, kind = holder[step], below
    return holder, kind


def _below(kind: TypeInfo, step: int | str) -> TypeInfo | None:
    if kind.category == "model":
        return next((found.type for found in fields_of(kind.python) if found.wire == step), None)
    return kind.item


_NOWHERE: Final = TypeInfo("any", Any)
_ZEROS: Final[dict[str, Any]] = {
    "string_type": "",
    "int_type": 0,
    "float_type": 0,
    "bool_type": False,
    "list_type": [],
    "dict_type": {},
    "model_type": {},
}


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
    elif isinstance(value, dict) and (model := model_arm(kind)) is not None:
        yield from _unknown(value, model, path)


def model_arm(kind: TypeInfo) -> TypeInfo | None:
    """The Model among the alternatives of a union, which is what an object there must be."""
    if kind.category != "scalar":
        return None
    arms = (arm for arm in get_args(kind.python) if isinstance(arm, type))
    return next((TypeInfo("model", arm) for arm in arms if issubclass(arm, BaseModel)), None)


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
