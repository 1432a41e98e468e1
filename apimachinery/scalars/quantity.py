"""Resource quantities: exact numbers with a suffix, such as `500m`, `1536Mi` and `12e6`.

A quantity keeps the family of its suffix (its format) and is printed in canonical form: no
fraction, the largest suffix that loses no precision, no plus sign. Amounts are stored as a whole
number of nano units, so arithmetic and comparison are exact; two quantities are equal if their
amounts are.

Parsing follows Kubernetes: digits finer than nano are rounded away from zero, and an amount with a
binary suffix is capped at 2^63-1. Unlike in Kubernetes, amounts are limited to 1e200, because a
short exponent could otherwise allocate gigabytes of digits.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias, final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from apimachinery.fieldpath import quote

MAX_LENGTH: Final = 256
MAX_EXPONENT: Final = 256

_NANO: Final = 10**9
_LARGEST: Final = 10**200 * _NANO
_LARGEST_BINARY: Final = (2**63 - 1) * _NANO
# Longer texts are rare, and caching them would let a client fill the cache with large strings.
_CACHED_LENGTH: Final = 32

RULE_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_RULE_NUMBER: Final = "unable to parse numeric part of quantity"
_RULE_SUFFIX: Final = "unable to parse quantity's suffix"
_RULE_LENGTH: Final = f"quantities must be no more than {MAX_LENGTH} characters"
_RULE_EXPONENT: Final = f"exponents must be between -{MAX_EXPONENT} and {MAX_EXPONENT}"
_RULE_SIZE: Final = "quantities must be between -1e200 and 1e200"
_RULE_TYPE: Final = "quantities must be a string or a number"

_TEXT: Final = re.compile(
    r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[-+]?[0-9]*+)", re.ASCII
)


class InvalidQuantity(ValueError):
    """A malformed quantity; *rule* is the rule it breaks, in Kubernetes' words."""

    def __init__(self, text: str, rule: str) -> None:
        self.text = text if len(text) <= MAX_LENGTH else f"{text[:32]}..."
        self.rule = rule
        super().__init__(f"invalid quantity {quote(self.text)}: {rule}")


