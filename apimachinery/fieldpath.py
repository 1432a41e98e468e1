"""Field paths and field errors: the problems of an object, each with the path of its field.

Validation reports all errors at once, each with its field, so a validator is a generator of
`FieldError` values and never raises. The printed form of an error and its reason are part of the
wire contract: they become the message and the causes of the `Invalid` status.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any, Final, TypeAlias

from pydantic_core import PydanticSerializationError, to_jsonable_python

from apimachinery.scalars.duration import format_duration

IMMUTABLE: Final = "field is immutable"


class Path:
    """The path from the root of an object to one of its fields; immutable.

    `Path("spec", "containers").index(0).child("name")` prints `spec.containers[0].name`.
    """

    __slots__ = ("_text",)
    _text: str | None

    def __init__(self, *names: str) -> None:
        self._text = None
        for name in names:
            self._text = self._join(name)

    def child(self, *names: str) -> Path:
        """Return the path of a field below this one."""
        path = self
        for name in names:
            path = _path(path._join(name))
        return path

    def index(self, position: int) -> Path:
        """Return the path of an item of this list."""
        return self.key(str(position))

    def key(self, key: str) -> Path:
        """Return the path of an entry of this map."""
        return _path(f"{self._text or ''}[{key}]")

    @property
    def empty(self) -> bool:
        return self._text is None

    def _join(self, name: str) -> str:
        # As in Kubernetes, an element with an empty name is a subscript.
        if not name:
            return f"{self._text or ''}[]"
        return name if self._text is None else f"{self._text}.{name}"

    def __str__(self) -> str:
        return "<nil>" if self._text is None else self._text

    def __repr__(self) -> str:
        return f"<Path {self}>"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Path) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)


def _path(text: str) -> Path:
    path = Path()
    path._text = text
    return path


class ErrorType(StrEnum):
    """The type of a field error; the value is the `reason` of a cause in a Status."""

    NOT_FOUND = "FieldValueNotFound"
    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_SHORT = "FieldValueTooShort"
    TOO_MANY = "FieldValueTooMany"
    TOO_FEW = "FieldValueTooFew"
    INTERNAL = "InternalError"
    TYPE_INVALID = "FieldValueTypeInvalid"

    @property
    def words(self) -> str:
        """The type as error messages spell it."""
        return _WORDS[self]


_WORDS: Final = {
    ErrorType.NOT_FOUND: "Not found",
    ErrorType.REQUIRED: "Required value",
    ErrorType.DUPLICATE: "Duplicate value",
    ErrorType.INVALID: "Invalid value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.FORBIDDEN: "Forbidden",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_SHORT: "Too short",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.TOO_FEW: "Too few",
    ErrorType.INTERNAL: "Internal error",
    ErrorType.TYPE_INVALID: "Invalid value",
}

_WITHOUT_VALUE: Final = frozenset(
    {
        ErrorType.REQUIRED,
        ErrorType.FORBIDDEN,
        ErrorType.TOO_LONG,
        ErrorType.TOO_SHORT,
        ErrorType.INTERNAL,
    }
)


class Omitted(Enum):
    """Takes the place of a bad value that the message must not show."""

    OMITTED = "omitted"


OMITTED: Final = Omitted.OMITTED


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error in one field; `str(error)` is the message that Kubernetes prints."""

    type: ErrorType
    field: str
    bad_value: Any = ""
    detail: str = ""

    @property
    def reason(self) -> str:
        """The `reason` of the cause in a Status."""
        return self.type.value

    @property
    def body(self) -> str:
        """The message without the field: the `message` of the cause in a Status."""
        text = self.type.words
        if self.type not in _WITHOUT_VALUE and self.bad_value is not OMITTED:
            text = f"{text}: {_format_value(self.bad_value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


FieldErrors: TypeAlias = Iterator[FieldError]
"""The return type of a validator, a generator that yields every error."""


def required(path: Path, detail: str = "") -> FieldError:
    """Report a missing value: empty, null or absent."""
    return FieldError(ErrorType.REQUIRED, str(path), "", detail)


def invalid(path: Path, value: Any, detail: str) -> FieldError:
    """Report a malformed value."""
    return FieldError(ErrorType.INVALID, str(path), value, detail)


def immutable(path: Path, value: Any) -> FieldError:
    """Report a change of a field that cannot be changed."""
    return invalid(path, value, IMMUTABLE)


def type_invalid(path: Path, value: Any, detail: str) -> FieldError:
    """Report a value whose type is not the one in the schema."""
    return FieldError(ErrorType.TYPE_INVALID, str(path), value, detail)


