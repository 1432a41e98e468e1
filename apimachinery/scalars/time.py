"""Instants on the wire: RFC 3339 in UTC, to the second (`Time`) or the microsecond (`MicroTime`).

In Python both are aware `datetime`s. Reading accepts any offset and any number of fraction digits
and gives UTC, cut to the precision of the type, so that what was read equals what will be written.
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

# Longer texts are as rare as they are strange, and would let a client fill the cache with them.
_CACHED_LENGTH: Final = 32


class InvalidTime(ValueError):
    """A text that is not an RFC 3339 instant."""


def parse_time(text: str) -> datetime:
    """The instant to the second, in UTC."""
    return _parse_cached(text) if len(text) <= _CACHED_LENGTH else _parse_second(text)


def parse_micro_time(text: str) -> datetime:
    """The instant to the microsecond, in UTC; digits beyond are cut off."""
    return _parse(text)


# Objects that are made together have the same times, and each is written several times over.
@lru_cache(maxsize=4096)
def format_time(value: datetime) -> str:
    return _in_utc(value).isoformat(timespec="seconds")[:19] + "Z"


def format_micro_time(value: datetime) -> str:
    return _in_utc(value).isoformat(timespec="microseconds")[:26] + "Z"


def now() -> datetime:
    """The present as `Time` holds it."""
    return datetime.fromtimestamp(int(time.time()), UTC)


def _parse_second(text: str) -> datetime:
    return _parse(text).replace(microsecond=0)


_parse_cached = lru_cache(maxsize=4096)(_parse_second)


def _parse(text: str) -> datetime:
    found = _RFC3339.fullmatch(text)
    if found is None or not text.isascii():
        raise InvalidTime(f"{_parsing(text)} as RFC 3339: expected 2006-01-02T15:04:05Z")
    year, month, day, hour, minute, second, fraction, sign, off_hours, off_minutes = found.groups()
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    zone = UTC if sign is None else _offset(text, sign, off_hours, off_minutes)
    try:
        instant = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second), micro, zone
        )
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidTime(f"{_parsing(text)}: {error}") from None


def _parsing(text: str) -> str:
    return f"parsing time {quote(text[:64])}"


def _offset(text: str, sign: str, hours: str, minutes: str) -> timezone:
    if int(hours) > 23 or int(minutes) > 59:
        raise InvalidTime(f"{_parsing(text)}: time zone offset out of range")
    delta = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-delta if sign == "-" else delta)


def _in_utc(value: datetime) -> datetime:
    return value if value.tzinfo is UTC else value.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class _Instant:
    """Makes an aware datetime of a text, and a text of it, for pydantic."""

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
            instant = _in_utc(value)
            return instant.replace(microsecond=0) if self.timespec == "seconds" else instant
        raise PydanticCustomError("time", "must be an RFC 3339 text or an aware datetime")


TIME = _Instant("time", parse_time, format_time, "seconds")
MICRO_TIME = _Instant("micro-time", parse_micro_time, format_micro_time, "microseconds")

Time = Annotated[datetime, TIME]
MicroTime = Annotated[datetime, MICRO_TIME]
