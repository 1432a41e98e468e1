"""Value validations of single values: types, bounds, lengths, patterns, formats, enums.

Each keyword of a schema becomes one function of a value. Messages are those of the original.
"""

from collections.abc import Callable, Iterator
from math import isinf
from typing import Any, Final

import orjson

from apimachinery.scalars.wire_types import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from apimachinery.structural.formats import format_check
from apimachinery.structural.node import JSONSchema
from apimachinery.structural.patterns import compile_pattern
from apimachinery.structural.problems import (
    Make,
    Problem,
    about_the_whole,
    breaks,
    longer_than,
    mistyped,
    more_than,
    not_among,
)

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
    """What JSON calls a value."""
    return _TYPES[type(value)]


def compile_type(schema: JSONSchema) -> Check | None:
    """The check of the type; None if any will do."""
    wanted = schema.get("type", "")
    if schema.get("x-kubernetes-int-or-string"):
        accepted, wanted = frozenset(("integer", "string")), "integer,string"
    elif not wanted:
        return None
    else:
        accepted = frozenset(("integer", "number") if wanted == "number" else (wanted,))
    if schema.get("nullable"):
        accepted |= {"null"}
    make = mistyped(wanted)

    def check(value: Any) -> Problem | None:
        found = _TYPES[type(value)]
        return None if found in accepted else Problem(make, found)

    def check_whole(value: Any) -> Problem | None:
        if _TYPES[type(value)] not in _NUMBER:
            return check(value)
        return None if _is_whole(value) else Problem(make, "number")

    return check_whole if "integer" in accepted and "number" not in accepted else check


def _is_whole(value: float) -> bool:
    """Whether a number is an integer to those who read one beyond 64 bits as a fraction."""
    if isinstance(value, int):
        return INT64_MIN <= value <= INT64_MAX
    return value.is_integer() and abs(value) <= _MAX_EXACT


def scalar_checks(schema: JSONSchema) -> Iterator[tuple[frozenset[str], Check]]:
    """The checks of what is neither a list nor an object, each with the types it is for."""
    yield from ((_STRING, check) for check in _string_checks(schema))
    yield from ((_NUMBER, check) for check in _number_checks(schema))


_MAX_EXACT: Final = 2**53 - 1
"""Up to here every integer can be written as a fraction and read again."""
_STRING: Final = frozenset(("string",))
_NUMBER: Final = frozenset(("integer", "number"))


def compile_enum(schema: JSONSchema) -> Check | None:
    """The check that a value is one of those listed."""
    values = schema.get("enum")
    if not values:
        return None
    known = {canonical(value) for value in values}
    shown = [value if isinstance(value, str) else canonical(value).decode() for value in values]
    make = not_among(shown)
    return lambda value: None if canonical(value) in known else Problem(make, value)


def canonical(value: Any) -> bytes:
    """Bytes that are equal for equal JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        value = int(value)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal."""
    return bool(one == other) and canonical(one) == canonical(other)


def _string_checks(schema: JSONSchema) -> Iterator[Check]:
    if (most := schema.get("maxLength")) is not None:
        yield _unless(lambda text, most=most: len(text) <= most, longer_than(most))
    if (least := schema.get("minLength")) is not None:
        rule = breaks(f"should be at least {least} chars long")
        yield _unless(lambda text, least=least: len(text) >= least, rule)
    if pattern := schema.get("pattern"):
        yield _unless(compile_pattern(pattern), breaks(f"should match '{pattern}'"))
    if (named := schema.get("format")) and (check := format_check(named)):
        yield _unless(check, mistyped(named))


def _number_checks(schema: JSONSchema) -> Iterator[Check]:
    if (factor := schema.get("multipleOf")) is not None:
        rule = breaks(f"should be a multiple of {_number(factor)}")
        yield _unless(lambda number, factor=factor: _is_multiple(number, factor), rule)
    if (most := schema.get("maximum")) is not None:
        yield _upper(most, bool(schema.get("exclusiveMaximum")))
    if (least := schema.get("minimum")) is not None:
        yield _lower(least, bool(schema.get("exclusiveMinimum")))
    if bounds := _RANGES.get(schema.get("format", "")):
        low, high = bounds
        kind, named = schema.get("type", "number"), schema["format"]
        rule = about_the_whole(f"Checked value must be of type {kind} with format {named}")
        yield _unless(lambda number, low=low, high=high: low <= number <= high, rule)


_RANGES: Final = {"int32": (INT32_MIN, INT32_MAX), "int64": (INT64_MIN, INT64_MAX)}


def _upper(most: float, exclusive: bool) -> Check:
    if exclusive:
        return _unless(lambda number: number < most, breaks(f"should be less than {_number(most)}"))
    rule = breaks(f"should be less than or equal to {_number(most)}")
    return _unless(lambda number: number <= most, rule)


def _lower(least: float, exclusive: bool) -> Check:
    if exclusive:
        rule = breaks(f"should be greater than {_number(least)}")
        return _unless(lambda number: number > least, rule)
    rule = breaks(f"should be greater than or equal to {_number(least)}")
    return _unless(lambda number: number >= least, rule)


def _unless(holds: Callable[..., bool], make: Make) -> Check:
    return lambda value: None if holds(value) else Problem(make, value)


def size_checks(schema: JSONSchema, what: str) -> Iterator[Check]:
    """The checks of how many Items, or Properties, there are; those of an object come first."""
    if (most := schema.get(f"max{what}")) is not None:
        yield _at_most(most)
    if (least := schema.get(f"min{what}")) is not None:
        rule = breaks(f"should have at least {least} {what.lower()}")
        yield _unless(lambda value, least=least: len(value) >= least, rule)


def _at_most(most: int) -> Check:
    make = more_than(most)
    return lambda value: None if len(value) <= most else Problem(make, len(value))


def _is_multiple(number: float, factor: float) -> bool:
    if isinstance(number, int) and float(factor).is_integer():
        return number % int(factor) == 0 if factor else False
    ratio = number / factor if factor else 0.5
    if isinf(ratio):
        return False
    return abs(ratio - round(ratio)) < 1e-9 * max(1.0, abs(ratio))


def _number(value: float) -> str:
    """A number as the original writes it, without the fraction of a whole one."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e21 else repr(value)
