"""IntOrString: an integer, or a string such as a percentage or a port name.

Values are plain ints and strs; 5 and "5" are different values. `scaled_value` computes a percentage
of a total (`maxSurge: 25%` of ten replicas).
"""

import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from apimachinery.fieldpath import quote
from apimachinery.scalars.wire_types import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

_MAX_DIGITS: Final = 19
"""The digits of the largest int64, leading zeros not counted."""
_DIGITS: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


class InvalidIntOrString(ValueError):
    """A string that is not a percentage."""


class IntOrStringMarker:
    """Marks the type for protobuf and OpenAPI, and validates it for pydantic."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.union_schema(
            [
                core_schema.str_schema(strict=True),
                core_schema.int_schema(strict=True, ge=INT32_MIN, le=INT32_MAX),
            ],
            mode="left_to_right",
            custom_error_type="int_or_string",
            custom_error_message="must be an integer of 32 bits or a string",
        )

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> Any:
        return {
            "x-kubernetes-int-or-string": True,
            "format": "int-or-string",
            "oneOf": [{"type": "integer"}, {"type": "string"}],
        }

    def __repr__(self) -> str:
        return "INT_OR_STRING"


INT_OR_STRING: Final = IntOrStringMarker()

IntOrString: TypeAlias = Annotated[int | str, INT_OR_STRING]


def parse_int_or_string(text: str) -> int | str:
    """Return *text* as an int if it is an int32, else as a string."""
    number = parse_integer(text)
    return number if number is not None and INT32_MIN <= number <= INT32_MAX else text


def scaled_value(value: IntOrString, total: int, *, round_up: bool) -> int:
    """Return an integer value as it is, and a percentage as its share of *total*.

    Raises InvalidIntOrString for any other string, even if it contains a number. Nothing is
    clamped: the caller checks for -10% and 200%.
    """
    if isinstance(value, int):
        return value
    percent = _percentage(value)
    return -(-percent * total // 100) if round_up else percent * total // 100


def parse_integer(text: str) -> int | None:
    """Parse a decimal int64, with or without a sign; return None if *text* is not one."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isdecimal() or not digits.isascii():
        return None
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return None
    number = -int(digits) if text[0] == "-" else int(digits)
    return number if INT64_MIN <= number <= INT64_MAX else None


def _percentage(text: str) -> int:
    if not text.endswith("%"):
        raise _invalid("invalid type: string is not a percentage")
    number = text[:-1]
    percent = parse_integer(number)
    if percent is None:
        reason = "value out of range" if _DIGITS.fullmatch(number) else "invalid syntax"
        quoted, quoted_number = quote(text[:64]), quote(number[:64])
        raise _invalid(f"invalid value {quoted}: strconv.Atoi: parsing {quoted_number}: {reason}")
    return percent


def _invalid(reason: str) -> InvalidIntOrString:
    return InvalidIntOrString(f"invalid value for IntOrString: {reason}")
