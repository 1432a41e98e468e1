"""Operators: arithmetic, comparison, selection and indexing."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from apimachinery.cel.checked_expression import Unsigned
from apimachinery.cel.interpreter.evaluation import Evaluation
from apimachinery.cel.interpreter.overloads import traversal
from apimachinery.cel.interpreter.values import (
    EMPTY,
    OVERLOAD,
    CELError,
    Duration,
    FieldValue,
    Optional,
    Timestamp,
    ValueComparison,
    checked_int,
    checked_uint,
    less,
    size,
    type_name,
)

_COPIED_PER_COST: Final = 50
"""Items of a list that are copied in the time of an operation."""
_MAX_TIME: Final = 253402300800 * 10**9
_MIN_TIME: Final = -62135596800 * 10**9
_MAX_NANOSECONDS: Final = 2**63


def select(value: Any, name: str) -> Any:
    """Return a field of a value; raise CELError if it has none of this name."""
    if type(value) is dict:
        if name in value:
            return value[name]
        raise CELError(f"no such key: {name}")
    if type(value) is Optional:
        return find(value.content, name) if value.has_value else EMPTY
    if isinstance(value, FieldValue):
        found = value.find(name)
        if found.has_value:
            return found.content
    if type(value) is list:
        raise CELError("unsupported index type 'string' in list")
    raise CELError(f"no such key: {name}")


def has_field(value: Any, name: str) -> bool:
    """Return whether a value has a field (`has(a.b)`)."""
    if type(value) is dict:
        return name in value
    if type(value) is Optional:
        return value.has_value and has_field(value.content, name)
    if isinstance(value, FieldValue):
        return value.find(name).has_value
    return False


def find(value: Any, key: Any) -> Optional:
    """Return an item or field as optional value (`a.?b`, `a[?b]`)."""
    if type(value) is dict:
        return Optional(value[key], True) if _is_key(key) and key in value else EMPTY
    if type(value) is list:
        position = _position(key)
        return Optional(value[position], True) if 0 <= position < len(value) else EMPTY
    if isinstance(value, FieldValue) and isinstance(key, str):
        return value.find(key)
    if type(value) is Optional:
        return find(value.content, key) if value.has_value else EMPTY
    return EMPTY


def _index(evaluation: Evaluation, value: Any, key: Any) -> Any:
    evaluation.cost += 1
    if type(value) is Optional:
        return find(value, key)
    if type(value) is list:
        position = _position(key)
        if 0 <= position < len(value):
            return value[position]
        raise CELError(f"index out of bounds: {position}")
    if type(value) is dict:
        if _is_key(key) and key in value:
            return value[key]
        raise CELError(f"no such key: {_shown(key)}")
    if isinstance(value, FieldValue) and isinstance(key, str):
        return select(value, key)
    raise CELError(f"no such key: {_shown(key)}")


def _is_key(key: Any) -> bool:
    return isinstance(key, str | int | float)


def _shown(key: Any) -> str:
    return {True: "true", False: "false"}[key] if isinstance(key, bool) else str(key)


def _position(key: Any) -> int:
    if isinstance(key, int) and not isinstance(key, bool):
        return key
    if isinstance(key, float) and key.is_integer():
        return int(key)
    raise CELError(f"unsupported index type '{type_name(key)}' in list")


def _equal(evaluation: Evaluation, left: Any, right: Any) -> bool:
    comparison = ValueComparison()
    result = comparison.equal(left, right)
    evaluation.spend(traversal(min(size(left), size(right))) + comparison.cost)
    return result


def _not_equal(evaluation: Evaluation, left: Any, right: Any) -> bool:
    return not _equal(evaluation, left, right)


def _compared(answer: Callable[[Any, Any], bool]) -> "Operator":
    def compare(evaluation: Evaluation, left: Any, right: Any) -> bool:
        evaluation.spend(traversal(min(size(left), size(right))))
        return answer(left, right)

    return compare


def _at_most(left: Any, right: Any) -> bool:
    return not less(right, left)


def _contained(evaluation: Evaluation, value: Any, container: Any) -> bool:
    if type(container) is dict:
        evaluation.cost += 1
        return _is_key(value) and value in container
    if type(container) is not list:
        raise CELError(OVERLOAD)
    evaluation.spend(len(container))
    if type(value) is str:
        return value in container
    comparison = ValueComparison()
    for item in container:
        if comparison.equal(value, item):
            return True
        if comparison.cost:
            evaluation.spend(comparison.cost)
            comparison = ValueComparison()
    return False


def add(evaluation: Evaluation, left: Any, right: Any) -> Any:
    """Add numbers, times, texts or lists."""
    kind, other = type(left), type(right)
    if kind is other and kind in (str, bytes):
        evaluation.spend(traversal(len(left) + len(right)))
        return left + right
    if kind is list and other is list:
        evaluation.spend(1 + (len(left) + len(right)) // _COPIED_PER_COST)
        return left + right
    evaluation.cost += 1
    if kind is other and kind in (int, Unsigned, float):
        return _number(kind, left + right)
    if {kind, other} == {Timestamp, Duration}:
        return checked_timestamp(left.nanoseconds + right.nanoseconds)
    if kind is Duration and other is Duration:
        return checked_duration(left.nanoseconds + right.nanoseconds)
    raise CELError(OVERLOAD)


def _subtract(evaluation: Evaluation, left: Any, right: Any) -> Any:
    evaluation.cost += 1
    kind, other = type(left), type(right)
    if kind is other and kind in (int, Unsigned, float):
        return _number(kind, int.__sub__(left, right) if kind is not float else left - right)
    if kind in (Timestamp, Duration) and other is kind:
        return checked_duration(left.nanoseconds - right.nanoseconds)
    if kind is Timestamp and other is Duration:
        return checked_timestamp(left.nanoseconds - right.nanoseconds)
    raise CELError(OVERLOAD)


def _multiply(evaluation: Evaluation, left: Any, right: Any) -> Any:
    evaluation.cost += 1
    kind = type(left)
    if kind is type(right) and kind in (int, Unsigned, float):
        return _number(kind, left * right)
    raise CELError(OVERLOAD)


def _divide(evaluation: Evaluation, left: Any, right: Any) -> Any:
    evaluation.cost += 1
    kind = type(left)
    if kind is not type(right) or kind not in (int, Unsigned, float):
        raise CELError(OVERLOAD)
    if kind is float:
        return _divide_floats(left, right)
    if right == 0:
        raise CELError("division by zero")
    quotient = abs(left) // abs(right)
    return _number(kind, quotient if (left < 0) == (right < 0) else -quotient)


def _divide_floats(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _remainder(evaluation: Evaluation, left: Any, right: Any) -> Any:
    evaluation.cost += 1
    kind = type(left)
    if kind is not type(right) or kind not in (int, Unsigned):
        raise CELError(OVERLOAD)
    if right == 0:
        raise CELError("modulus by zero")
    rest = abs(left) % abs(right)
    return _number(kind, rest if left >= 0 else -rest)


def _number(kind: type, value: Any) -> Any:
    if kind is float:
        return value
    return checked_int(value) if kind is int else checked_uint(value)


def checked_timestamp(nanoseconds: int) -> Timestamp:
    if _MIN_TIME <= nanoseconds < _MAX_TIME:
        return Timestamp(nanoseconds)
    raise CELError("timestamp overflow")


def checked_duration(nanoseconds: int) -> Duration:
    if -_MAX_NANOSECONDS <= nanoseconds < _MAX_NANOSECONDS:
        return Duration(nanoseconds)
    raise CELError("duration overflow")


def negate(value: Any) -> Any:
    if type(value) is int:
        return checked_int(-value)
    if type(value) is float:
        return -value
    if type(value) is Duration:
        return checked_duration(-value.nanoseconds)
    raise CELError(OVERLOAD)


Operator = Callable[[Evaluation, Any, Any], Any]
BINARY: Final[Mapping[str, Operator]] = {
    "_==_": _equal,
    "_!=_": _not_equal,
    "_<_": _compared(less),
    "_<=_": _compared(_at_most),
    "_>_": _compared(lambda left, right: less(right, left)),
    "_>=_": _compared(lambda left, right: not less(left, right)),
    "_+_": add,
    "_-_": _subtract,
    "_*_": _multiply,
    "_/_": _divide,
    "_%_": _remainder,
    "_[_]": _index,
    "@in": _contained,
}
