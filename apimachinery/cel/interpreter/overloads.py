"""Overloads: functions by their names and the types of their arguments.

A signature lists the types of the parameters: `string int`. The target of a member function is its
first parameter. `dyn` is any type. Whether an expression uses a function as a member is checked
when the expression is compiled.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from apimachinery.cel.interpreter.evaluation import Evaluation
from apimachinery.cel.interpreter.values import OVERLOAD, CELError, size, type_name

Cost = Callable[..., int]
"""Returns the cost of a call from its arguments, before the call."""

_ANY: Final = "dyn"
_TEXT_FACTOR: Final = 0.1
_PATTERN_FACTOR: Final = 0.25
_UNNAMED: Final = frozenset(
    ("!_", "-_", "startsWith", "endsWith", "contains", "matches", "find", "findAll")
)
_WITHOUT_TYPES: Final = frozenset(("size", "sort"))


@dataclass(frozen=True, slots=True)
class Overload:
    """One implementation of a function."""

    name: str
    parameters: tuple[str, ...]
    call: Callable[..., Any]
    cost: Cost | None = None
    """None for a cost of 1."""


def overload(
    name: str, signature: str, call: Callable[..., Any], cost: Cost | None = None
) -> Overload:
    return Overload(name, tuple(signature.split()), call, cost)


class Functions:
    """The functions that expressions can call."""

    def __init__(self, overloads: Iterable[Overload]) -> None:
        by_name: dict[str, list[Overload]] = {}
        for one in overloads:
            by_name.setdefault(one.name, []).append(one)
        self._dispatchers: Mapping[str, FunctionDispatcher] = {
            name: FunctionDispatcher(name, found) for name, found in by_name.items()
        }

    def __contains__(self, name: str) -> bool:
        return name in self._dispatchers

    def __getitem__(self, name: str) -> "FunctionDispatcher":
        return self._dispatchers[name]


class FunctionDispatcher:
    """The overloads of one function."""

    def __init__(self, name: str, overloads: list[Overload]) -> None:
        self._name = name
        self._overloads = overloads
        self._chosen: dict[tuple[type, ...], Overload | None] = {}

    def call(self, evaluation: Evaluation, arguments: list[Any]) -> Any:
        """Call the overload for these arguments; raise CELError if there is none."""
        types = tuple(map(type, arguments))
        try:
            chosen = self._chosen[types]
        except KeyError:
            chosen = self._chosen[types] = self._choose([type_name(each) for each in arguments])
        if chosen is None:
            raise CELError(self._missing(arguments))
        if chosen.cost is None:
            evaluation.cost += 1
        else:
            evaluation.spend(chosen.cost(*arguments))
        return chosen.call(*arguments)

    def _missing(self, arguments: list[Any]) -> str:
        """Return the error for arguments of other types, which not all functions name."""
        if self._name in _UNNAMED:
            return OVERLOAD
        if self._name in _WITHOUT_TYPES:
            return f"{OVERLOAD}: {self._name}"
        return f"{OVERLOAD}: {self._name}({', '.join(map(type_name, arguments))})"

    def _choose(self, names: list[str]) -> Overload | None:
        for one in self._overloads:
            if len(one.parameters) == len(names) and all(
                wanted in (name, _ANY) for wanted, name in zip(one.parameters, names, strict=True)
            ):
                return one
        return None


def traversal(length: int, factor: float = 1) -> int:
    """Return the cost of reading a text of a length."""
    return ceil(length * factor * _TEXT_FACTOR)


def reading(factor: float = 1) -> Cost:
    """Return the cost of functions that read their first argument."""
    return lambda first, *others: traversal(size(first), factor)


def free(*arguments: Any) -> int:
    return 0


def matching(text: Any, pattern: Any, *others: Any) -> int:
    """Return the cost of matching a pattern."""
    return traversal(size(text) + 1) * pattern_cost(size(pattern))


def pattern_cost(length: int) -> int:
    return ceil(length * _PATTERN_FACTOR)