def not_supported(path: Path, value: Any, supported: Iterable[str] = ()) -> FieldError:
    """Report a value outside an enumeration; *supported* is listed in the order given."""
    choices = ", ".join(quote(str(choice)) for choice in supported)
    detail = f"supported values: {choices}" if choices else ""
    return FieldError(ErrorType.NOT_SUPPORTED, str(path), value, detail)


def not_found(path: Path, value: Any) -> FieldError:
    """Report a reference to an object that does not exist."""
    return FieldError(ErrorType.NOT_FOUND, str(path), value)


def duplicate(path: Path, value: Any) -> FieldError:
    """Report a repeated value in a list of unique values."""
    return FieldError(ErrorType.DUPLICATE, str(path), value)


def forbidden(path: Path, detail: str) -> FieldError:
    """Report a well-formed value that other fields, or the state of the object, do not allow."""
    return FieldError(ErrorType.FORBIDDEN, str(path), "", detail)


def too_long(path: Path, max_bytes: int) -> FieldError:
    """Report a string of too many bytes without quoting it; a negative limit is not mentioned."""
    return _too_long(path, max_bytes, "byte")


def too_long_characters(path: Path, max_characters: int) -> FieldError:
    """Report a string of too many characters without quoting it."""
    return _too_long(path, max_characters, "character")


def too_short(path: Path, min_characters: int) -> FieldError:
    """Report a string of too few characters without quoting it."""
    detail = "value is too short"
    if min_characters >= 0:
        detail = f"must be at least {_count(min_characters, 'character')}"
    return FieldError(ErrorType.TOO_SHORT, str(path), OMITTED, detail)


def too_many(path: Path, actual: int, maximum: int) -> FieldError:
    """Report a list of too many items; a negative number is not mentioned."""
    detail = "has too many items"
    if maximum >= 0:
        detail = f"must have at most {_count(maximum, 'item')}"
    return FieldError(ErrorType.TOO_MANY, str(path), actual if actual >= 0 else OMITTED, detail)


def too_few(path: Path, actual: int, minimum: int) -> FieldError:
    """Report a list of too few items; a negative number is not mentioned."""
    detail = "has too few items"
    if minimum >= 0:
        detail = f"must have at least {_count(minimum, 'item')}"
    return FieldError(ErrorType.TOO_FEW, str(path), actual if actual >= 0 else OMITTED, detail)


def internal_error(path: Path, error: Exception) -> FieldError:
    """Report that the validation of a field failed because of the server, not of the client."""
    return FieldError(ErrorType.INTERNAL, str(path), OMITTED, str(error))


def to_aggregate_message(errors: Iterable[FieldError]) -> str:
    """Join errors into one message without duplicates."""
    messages = list(dict.fromkeys(map(str, errors)))
    if len(messages) == 1:
        return messages[0]
    return f"[{', '.join(messages)}]" if messages else ""


def quote(text: str) -> str:
    """Quote *text* like Go's `%q`, which Kubernetes' messages use."""
    return f'"{"".join(map(_quote_character, text))}"'


def printable(text: str) -> str:
    """Escape lone surrogates in *text*, so that it can be encoded as UTF-8 in a response."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _too_long(path: Path, maximum: int, unit: str) -> FieldError:
    detail = "value is too long"
    if maximum >= 0:
        detail = f"may not be more than {_count(maximum, unit)}"
    return FieldError(ErrorType.TOO_LONG, str(path), OMITTED, detail)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _format_value(value: Any) -> str:
    match value:
        case None:
            # Kubernetes prints the word in quotes, as if it were a string.
            return '"null"'
        case bool():
            return "true" if value else "false"
        case float():
            return _format_float(value)
        case str():
            return quote(value)
        case _:
            return _format_json(value)


def _format_float(value: float) -> str:
    """Format like Go's `%v`: the shortest digits, with an exponent from 1e6 and below 1e-4."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:+}".replace("inf", "Inf")
    shortest = Decimal(repr(value)).normalize()
    exponent = shortest.adjusted()
    if value == 0 or -4 <= exponent < 6:
        return f"{shortest:f}"
    mantissa, _, _ = f"{shortest:e}".partition("e")
    return f"{mantissa}e{exponent:+03d}"


_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def _quote_character(character: str) -> str:
    if escape := _ESCAPES.get(character):
        return escape
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_HTML_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def _format_json(value: Any) -> str:
    try:
        plain = to_jsonable_python(
            _order_like_go(value), by_alias=True, exclude_none=True, fallback=str
        )
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        # An error message must not fail because of the value it reports.
        return f"<{type(value).__name__}>"
    return text.translate(_HTML_ESCAPES)


def _order_like_go(value: Any) -> Any:
    """Sort maps, and convert floats and durations, like Go's JSON encoder.

    The fields of a Model keep their order.
    """
    if isinstance(value, Mapping):
        return {str(key): _order_like_go(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_order_like_go(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, timedelta):
        return format_duration(value)
    return value
