"""Text format: `"%s has %d".format([...])`."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from apimachinery.cel.checked_expression import Unsigned
from apimachinery.cel.interpreter.conversions import text_of
from apimachinery.cel.interpreter.overloads import traversal
from apimachinery.cel.interpreter.values import (
    CELError,
    Duration,
    Timestamp,
    type_name,
)
from apimachinery.fieldpath import quote

_CLAUSE: Final = re.compile(r"%(?:(%)|(?:\.(\d*))?(.?))", re.DOTALL)
_MAX_PRECISION: Final = 1000
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_cost(text: str, arguments: list[Any]) -> int:
    """Return the cost of a format: that of its text, and of the texts of its arguments."""
    return traversal(len(text)) + traversal(sum(map(_weight, arguments)))


def _weight(value: Any) -> int:
    """Return about how long the text of a value is."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list):
        return 2 + sum(map(_weight, value)) + 10 * len(value)
    if isinstance(value, dict):
        return 2 + sum(_weight(key) + _weight(item) + 20 for key, item in value.items())
    return 1


def format_text(text: str, arguments: list[Any]) -> str:
    """Return the text with its clauses replaced by the arguments; raise CELError."""
    position = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal position
        if match[1]:
            return "%"
        clause = match[3]
        if not clause:
            raise CELError("unexpected end of string")
        if position >= len(arguments):
            raise CELError(f"index {position} out of range")
        precision = None if match[2] is None else int(match[2] or 0)
        if precision is not None and precision > _MAX_PRECISION:
            raise CELError(
                f"precision {precision} exceeds maximum allowed precision {_MAX_PRECISION}"
            )
        convert = _CLAUSES.get(clause)
        if convert is None:
            raise CELError(
                f'could not parse formatting clause: unrecognized formatting clause "{clause}"'
            )
        value = arguments[position]
        position += 1
        return convert(value, precision)

    return _CLAUSE.sub(replace, text)


def display(value: Any) -> str:
    """Return the text of a value of any type, as `%s` shows it."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, dict):
        shown = sorted((_literal(key), _literal(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in shown) + "}"
    try:
        return text_of(value)
    except CELError:
        raise CELError(
            "error during formatting: string clause can only be used on strings, bools, bytes,"
            " ints, doubles, maps, lists, types, durations, and timestamps, was given"
            f" {type_name(value)}"
        ) from None


def _literal(value: Any) -> str:
    """Return a value within a list or map, about as an expression writes it."""
    match value:
        case str():
            return quote(value)
        case bytes():
            return f"b{quote(display(value))}"
        case float():
            return f"{value:.6f}" if math.isfinite(value) else quote(display(value))
        case Timestamp():
            return f"timestamp({quote(display(value))})"
        case Duration():
            return f"duration({quote(display(value))})"
    try:
        return display(value)
    except CELError:
        raise CELError(f"no formatting function for {type_name(value)}") from None


def _decimal(value: Any, precision: int | None) -> str:
    if type(value) in (int, Unsigned):
        return str(int(value))
    raise _wrong("decimal clause can only be used on integers", value)


def _fixed(value: Any, precision: int | None) -> str:
    number = _double(value, "fixed-point")
    if isinstance(number, str):
        return number
    return f"{number:,.{6 if precision is None else precision}f}"


def _scientific(value: Any, precision: int | None) -> str:
    number = _double(value, "scientific")
    if isinstance(number, str):
        return number
    digits, _, exponent = f"{number:.6e}".partition("e")
    return f"{digits}\u00d710{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}"


def _double(value: Any, clause: str) -> float | str:
    if value in ("NaN", "Infinity", "-Infinity"):
        return str(value)
    if type(value) is not float:
        raise _wrong(f"{clause} clause can only be used on doubles", value)
    return float(value)


def _binary(value: Any, precision: int | None) -> str:
    if isinstance(value, int):
        return f"{int(value):b}"
    raise _wrong("only integers and bools can be formatted as binary", value)


def _octal(value: Any, precision: int | None) -> str:
    if type(value) in (int, Unsigned):
        return f"{int(value):o}"
    raise _wrong("octal clause can only be used on integers", value)


def _hexadecimal(upper: bool) -> "Clause":
    def convert(value: Any, precision: int | None) -> str:
        if type(value) in (int, Unsigned):
            text = f"{int(value):x}"
        elif isinstance(value, str | bytes):
            text = (value.encode() if isinstance(value, str) else value).hex()
        else:
            raise _wrong("only integers, byte buffers, and strings can be formatted as hex", value)
        return text.upper() if upper else text

    return convert


def _wrong(rule: str, value: Any) -> CELError:
    return CELError(f"error during formatting: {rule}, was given {type_name(value)}")


Clause = Callable[[Any, int | None], str]
_CLAUSES: Final[Mapping[str, Clause]] = {
    "s": lambda value, precision: display(value),
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal(upper=False),
    "X": _hexadecimal(upper=True),
}
