"""IntOrString: a field that holds a number, or a text such as a percentage or the name of a port.

Values are plain ints and strs; the wire keeps 5 and "5" apart, and so does Python. What a value
means against a total (`maxSurge: 25%` of ten replicas) is computed by `scaled_value`.
"""

import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from apimachinery.fieldpath import quote

_INT32_MIN: Final = -(2**31)
_INT32_MAX: Final = 2**31 - 1
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
# As many digits as an int64 can have; leading zeros are not counted.
_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_DIGITS: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


class InvalidIntOrString(ValueError):
    """A value that does not say how many of something are meant."""


class IntOrStringMarker:
    """Marks the type for the writers of protobuf and OpenAPI, and tells pydantic its rules."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.union_schema(
            [
                core_schema.str_schema(strict=True),
                core_schema.int_schema(strict=True, ge=_INT32_MIN, le=_INT32_MAX),
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
    """Return the integer of 32 bits that *text* writes, or *text* itself."""
    number = parse_integer(text)
    return number if number is not None and _INT32_MIN <= number <= _INT32_MAX else text


def scaled_value(value: IntOrString, total: int, *, round_up: bool) -> int:
    """Return the number, or the share of *total* if the value is a percentage.

    Any other string is refused, also one that holds a number. Nothing is clamped: -10% and 200%
    are for the caller to judge.
    """
    if isinstance(value, int):
        return value
    percent = _percentage(value)
    return -(-percent * total // 100) if round_up else percent * total // 100


def parse_integer(text: str) -> int | None:
    """Return the decimal integer of 64 bits that *text* writes, signed or not, else None."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    sign, digits = found.groups()
    number = -int(digits) if sign == "-" else int(digits)
    return number if _INT64_MIN <= number <= _INT64_MAX else None


def _percentage(text: str) -> int:
    if not text.endswith("%"):
        raise _invalid("invalid type: string is not a percentage")
    number = text[:-1]
    percent = parse_integer(number)
    if percent is None:
        reason = "value out of range" if _DIGITS.fullmatch(number) else "invalid syntax"
        shown, parsed = quote(text[:64]), quote(number[:64])
        raise _invalid(f"invalid value {shown}: strconv.Atoi: parsing {parsed}: {reason}")
    return percent


def _invalid(reason: str) -> InvalidIntOrString:
    return InvalidIntOrString(f"invalid value for IntOrString: {reason}")
