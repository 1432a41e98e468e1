"""Conversions: between numbers, texts, bytes and times; `type`, `dyn` and `size`."""

import math
from collections.abc import Iterator
from typing import Any, Final

from apimachinery.cel.checked_expression import Unsigned
from apimachinery.cel.interpreter.operators import checked_timestamp, negate
from apimachinery.cel.interpreter.overloads import Overload, overload, reading, traversal
from apimachinery.cel.interpreter.times import (
    duration_text,
    parse_duration,
    parse_timestamp,
    timestamp_text,
)
from apimachinery.cel.interpreter.values import (
    EMPTY,
    MAX_UINT,
    OVERLOAD,
    CELError,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    checked_int,
    checked_uint,
    type_name,
)

_TIME: Final = "google.protobuf.Timestamp"
_DURATION: Final = "google.protobuf.Duration"
_TRUE: Final = frozenset(("true", "TRUE", "True", "t", "1"))
_FALSE: Final = frozenset(("false", "FALSE", "False", "f", "0"))
_LONGEST_NUMBER: Final = 400
_LARGEST_POWER: Final = 6
"""The power of ten from which Go prints a double with an exponent."""


def overloads() -> Iterator[Overload]:
    """Yield the conversions."""
    yield overload("dyn", "dyn", lambda value: value)
    yield overload("type", "dyn", lambda value: TypeValue(type_name(value)))
    for kind in ("string", "bytes", "list", "map"):
        yield overload("size", kind, len)
    yield overload("!_", "bool", lambda value: not value)
    yield overload("-_", "dyn", negate)
    yield from _numbers()
    yield from _texts()
    yield overload("bool", "bool", lambda value: value)
    yield overload("bool", "string", _to_bool)
    yield overload("timestamp", "string", parse_timestamp)
    yield overload("timestamp", _TIME, lambda value: value)
    yield overload("timestamp", "int", lambda value: checked_timestamp(value * 10**9))
    yield overload("duration", "string", parse_duration)
    yield overload("duration", _DURATION, lambda value: value)
    yield overload("duration", "int", lambda value: Duration(value))
    yield from _optionals()


def _numbers() -> Iterator[Overload]:
    yield overload("int", "int", lambda value: value)
    yield overload("int", "uint", lambda value: checked_int(int(value)))
    yield overload("int", "double", _whole)
    yield overload("int", "string", lambda text: checked_int(_parse_int(text, "int")))
    yield overload("int", _TIME, lambda value: value.nanoseconds // 10**9)
    yield overload("int", _DURATION, lambda value: value.nanoseconds)
    yield overload("uint", "uint", lambda value: value)
    yield overload("uint", "int", checked_uint)
    yield overload("uint", "double", _whole_unsigned)
    yield overload("uint", "string", lambda text: checked_uint(_parse_int(text, "uint")))
    for kind in ("double", "int", "uint"):
        yield overload("double", kind, float)
    yield overload("double", "string", _to_double)


def _texts() -> Iterator[Overload]:
    for kind in ("string", "bool", "int", "uint", "double", _TIME, _DURATION, "type"):
        yield overload("string", kind, text_of)
    yield overload("string", "bytes", _decode, lambda value: traversal(len(value)))
    yield overload("bytes", "bytes", lambda value: value)
    yield overload("bytes", "string", lambda text: text.encode(), reading())


def _optionals() -> Iterator[Overload]:
    yield overload("optional.none", "", lambda: EMPTY)
    yield overload("optional.of", "dyn", lambda value: Optional(value, True))
    yield overload(
        "optional.ofNonZeroValue",
        "dyn",
        lambda value: EMPTY if is_zero(value) else Optional(value, True),
    )
    yield overload("hasValue", "optional_type", lambda value: value.has_value)
    yield overload("value", "optional_type", _content)
    yield overload("optional.unwrap", "list", _unwrapped)
    yield overload("unwrapOpt", "list", _unwrapped)


def _unwrapped(items: list[Any]) -> list[Any]:
    if not all(isinstance(item, Optional) for item in items):
        raise CELError(OVERLOAD)
    return [item.content for item in items if item.has_value]


def _content(value: Optional) -> Any:
    if value.has_value:
        return value.content
    raise CELError("optional.none() dereference")


def is_zero(value: Any) -> bool:
    """Return whether a value is the zero value of its type."""
    if isinstance(value, Timestamp | Duration):
        return value.nanoseconds == 0
    if isinstance(value, Optional):
        return not value.has_value
    return value is None or (
        isinstance(value, str | bytes | list | dict | int | float) and not value
    )


def text_of(value: Any) -> str:
    """Return the text of a scalar, as `string()` does."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(int(value))
        case float():
            return go_float(value)
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case TypeValue(name=name):
            return name
    raise CELError(f"type conversion error from '{type_name(value)}' to 'string'")


def go_float(value: float) -> str:
    """Return a double as Go prints it with the fewest digits (`%g`)."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, _, exponent = f"{value!r}".partition("e")
    sign = "-" if value < 0 else ""
    whole, _, fraction = digits.removeprefix("-").removesuffix(".0").partition(".")
    significant = (whole + fraction).lstrip("0")
    power = int(exponent or 0) + len(whole) - 1
    if whole == "0":
        power = -(len(fraction) - len(fraction.lstrip("0"))) - 1
    significant = significant.rstrip("0") or "0"
    if -4 <= power < _LARGEST_POWER:
        return sign + _positional(significant, power)
    rest = f".{significant[1:]}" if len(significant) > 1 else ""
    return f"{sign}{significant[0]}{rest}e{'+' if power >= 0 else '-'}{abs(power):02d}"


def _positional(digits: str, power: int) -> str:
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole, fraction = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def _whole(value: float) -> int:
    if math.isfinite(value) and -(2**63) < value < 2**63:
        return int(value)
    raise CELError("integer overflow")


def _whole_unsigned(value: float) -> Unsigned:
    if math.isfinite(value) and 0 <= value < MAX_UINT:
        return Unsigned(int(value))
    raise CELError("unsigned integer overflow")


def _parse_int(text: str, kind: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") and kind == "int" else text
    if digits.isascii() and digits.isdigit() and len(digits) < _LONGEST_NUMBER:
        number = int(text)
        in_range = -(2**63) <= number < 2**63 if kind == "int" else number <= MAX_UINT
        if in_range:
            return number
    raise CELError(f"type conversion error from 'string' to '{kind}'")


def _to_double(text: str) -> float:
    stripped = text.replace("_", "?")
    try:
        if text == text.strip() and len(text) < _LONGEST_NUMBER:
            return float(stripped)
    except ValueError:
        pass
    raise CELError("type conversion error from 'string' to 'double'")


def _to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise CELError("type conversion error from 'string' to 'bool'")


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CELError("invalid UTF-8 in bytes, cannot convert to string") from None
