"""Schedules of cron jobs: five fields (minute, hour, day, month, weekday), or a name (`@daily`)."""

from dataclasses import dataclass, field
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apimachinery.fieldpath import quote
from apimachinery.scalars.duration import InvalidDuration, parse_duration
from apimachinery.scalars.intstr import parse_integer

_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES: Final = (
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
)
_EVERY: Final = "@every "


class InvalidSchedule(ValueError):
    """A schedule that cannot be parsed; the message is the one of Kubernetes."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    low: int
    high: int
    names: dict[str, int] = field(default_factory=dict)


_FIELDS: Final = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_WEEKDAYS)}),
)


def check_schedule(schedule: str) -> None:
    """Parse a schedule; raises InvalidSchedule."""
    text = _without_time_zone(schedule)
    if text.startswith("@"):
        _check_name(text)
        return
    fields = text.split()
    if len(fields) != len(_FIELDS):
        shown = " ".join(fields)
        raise InvalidSchedule(
            f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{shown}]"
        )
    for expression, bounds in zip(fields, _FIELDS, strict=True):
        for part in expression.split(","):
            if part:
                _check_range(part, bounds)


def is_time_zone(name: str) -> bool:
    """Return whether the database of the machine has a time zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _without_time_zone(schedule: str) -> str:
    if not schedule.startswith(("TZ=", "CRON_TZ=")):
        return schedule
    zone, space, rest = schedule.partition("=")[2].partition(" ")
    if not space:
        raise InvalidSchedule(
            "invalid schedule format: runtime error: slice bounds out of range [:-1]"
        )
    if zone not in ("", "Local") and not is_time_zone(zone):
        raise InvalidSchedule(f"provided bad location {zone}: unknown time zone {zone}")
    return rest.strip()


def _check_name(text: str) -> None:
    if text in _NAMES:
        return
    if not text.startswith(_EVERY):
        raise InvalidSchedule(f"unrecognized descriptor: {text}")
    try:
        parse_duration(text.removeprefix(_EVERY))
    except InvalidDuration as error:
        raise InvalidSchedule(f"failed to parse duration {text}: {error}") from None


def _check_range(text: str, bounds: _Bounds) -> None:
    interval, *steps = text.split("/")
    low, *highs = interval.split("-")
    if low in ("*", "?"):
        start, end = bounds.low, bounds.high
    else:
        start = _number(low, bounds)
        if len(highs) > 1:
            raise InvalidSchedule(f"too many hyphens: {text}")
        end = _number(highs[0], bounds) if highs else start
    if len(steps) > 1:
        raise InvalidSchedule(f"too many slashes: {text}")
    step = _parse_number(steps[0]) if steps else 1
    if steps and not highs:
        end = bounds.high
    _check_bounds(text, start, end, bounds)
    if step == 0:
        raise InvalidSchedule(f"step of range should be a positive number: {text}")


def _check_bounds(text: str, start: int, end: int, bounds: _Bounds) -> None:
    if start < bounds.low:
        rule = f"beginning of range ({start}) below minimum ({bounds.low})"
    elif end > bounds.high:
        rule = f"end of range ({end}) above maximum ({bounds.high})"
    elif start > end:
        rule = f"beginning of range ({start}) beyond end of range ({end})"
    else:
        return
    raise InvalidSchedule(f"{rule}: {text}")


def _number(text: str, bounds: _Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _parse_number(text) if named is None else named


def _parse_number(text: str) -> int:
    number = parse_integer(text)
    if number is None:
        digits = text[1:] if text[:1] in ("+", "-") else text
        reason = "value out of range" if digits.isdecimal() else "invalid syntax"
        raise InvalidSchedule(
            f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: {reason}"
        )
    if number < 0:
        raise InvalidSchedule(f"negative number ({number}) not allowed: {text}")
    return number
