"""The errors of Go's parsers of times and base64, found by reading a refused text again."""

import calendar
import re
from typing import Final

from apimachinery.fieldpath import quote

_SECONDS: Final = "2006-01-02T15:04:05Z07:00"
_MICROSECONDS: Final = "2006-01-02T15:04:05.000000Z07:00"
_ELEMENTS: Final = re.compile(r"2006|01|02|15|04|05|\.000000|Z07:00|[-:T]")
_RANGES: Final = {
    "01": ("month", 1, 12),
    "15": ("hour", 0, 23),
    "04": ("minute", 0, 59),
    "05": ("second", 0, 59),
}
_FRACTION: Final = re.compile(r"[.,][0-9]+")
_ZONE: Final = re.compile(r"Z|[+-]([0-9]{2}):([0-9]{2})")
_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_LINE_BREAKS: Final = b"\r\n"
_PADDING: Final = ord("=")


def time_error(text: str, *, micro: bool = False) -> str:
    """Return Go's error for a text that is not an RFC 3339 time; empty if it is one."""
    rest, numbers = text, {"2006": 0, "01": 1, "02": 1}
    layout = _MICROSECONDS if micro and not _takes_any_fraction(text) else _SECONDS
    for element in _ELEMENTS.findall(layout):
        length = _length(element, rest)
        if not length:
            shown = _MICROSECONDS if micro else _SECONDS
            expected = f"cannot parse {quote(rest[:64])} as {quote(element)}"
            return f"parsing time {quote(text[:64])} as {quote(shown)}: {expected}"
        if element in numbers:
            numbers[element] = int(rest[:length])
        if problem := _out_of_range(element, rest[:length]):
            return f"parsing time {quote(text[:64])}: {problem} out of range"
        rest = rest[length:]
        if element == "05" and layout == _SECONDS:
            rest = rest[len(fraction[0]) :] if (fraction := _FRACTION.match(rest)) else rest
    if rest:
        return f"parsing time {quote(text[:64])}: extra text: {quote(rest[:64])}"
    if not 1 <= numbers["02"] <= _days(numbers["2006"], numbers["01"]):
        return f"parsing time {quote(text[:64])}: day out of range"
    return ""


def _takes_any_fraction(text: str) -> bool:
    """Return whether a time of microseconds is one of seconds, which this server accepts."""
    return not time_error(text)


def _length(element: str, rest: str) -> int:
    """Return how many characters an element of the layout takes, 0 if they do not fit."""
    if element == "Z07:00":
        zone = _ZONE.match(rest)
        return zone.end() if zone else 0
    pattern = re.sub("[0-9]", "[0-9]", re.escape(element))
    found = re.match(pattern, rest, re.ASCII)
    return found.end() if found else 0


def _out_of_range(element: str, text: str) -> str:
    if element in _RANGES:
        name, lowest, highest = _RANGES[element]
        return "" if lowest <= int(text) <= highest else name
    zone = _ZONE.fullmatch(text) if element == "Z07:00" else None
    if zone is None or zone[1] is None:
        return ""
    if int(zone[1]) > 24:
        return "time zone offset hour"
    return "time zone offset minute" if int(zone[2]) > 60 else ""


def _days(year: int, month: int) -> int:
    return calendar.monthrange(year or 4, month)[1]


def base64_error(text: str) -> str:
    """Return Go's error for a text that is not padded base64; empty if it is."""
    position = _base64_problem(text.encode("utf-8", "surrogatepass"))
    return f"illegal base64 data at input byte {position}" if position is not None else ""


def _base64_problem(data: bytes) -> int | None:
    position = 0
    while position < len(data):
        digits = 0
        while digits < 4:
            if position == len(data):
                return position - digits if digits else None
            byte = data[position]
            position += 1
            if byte in _BASE64:
                digits += 1
            elif byte == _PADDING:
                return _padding_problem(data, position, digits)
            elif byte not in _LINE_BREAKS:
                return position - 1
    return None


def _padding_problem(data: bytes, position: int, digits: int) -> int | None:
    """Check what follows the first padding character, which *position* is after."""
    if digits < 2:
        return position - 1
    if digits == 2:
        position = _after_line_breaks(data, position)
        if position == len(data):
            return position
        if data[position] != _PADDING:
            return position - 1
        position += 1
    position = _after_line_breaks(data, position)
    return position if position < len(data) else None


def _after_line_breaks(data: bytes, position: int) -> int:
    while position < len(data) and data[position] in _LINE_BREAKS:
        position += 1
    return position
