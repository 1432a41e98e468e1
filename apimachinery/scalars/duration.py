"""Durations: a `timedelta` in Python, a Go duration string such as `1h30m0s` on the wire.

A Go duration is an int64 of nanoseconds, about 292 years; values that do not fit are rejected when
parsed and when formatted. A timedelta has microseconds, so finer digits are truncated; but a
duration that is not zero never becomes zero, because zero often means "none" or "forever": it
becomes one microsecond.
"""

import re
from datetime import timedelta
from typing import Annotated, Any, Final, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

MAX_LENGTH: Final = 1024

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,  # the micro sign, which is also how Go prints it
    "\u03bcs": 1_000,  # the Greek letter
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MAX_NANOSECONDS: Final = 2**63 - 1
_MIN_NANOSECONDS: Final = -(2**63)
_MICROSECOND: Final = timedelta(microseconds=1)
_TERM: Final = re.compile(r"([0-9]*+)(?:\.([0-9]*+))?([^0-9.]*+)", re.ASCII)


class InvalidDuration(ValueError):
    """A malformed Go duration, or a duration that does not fit 64 bits of nanoseconds."""

    def __init__(self, reason: str, text: str) -> None:
        self.text = text
        super().__init__(reason)


def parse_duration(text: str) -> timedelta:
    """Parse a Go duration string; raises InvalidDuration."""
    if len(text) > MAX_LENGTH:
        excerpt = _quote(f"{text[:32]}...")
        reason = f"time: invalid duration {excerpt}: must be no more than {MAX_LENGTH} characters"
        raise InvalidDuration(reason, text)
    negative = text.startswith("-")
    unsigned = text[1:] if text[:1] in ("-", "+") else text
    if unsigned == "0":
        return timedelta()
    nanoseconds = _parse_terms(text, unsigned)
    if not unsigned or (nanoseconds > _MAX_NANOSECONDS and not negative):
        raise _invalid(text)
    microseconds = nanoseconds // 1000 or min(nanoseconds, 1)
    return timedelta(microseconds=-microseconds if negative else microseconds)


def format_duration(value: timedelta) -> str:
    """Format *value* as Go prints it: `1h0m0s`, `1.5s`, `100ms`, `0s`."""
    microseconds = _microseconds(value)
    sign, microseconds = ("-", -microseconds) if microseconds < 0 else ("", microseconds)
    if microseconds == 0:
        return "0s"
    if microseconds < 1_000:
        return f"{sign}{microseconds}\u00b5s"
    if microseconds < 1_000_000:
        return f"{sign}{_decimal(microseconds, 3)}ms"
    minutes, remainder = divmod(microseconds, 60_000_000)
    seconds = f"{_decimal(remainder, 6)}s"
    if not minutes:
        return f"{sign}{seconds}"
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}h{minutes}m{seconds}" if hours else f"{sign}{minutes}m{seconds}"


class DurationMarker:
    """Marks the type for protobuf and OpenAPI, and validates and serializes it for pydantic."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                format_duration, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> Any:
        return {"type": "string"}

    def __repr__(self) -> str:
        return "DURATION"


DURATION: Final = DurationMarker()

Duration: TypeAlias = Annotated[timedelta, DURATION]


def _validate(value: Any) -> timedelta:
    try:
        if isinstance(value, str):
            return parse_duration(value)
        if isinstance(value, timedelta):
            _microseconds(value)
            return value
    except InvalidDuration as error:
        raise PydanticCustomError("duration", "{reason}", {"reason": str(error)}) from None
    raise PydanticCustomError("duration", "must be a duration string such as 1h30m0s")


def _parse_terms(text: str, unsigned: str) -> int:
    total, position = 0, 0
    while position < len(unsigned):
        term = _TERM.match(unsigned, position)
        assert term, "every part of the pattern is optional"
        whole, fraction, unit = term.groups("")
        if not (whole or fraction) or int(whole or "0") > -_MIN_NANOSECONDS:
            raise _invalid(text)
        _check_unit(text, unit)
        total += _UNITS[unit] * int(whole or "0")
        total += _UNITS[unit] * int(fraction or "0") // int(10 ** len(fraction))
        if total > -_MIN_NANOSECONDS:
            raise _invalid(text)
        position = term.end()
    return total


def _check_unit(text: str, unit: str) -> None:
    if not unit:
        raise InvalidDuration(f"time: missing unit in duration {_quote(text)}", text)
    if unit not in _UNITS:
        reason = f"time: unknown unit {_quote(unit)} in duration {_quote(text)}"
        raise InvalidDuration(reason, text)


def _microseconds(value: timedelta) -> int:
    microseconds = value // _MICROSECOND
    if abs(microseconds) * 1000 > _MAX_NANOSECONDS:
        reason = f"time: invalid duration: {value!r} does not fit 64 bits of nanoseconds"
        raise InvalidDuration(reason, str(value))
    return microseconds


def _decimal(number: int, digits: int) -> str:
    whole, fraction = divmod(number, 10**digits)
    return f"{whole}.{fraction:0{digits}d}".rstrip("0").rstrip(".")


def _invalid(text: str) -> InvalidDuration:
    return InvalidDuration(f"time: invalid duration {_quote(text)}", text)


def _quote(text: str) -> str:
    """Quote like Go's time package, which escapes non-ASCII text byte by byte."""
    return f'"{"".join(map(_quote_character, text))}"'


def _quote_character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if " " <= character <= "\x7f":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
