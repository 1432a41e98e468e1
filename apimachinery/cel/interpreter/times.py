"""Times: timestamps and durations, their texts and their parts."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apimachinery.cel.interpreter.operators import checked_duration, checked_timestamp
from apimachinery.cel.interpreter.overloads import Overload, overload
from apimachinery.cel.interpreter.values import CELError, Duration, Timestamp

_SECOND: Final = 10**9
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_TERM: Final = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_OFFSET: Final = re.compile(r"([+-]?)(\d\d?):(\d\d)", re.ASCII)


def parse_duration(text: str) -> Duration:
    """Return the duration of a text such as `1h30m`; raise CELError if it is malformed."""
    rest = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if rest == "0":
        return Duration(0)
    total, position = 0, 0
    while position < len(rest) and (term := _TERM.match(rest, position)):
        whole, fraction = term[1], term[2] or ""
        if not whole and not fraction:
            break
        unit = _UNITS[term[3]]
        total += int(whole or 0) * unit
        if fraction:
            total += int(fraction[:18]) * unit // 10 ** len(fraction[:18])
        position = term.end()
    if not rest or position < len(rest) or len(text) > 100:
        raise CELError(f"type conversion error from 'string' to '{_DURATION}'")
    return checked_duration(-total if text.startswith("-") else total)


def parse_timestamp(text: str) -> Timestamp:
    """Return the time of a text of RFC 3339; raise CELError if it is malformed."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise CELError(f"type conversion error from 'string' to '{_TIME}'")
    zone = "+00:00" if match[4] == "Z" else match[4]
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2]}{zone}")
    except ValueError:
        raise CELError(f"type conversion error from 'string' to '{_TIME}'") from None
    nanoseconds = int(((match[3] or "") + "0" * 9)[:9])
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    value = checked_timestamp(seconds * _SECOND + nanoseconds)
    offset = moment.utcoffset() or timedelta()
    return Timestamp(value.nanoseconds, offset // timedelta(minutes=1))


def timestamp_text(value: Timestamp) -> str:
    seconds, nanoseconds = divmod(value.nanoseconds, _SECOND)
    moment = _EPOCH + timedelta(seconds=seconds, minutes=value.offset)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    hours, minutes = divmod(abs(value.offset), 60)
    zone = f"{'-' if value.offset < 0 else '+'}{hours:02d}:{minutes:02d}" if value.offset else "Z"
    return f"{text}{fraction}{zone}"


def duration_text(value: Duration) -> str:
    seconds, rest = divmod(abs(value.nanoseconds), _SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if value.nanoseconds < 0 else ''}{seconds}{fraction}s"


_TIME: Final = "google.protobuf.Timestamp"
_DURATION: Final = "google.protobuf.Duration"


def overloads() -> Iterator[Overload]:
    """Yield the functions of times."""
    for name, part in _PARTS.items():
        yield overload(name, _TIME, lambda value, part=part: part(_local(value, "UTC")))
        yield overload(
            name, f"{_TIME} string", lambda value, zone, part=part: part(_local(value, zone))
        )
    yield overload("getMilliseconds", _TIME, lambda value: value.nanoseconds % _SECOND // 10**6)
    yield overload(
        "getMilliseconds", f"{_TIME} string", lambda value, _: value.nanoseconds % _SECOND // 10**6
    )
    for name, unit in (
        ("getHours", 3600 * _SECOND),
        ("getMinutes", 60 * _SECOND),
        ("getSeconds", _SECOND),
        ("getMilliseconds", 10**6),
    ):
        yield overload(name, _DURATION, lambda value, unit=unit: _whole(value, unit))


def _whole(value: Duration, unit: int) -> int:
    count = abs(value.nanoseconds) // unit
    return count if value.nanoseconds >= 0 else -count


def _local(value: Timestamp, zone: str) -> datetime:
    moment = _EPOCH + timedelta(seconds=value.nanoseconds // _SECOND)
    try:
        return moment.astimezone(_zone(zone))
    except OverflowError:
        return moment


def _zone(name: str) -> ZoneInfo | timezone:
    if name in ("", "UTC"):
        return UTC
    if match := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        if offset < timedelta(hours=24):
            return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CELError(f"unknown time zone {name}") from None


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}
