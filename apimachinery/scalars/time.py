"""Timestamps: RFC 3339 in UTC, with seconds (`Time`) or microseconds (`MicroTime`).

In Python both are aware `datetime`s. Parsing accepts any offset and any number of fraction digits,
converts to UTC and truncates to the precision of the type, so that a decoded value equals the
encoded one.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from apimachinery.fieldpath import quote

_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))"
)

_MAX_LENGTH: Final = 256
# Longer texts are rare, and caching them would let a client fill the cache with large strings.
_CACHED_LENGTH: Final = 32


class InvalidTime(ValueError):
    """A malformed RFC 3339 timestamp."""


def parse_time(text: str) -> datetime:
    """Parse a timestamp, truncated to seconds, in UTC; raises InvalidTime."""
    return _parse_cached(text) if len(text) <= _CACHED_LENGTH else _parse_second(text)


def parse_micro_time(text: str) -> datetime:
    """Parse a timestamp, truncated to microseconds, in UTC; raises InvalidTime."""
    return _parse(text)


# Cached: objects that are created together share timestamps, and each is encoded several times.
@lru_cache(maxsize=4096)
def format_time(value: datetime) -> str:
    return _to_utc(value).isoformat(timespec="seconds")[:19] + "Z"


def format_micro_time(value: datetime) -> str:
    return _to_utc(value).isoformat(timespec="microseconds")[:26] + "Z"


def now() -> datetime:
    """Return the current time with the precision of `Time`."""
    return datetime.fromtimestamp(int(time.time()), UTC)


def _parse_second(text: str) -> datetime:
    return _parse(text).replace(microsecond=0)


_parse_cached = lru_cache(maxsize=4096)(_parse_second)


def _parse(text: str) -> datetime:
    match = _RFC3339.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None or not text.isascii():
        raise InvalidTime(f"{_error_prefix(text)} as RFC 3339: expected 2006-01-02T15:04:05Z")
    year, month, day, hour, minute, second, fraction, *offset = match.groups()
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    zone = UTC if offset[0] is None else _parse_offset(text, *offset)
    try:
        instant = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second), micro, zone
        )
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidTime(f"{_error_prefix(text)}: {error}") from None


def _error_prefix(text: str) -> str:
    return f"parsing time {quote(text[:64])}"


def _parse_offset(text: str, sign: str, hours: str, minutes: str) -> timezone:
    if int(hours) > 23 or int(minutes) > 59:
        raise InvalidTime(f"{_error_prefix(text)}: time zone offset out of range")
    delta = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-delta if sign == "-" else delta)


def _to_utc(value: datetime) -> datetime:
    return value if value.tzinfo is UTC else value.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class _Instant:
    """Validates and serializes an aware datetime for pydantic."""

    name: str
    parse: Callable[[str], datetime]
    format: Callable[[datetime], str]
    timespec: str

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.format, when_used="json"
            ),
        )

    def _validate(self, value: Any) -> datetime:
        if isinstance(value, str):
            try:
                return self.parse(value)
            except InvalidTime as error:
                raise PydanticCustomError("time", "{reason}", {"reason": str(error)}) from None
        if isinstance(value, datetime) and value.tzinfo is not None:
            instant = _to_utc(value)
            return instant.replace(microsecond=0) if self.timespec == "seconds" else instant
        raise PydanticCustomError("time", "must be an RFC 3339 string or an aware datetime")


TIME = _Instant("time", parse_time, format_time, "seconds")
MICRO_TIME = _Instant("micro-time", parse_micro_time, format_micro_time, "microseconds")

Time = Annotated[datetime, TIME]
MicroTime = Annotated[datetime, MICRO_TIME]
