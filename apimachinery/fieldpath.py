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
from heapq import nsmallest
from itertools import takewhile
from typing import Any, Final, TypeAlias

from pydantic_core import PydanticSerializationError, to_jsonable_python

from apimachinery.scalars.duration import format_duration

IMMUTABLE: Final = "field is immutable"


MAX_SHOWN: Final = 4096
"""The maximum number of characters of one value, or of one step of a path, in a message."""


class Path:
    """The path from the root of an object to one of its fields; immutable.

    `Path("spec", "containers").index(0).child("name")` prints `spec.containers[0].name`. A path
    refers to its parent: copying its text for every item of a list would take quadratic time.
    """

    __slots__ = ("_parent", "_step")
    _parent: Path | None
    _step: str

    def __init__(self, *names: str) -> None:
        path = _ROOT.child(*names[:-1]) if len(names) > 1 else _ROOT
        self._parent, self._step = (path, _name_step(names[-1])) if names else (None, "")

    def child(self, *names: str) -> Path:
        """Return the path of a field below this one."""
        path = self
        for name in names:
            parent, path = path, Path.__new__(Path)
            path._parent = parent
            path._step = f".{name}" if 0 < len(name) <= MAX_SHOWN else _name_step(name)
        return path

    def member(self, name: str) -> Path:
        """Return the path of a member of this JSON object; its name may be empty."""
        return _path(self, f".{shorten(name)}")

    def index(self, position: int) -> Path:
        """Return the path of an item of this list."""
        return _path(self, f"[{position}]")

    def key(self, key: str) -> Path:
        """Return the path of an entry of this map."""
        return _path(self, f"[{shorten(key)}]")

    @property
    def empty(self) -> bool:
        return self._parent is None

    def __str__(self) -> str:
        steps = []
        path: Path | None = self
        while path is not None:
            steps.append(path._step)
            path = path._parent
        return "".join(reversed(steps)).removeprefix(".") if self._parent else "<nil>"

    def __repr__(self) -> str:
        return f"<Path {self}>"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Path) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


def _name_step(name: str) -> str:
    # As in Kubernetes, an element with an empty name is a subscript.
    return f".{shorten(name)}" if name else "[]"


def _path(parent: Path, step: str) -> Path:
    path = Path.__new__(Path)
    path._parent, path._step = parent, step
    return path


_ROOT: Final = Path.__new__(Path)
_ROOT._parent, _ROOT._step = None, ""


def shorten(text: str, limit: int = MAX_SHOWN) -> str:
    """Cut *text* to *limit* characters, with dots for the rest."""
    return text if len(text) <= limit else f"{text[:limit]}..."


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


class GoStruct(dict[str, Any]):
    """A bad value that Kubernetes shows as a struct: fields in order, unset ones as null."""


class Omitted(Enum):
    """Takes the place of a bad value that the message must not show."""

    OMITTED = "omitted"


OMITTED: Final = Omitted.OMITTED


class Unset(Enum):
    """Takes the place of an empty list where Kubernetes' message shows `null`."""

    NULL = "null"


NULL: Final = Unset.NULL


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
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return '"' + text + '"'
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
            return "null"
        case Unset():
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _format_float(value)
        case str():
            return quote(shorten(value))
        case int():
            return str(value) if value.bit_length() < 1024 else "<int>"
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
            _Excerpt().of(value), by_alias=True, exclude_none=True, fallback=str
        )
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        # An error message must not fail because of the value it reports.
        return f"<{type(value).__name__}>"
    return shorten(text).translate(_HTML_ESCAPES)


class _Excerpt:
    """Copies the beginning of a value, with sorted maps and numbers as by Go's JSON encoder."""

    def __init__(self) -> None:
        self._left = MAX_SHOWN

    def of(self, value: Any) -> Any:
        self._left -= 1
        if isinstance(value, GoStruct):
            return {name: self.of(item) for name, item in value.items() if self._left > 0}
        if isinstance(value, Mapping):
            keys = nsmallest(max(self._left, 1), value, key=str)
            return {shorten(str(key)): self.of(value[key]) for key in keys if self._left > 0}
        if isinstance(value, list | tuple):
            return [self.of(item) for item in takewhile(self._has_room, value)]
        if isinstance(value, str):
            self._left -= len(value)
            return shorten(value)
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
            return int(value)
        if isinstance(value, timedelta):
            return format_duration(value)
        if not isinstance(value, int | float | None):
            self._left -= 100  # about the size of a Model
        return value

    def _has_room(self, _: Any) -> bool:
        return self._left > 0