class Format(StrEnum):
    """The family of suffixes that a quantity is printed with."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


Number: TypeAlias = int | float | Decimal

_DECIMAL: Final[Mapping[str, int]] = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY: Final[Mapping[str, int]] = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIXES: Final = ("", *_BINARY)


@final
class Quantity:
    """An exact amount and its format; immutable.

    Created from a string or a number; a float has the value of its shortest representation. A
    quantity is always true, because zero is not the same as absent: check `is_zero`. Raises
    InvalidQuantity.
    """

    __slots__ = ("_format", "_nano", "_text")
    _nano: int
    _format: Format
    _text: str

    def __new__(
        cls, value: "str | Number | Quantity" = 0, form: Format | None = None
    ) -> "Quantity":
        quantity = value if isinstance(value, Quantity) else parse_quantity(_as_text(value))
        if form is None or form is quantity._format:
            return quantity
        return _quantity(quantity._nano, form)

    @classmethod
    def from_milli(cls, value: int, form: Format = Format.DECIMAL_SI) -> "Quantity":
        """Return the quantity of *value* thousandths: 1500 is `1500m`."""
        return _quantity(value * 10**6, form)

    @property
    def format(self) -> Format:
        return self._format

    @property
    def is_zero(self) -> bool:
        return self._nano == 0

    @property
    def sign(self) -> int:
        return (self._nano > 0) - (self._nano < 0)

    def value(self) -> int:
        """Return the amount, rounded away from zero to a whole number."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """Return the amount in thousandths, rounded away from zero."""
        return self.scaled_value(-3)

    def scaled_value(self, scale: int) -> int:
        """Return the amount in units of 10^*scale*, rounded away from zero."""
        return _scaled(self._nano, -9 - scale)

    def as_decimal(self) -> Decimal:
        """Return the exact amount, independently of the precision of the decimal context."""
        digits, exponent = self._nano, -9
        while exponent < 0 and digits % 10 == 0:
            digits, exponent = digits // 10, exponent + 1
        return Decimal(f"{digits}E{exponent}")

    def __str__(self) -> str:
        try:
            return self._text
        except AttributeError:
            text = _canonical(self._nano, self._format)
            _set(self, "_text", text)
            return text

    def __repr__(self) -> str:
        return f"Quantity('{self}')"

    def __int__(self) -> int:
        return self.value()

    def __hash__(self) -> int:
        return hash(self._nano)

    def __eq__(self, other: object) -> bool:
        return self._nano == other._nano if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self._nano < other._nano if isinstance(other, Quantity) else NotImplemented

    def __le__(self, other: "Quantity") -> bool:
        return self._nano <= other._nano if isinstance(other, Quantity) else NotImplemented

    def __gt__(self, other: "Quantity") -> bool:
        return self._nano > other._nano if isinstance(other, Quantity) else NotImplemented

    def __ge__(self, other: "Quantity") -> bool:
        return self._nano >= other._nano if isinstance(other, Quantity) else NotImplemented

    def __add__(self, other: "Quantity") -> "Quantity":
        if not isinstance(other, Quantity):
            return NotImplemented
        return _quantity(self._nano + other._nano, self._format_with(other))

    def __sub__(self, other: "Quantity") -> "Quantity":
        if not isinstance(other, Quantity):
            return NotImplemented
        return _quantity(self._nano - other._nano, self._format_with(other))

    def __mul__(self, factor: int) -> "Quantity":
        if not isinstance(factor, int):
            return NotImplemented
        return _quantity(self._nano * factor, self._format)

    __rmul__ = __mul__

    def __neg__(self) -> "Quantity":
        return _quantity(-self._nano, self._format)

    def __abs__(self) -> "Quantity":
        return self if self._nano >= 0 else -self

    def _format_with(self, other: "Quantity") -> Format:
        # A sum usually starts from a zero whose format is only a default.
        return self._format if self._nano else other._format

    def __copy__(self) -> "Quantity":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Quantity":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _quantity, (self._nano, self._format)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"quantities cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"quantities cannot be changed: {name}")

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls.__str__, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, __: GetJsonSchemaHandler) -> Any:
        return {"type": "string"}


_set = object.__setattr__


def parse_quantity(text: str) -> Quantity:
    """Parse a quantity without surrounding whitespace; raises InvalidQuantity."""
    return _parse_cached(text) if len(text) <= _CACHED_LENGTH else _parse(text)


def _quantity(nano: int, form: Format) -> Quantity:
    if not -_LARGEST <= nano <= _LARGEST:
        raise InvalidQuantity("result", _RULE_SIZE)
    quantity = object.__new__(Quantity)
    _set(quantity, "_nano", nano)
    _set(quantity, "_format", form)
    return quantity


def _validate(value: Any) -> Quantity:
    if type(value) is Quantity:
        return value
    try:
        if isinstance(value, str):
            # Kubernetes ignores whitespace around a quantity in a document, and only there.
            return parse_quantity(value.strip())
        # Kubernetes decodes a null in a document as zero.
        return Quantity(0 if value is None else value)
    except InvalidQuantity as error:
        raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from None


def _as_text(value: str | Number) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InvalidQuantity(type(value).__name__, _RULE_TYPE)
    # Python refuses to format very large integers, and is slow for large ones.
    if isinstance(value, int) and value.bit_length() > 4 * MAX_LENGTH:
        raise InvalidQuantity("an integer", _RULE_SIZE)
    return str(value)


def _parse(text: str) -> Quantity:
    if len(text) > MAX_LENGTH:
        raise InvalidQuantity(text, _RULE_LENGTH)
    match = _TEXT.fullmatch(text)
    if match is None:
        raise InvalidQuantity(text, RULE_FORMAT)
    sign, whole, fraction, suffix = match.groups("")
    if not whole and not fraction:
        raise InvalidQuantity(text, _RULE_NUMBER if "." in text else RULE_FORMAT)
    digits, scale = int(whole + fraction), 9 - len(fraction)
    if suffix in _BINARY:
        nano, form = _binary_amount(_scaled(digits << _BINARY[suffix], scale))
    else:
        exponent, form = _decimal_suffix(text, suffix)
        nano = _scaled(digits, scale + exponent)
    if nano > _LARGEST:
        raise InvalidQuantity(text, _RULE_SIZE)
    return _quantity(-nano if sign == "-" else nano, form)


_parse_cached = lru_cache(maxsize=2048)(_parse)


def _binary_amount(nano: int) -> tuple[int, Format]:
    # An amount below one has no binary suffix.
    form = Format.DECIMAL_SI if 0 < nano < _NANO else Format.BINARY_SI
    return min(nano, _LARGEST_BINARY), form


def _decimal_suffix(text: str, suffix: str) -> tuple[int, Format]:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], Format.DECIMAL_SI
    try:
        exponent = int(suffix[1:])
    except ValueError:
        raise InvalidQuantity(text, _RULE_SUFFIX) from None
    if suffix[0] not in "eE":
        raise InvalidQuantity(text, _RULE_SUFFIX)
    if abs(exponent) > MAX_EXPONENT:
        raise InvalidQuantity(text, _RULE_EXPONENT)
    return exponent, Format.DECIMAL_EXPONENT


def _scaled(digits: int, scale: int) -> int:
    if scale >= 0:
        return digits * int(10**scale)
    return _divide_away(digits, int(10**-scale))


def _divide_away(number: int, divisor: int) -> int:
    return -(-number // divisor) if number >= 0 else number // divisor


def _canonical(nano: int, form: Format) -> str:
    if nano == 0:
        return "0"
    if form is Format.BINARY_SI and _is_exact_in_binary(nano):
        return _canonical_binary(nano // _NANO)
    digits, exponent = nano, -9
    while digits % 1000 == 0:
        digits, exponent = digits // 1000, exponent + 3
    if form is Format.DECIMAL_EXPONENT or exponent not in _DECIMAL_SUFFIXES:
        return f"{digits}e{exponent}" if exponent else str(digits)
    return f"{digits}{_DECIMAL_SUFFIXES[exponent]}"


def _is_exact_in_binary(nano: int) -> bool:
    # A larger amount would be capped when the text is parsed again.
    return nano % _NANO == 0 and 1024 * _NANO <= abs(nano) <= _LARGEST_BINARY


def _canonical_binary(value: int) -> str:
    steps = 0
    while value % 1024 == 0:
        value, steps = value // 1024, steps + 1
    return f"{value}{_BINARY_SUFFIXES[steps]}"
