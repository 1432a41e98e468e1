"""Checks of single values: types, bounds, lengths, patterns, formats and enums.

Each keyword of a schema is compiled to one function. Messages are those of Kubernetes.
"""

from collections.abc import Callable, Iterator
from math import isinf
from typing import Any, Final, Literal

from apimachinery.meta.unstructured import dump_content
from apimachinery.scalars.wire_types import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from apimachinery.structural.formats import format_check
from apimachinery.structural.patterns import InvalidPattern, compile_pattern, longest_text
from apimachinery.structural.problems import (
    ErrorFactory,
    Problem,
    error_without_field,
    invalid_value,
    too_many_items,
    unsupported_value,
    value_too_long,
    wrong_type,
)
from apimachinery.structural.schema_node import JSONSchema

Check = Callable[[Any], Problem | None]

_TYPES: Final = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def json_type(value: Any) -> str:
    """Return the JSON type of a value as schemas name it."""
    return _TYPES[type(value)]


def compile_type(schema: JSONSchema) -> Check | None:
    """Compile the check of the type; None if any type is allowed."""
    expected = schema.get("type", "")
    if schema.get("x-kubernetes-int-or-string"):
        accepted, expected = frozenset(("integer", "string")), "integer,string"
    elif not expected:
        return None
    else:
        accepted = frozenset(("integer", "number") if expected == "number" else (expected,))
    if schema.get("nullable"):
        accepted |= {"null"}
    error = wrong_type(expected)

    def check(value: Any) -> Problem | None:
        actual = _TYPES[type(value)]
        return None if actual in accepted else Problem(error, actual)

    def check_integer(value: Any) -> Problem | None:
        if _TYPES[type(value)] not in _NUMBER:
            return check(value)
        return None if _is_integer(value) else Problem(error, "number")

    return check_integer if "integer" in accepted and "number" not in accepted else check


def _is_integer(value: float) -> bool:
    """Return whether a number is an integer in Go, which decodes larger than 64 bits as float."""
    if isinstance(value, int):
        return INT64_MIN <= value <= INT64_MAX
    return value.is_integer() and abs(value) <= _MAX_EXACT


def scalar_checks(schema: JSONSchema) -> Iterator[tuple[frozenset[str], Check]]:
    """Yield the checks of strings and numbers, each with the types it applies to."""
    yield from ((_STRING, check) for check in _string_checks(schema))
    yield from ((_NUMBER, check) for check in _number_checks(schema))


_MAX_EXACT: Final = 2**53 - 1
"""The largest integer up to which floats represent every integer exactly."""
_STRING: Final = frozenset(("string",))
_NUMBER: Final = frozenset(("integer", "number"))


def compile_enum(schema: JSONSchema) -> Check | None:
    """Compile the check that a value is one of the enum; None without an enum."""
    values = schema.get("enum")
    if not values:
        return None
    supported = {canonical(value) for value in values}
    texts = [value if isinstance(value, str) else canonical(value).decode() for value in values]
    error = unsupported_value(texts)
    return lambda value: None if canonical(value) in supported else Problem(error, value)


def canonical(value: Any) -> bytes:
    """Return bytes that are equal for equal JSON values: for 1 and 1.0, but not 1 and true."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        value = int(value)
    return dump_content(value)


def equal_json(left: Any, right: Any) -> bool:
    return bool(left == right) and canonical(left) == canonical(right)


def _string_checks(schema: JSONSchema) -> Iterator[Check]:
    if (limit := schema.get("maxLength")) is not None:
        yield _unless(lambda text, limit=limit: len(text) <= limit, value_too_long(limit))
    if (limit := schema.get("minLength")) is not None:
        error = invalid_value(f"should be at least {limit} chars long")
        yield _unless(lambda text, limit=limit: len(text) >= limit, error)
    if pattern := schema.get("pattern"):
        yield from _pattern_checks(pattern)
    if (name := schema.get("format")) and (check := format_check(name)):
        yield _unless(check, wrong_type(name))


def _pattern_checks(pattern: str) -> Iterator[Check]:
    try:
        matches, longest = compile_pattern(pattern), longest_text(pattern)
    except InvalidPattern as error:
        # The pattern was stored by a server with other limits.
        yield _unless(lambda text: False, invalid_value(f"should match '{pattern}': {error}"))
        return
    mismatch = invalid_value(f"should match '{pattern}'")
    if longest is None:
        yield _unless(matches, mismatch)
        return
    too_long = invalid_value(f"should be at most {longest} chars long to match '{pattern}'")

    def check(text: str) -> Problem | None:
        if len(text) > longest:
            return Problem(too_long, "")
        return None if matches(text) else Problem(mismatch, text)

    yield check


def _number_checks(schema: JSONSchema) -> Iterator[Check]:
    if (factor := schema.get("multipleOf")) is not None:
        error = invalid_value(f"should be a multiple of {_number_text(factor)}")
        yield _unless(lambda number, factor=factor: _is_multiple(number, factor), error)
    if (limit := schema.get("maximum")) is not None:
        yield _upper_bound(limit, bool(schema.get("exclusiveMaximum")))
    if (limit := schema.get("minimum")) is not None:
        yield _lower_bound(limit, bool(schema.get("exclusiveMinimum")))
    if bounds := _RANGES.get(schema.get("format", "")):
        low, high = bounds
        kind, name = schema.get("type", "number"), schema["format"]
        error = error_without_field(f"Checked value must be of type {kind} with format {name}")
        yield _unless(lambda number, low=low, high=high: low <= number <= high, error)


_RANGES: Final = {"int32": (INT32_MIN, INT32_MAX), "int64": (INT64_MIN, INT64_MAX)}


def _upper_bound(limit: float, exclusive: bool) -> Check:
    if exclusive:
        error = invalid_value(f"should be less than {_number_text(limit)}")
        return _unless(lambda number: number < limit, error)
    error = invalid_value(f"should be less than or equal to {_number_text(limit)}")
    return _unless(lambda number: number <= limit, error)


def _lower_bound(limit: float, exclusive: bool) -> Check:
    if exclusive:
        error = invalid_value(f"should be greater than {_number_text(limit)}")
        return _unless(lambda number: number > limit, error)
    error = invalid_value(f"should be greater than or equal to {_number_text(limit)}")
    return _unless(lambda number: number >= limit, error)


def _unless(is_valid: Callable[..., bool], error: ErrorFactory) -> Check:
    return lambda value: None if is_valid(value) else Problem(error, value)


def size_checks(schema: JSONSchema, unit: Literal["Items", "Properties"]) -> Iterator[Check]:
    """Yield the checks of how many items or properties a value has."""
    if (limit := schema.get(f"max{unit}")) is not None:
        yield _at_most(limit)
    if (limit := schema.get(f"min{unit}")) is not None:
        error = invalid_value(f"should have at least {limit} {unit.lower()}")
        yield _unless(lambda value, limit=limit: len(value) >= limit, error)


def _at_most(limit: int) -> Check:
    error = too_many_items(limit)
    return lambda value: None if len(value) <= limit else Problem(error, len(value))


def _is_multiple(number: float, factor: float) -> bool:
    if isinstance(number, int) and float(factor).is_integer():
        return number % int(factor) == 0 if factor else False
    ratio = number / factor if factor else 0.5
    if isinf(ratio):
        return False
    return abs(ratio - round(ratio)) < 1e-9 * max(1.0, abs(ratio))


def _number_text(value: float) -> str:
    """Return a number as Kubernetes writes it: whole numbers without a fraction."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e21 else repr(value)
