"""Values: the types of CEL as Python values, their equality and order.

Null, booleans, numbers, strings, bytes, lists and maps are Python's, so a JSON document is a value
as it is. `uint` is `Unsigned`; everything else is a class of this module or an `Opaque`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from apimachinery.cel.checked_expression import Unsigned

MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
MAX_UINT: Final = 2**64 - 1

OVERLOAD: Final = "no such overload"

_COMPARED_PER_COST: Final = 8
"""Nested values whose comparison takes about as long as an operation."""


class CELError(Exception):
    """The error value of an expression; the message is that of Kubernetes."""


class Opaque:
    """A value with methods but without fields."""

    type_name: ClassVar[str]


class FieldValue(Opaque):
    """A value with fields: one that an expression constructs, or the variables of a policy."""

    def find(self, name: str) -> "Optional":
        """Return the value of a field, if it is set; raise CELError if computing it fails."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: `type(1) == int`."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """An optional value; empty if it has none."""

    content: Any = None
    has_value: bool = False


EMPTY: Final = Optional()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, in nanoseconds since 1970."""

    nanoseconds: int
    offset: int = field(default=0, compare=False)
    """The minutes that its text is ahead of UTC."""


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanoseconds: int


_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Unsigned: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    TypeValue: "type",
    Optional: "optional_type",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
}
TYPE_NAMES: Final = frozenset(_NAMES.values())
_NUMBERS: Final = frozenset((int, Unsigned, float))
_ORDERED: Final = frozenset((bool, str, bytes, Timestamp, Duration))


def type_name(value: Any) -> str:
    """Return the name of a value's type, as expressions write it."""
    name = _NAMES.get(type(value))
    return value.type_name if name is None else name


def size(value: Any) -> int:
    """Return the size of a value as costs are computed with: 1 if it has none."""
    if type(value) in _SIZED:
        return len(value)
    if type(value) is Optional and value.has_value:
        return size(value.content)
    return 1


_SIZED: Final = frozenset((str, bytes, list, dict))


class ValueComparison:
    """Compares values, and counts the nested values that it looks at."""

    __slots__ = ("compared",)

    def __init__(self) -> None:
        self.compared = 0

    @property
    def cost(self) -> int:
        """The cost in time, beside that of comparing values of one level."""
        return self.compared // _COMPARED_PER_COST

    def equal(self, left: Any, right: Any) -> bool:
        """Return whether two values are equal; values of different types are not."""
        kind = type(left)
        if kind is type(right):
            if kind is list:
                return len(left) == len(right) and self._equal_items(left, right)
            if kind is dict:
                return len(left) == len(right) and self._equal_entries(left, right)
            if kind is Optional:
                return self._equal_optionals(left, right)
            return bool(left == right)
        if kind in _NUMBERS and type(right) in _NUMBERS:
            return bool(left == right)
        return False

    def _equal_items(self, left: list[Any], right: list[Any]) -> bool:
        if left is right:
            return True
        for one, other in zip(left, right, strict=True):
            self.compared += 1
            if not self.equal(one, other):
                return False
        return True

    def _equal_entries(self, left: dict[Any, Any], right: dict[Any, Any]) -> bool:
        if left is right:
            return True
        for key, one in left.items():
            self.compared += 1
            if key not in right or not self.equal(one, right[key]):
                return False
        return True

    def _equal_optionals(self, left: Optional, right: Optional) -> bool:
        if left.has_value != right.has_value:
            return False
        return not left.has_value or self.equal(left.content, right.content)


def equal(left: Any, right: Any) -> bool:
    """Return whether two small values are equal."""
    return ValueComparison().equal(left, right)


def less(left: Any, right: Any) -> bool:
    """Return whether a value comes before another; raise CELError if they have no order."""
    kind = type(left)
    if kind is type(right) and (kind in _ORDERED or kind in _NUMBERS):
        if kind is float:
            _check_number(left, right)
        return bool(left < right)
    if kind in _NUMBERS and type(right) in _NUMBERS:
        _check_number(left, right)
        return bool(left < right)
    raise CELError(OVERLOAD)


def _check_number(left: float, right: float) -> None:
    if left != left or right != right:
        raise CELError("NaN values cannot be ordered")


def checked_int(number: int) -> int:
    """Return an integer; raise CELError if it has more than 64 bits."""
    if MIN_INT <= number <= MAX_INT:
        return number
    raise CELError("integer overflow")


def checked_uint(number: int) -> Unsigned:
    if 0 <= number <= MAX_UINT:
        return Unsigned(number)
    raise CELError("unsigned integer overflow")


Function = Callable[..., Any]
