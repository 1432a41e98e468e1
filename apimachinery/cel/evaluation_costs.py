"""Evaluation costs: an upper bound on what evaluating a rule on known values takes.

The CEL library counts no cost, cannot be interrupted, and lets no other thread run meanwhile. So
the cost of an evaluation is bounded before it starts: with the sizes of the actual values, and with
what this implementation takes for each operation. A cost of 1 is about 30 ns.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from apimachinery.cel.checked_expression import Call, Expression, Literal
from apimachinery.cel.cost_model import CostModel, traversal
from apimachinery.cel.definition_costs import DefinitionCosts, joined_size, replaced_size
from apimachinery.cel.value_bounds import (
    SCALAR,
    ActualBound,
    Bound,
    ComputedBound,
    DeclaredBound,
    cut,
    union,
)
from apimachinery.structural.patterns import InvalidPattern, program_size

CONVERTED: Final = 10
"""The cost of passing a value to the library, for each value within it."""
_COMPARED: Final = 2
_APPENDED: Final = 3
"""The cost of each item of a list that is copied, as `map` and `filter` do for each new item."""
_PYTHON_CALL: Final = 40
_MATCH: Final = 150
"""The cost of each match that is returned."""
_COMPILED: Final = 10
"""The cost of compiling a pattern, which happens in each call, for each of its instructions."""
_LARGEST_PROGRAM: Final = 100_000
_REPEATS: Final = re.compile(r"\{|\\p|\\P|\[\[")
"""What makes the program of a pattern larger than its text."""


def evaluation_cost(expression: Expression, variables: Mapping[str, Bound]) -> int:
    """Return the maximum cost of one evaluation, without the conversion of its variables."""
    return EvaluationCosts(variables).cost(expression)


class EvaluationCosts(CostModel):
    """Bounds the evaluation of expressions over values or declared sizes."""

    def call(self, arguments: list[Bound], call: Call) -> tuple[int, Bound]:
        estimate = _FUNCTIONS.get(call.function)
        if estimate is not None:
            return estimate(arguments, call)
        cost, bound = _DEFINITION.call(arguments, call)
        if call.function in _PYTHON_FUNCTIONS:
            cost += _PYTHON_CALL + CONVERTED * sum(bound.weight for bound in arguments)
        return cut(cost + 1), bound

    def loop_element(self, iterated: Bound) -> Bound:
        if isinstance(iterated, ActualBound):
            return union_of_parts(iterated)
        if iterated.kind == "map":
            return ComputedBound("string", iterated.size)
        return iterated.element()

    def accumulator(self, initial: Bound, count: int) -> Bound:
        if initial.kind not in ("list", "map"):
            return initial
        # Half of the items are there on average; what they are, the step of the loop adds.
        return ComputedBound(initial.kind, count // 2 + 1, element=ActualBound(()))


def union_of_parts(iterated: ActualBound) -> Bound:
    """Return the bound of a loop variable, whether it gets items of a list or keys of a map."""
    match iterated.kind:
        case "list":
            return iterated.element()
        case "map":
            return iterated.keys()
        case "scalar":
            return SCALAR
    return union(iterated.element(), iterated.keys())


_DEFINITION: Final = DefinitionCosts(DeclaredBound({"type": "object"}))
"""Functions whose cost is that of Kubernetes, and which return values of bounded size."""


def _equal(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return cut(1 + _COMPARED * min(bound.weight for bound in arguments)), SCALAR


def _add(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    left, right = arguments
    size = cut(left.size + right.size)
    if {left.kind, right.kind} == {"scalar"}:
        return 1, SCALAR
    if left.kind == "list" or right.kind == "list":
        element = right.element() if right.size else left.element()
        if right.size and left.size:
            element = union(left.element(), right.element())
        weight = cut(left.weight + right.weight)
        return cut(1 + _APPENDED * size), ComputedBound(
            "list", size, weight=weight, element=element
        )
    if "" in (left.kind, right.kind):  # lists, strings or numbers
        weight = cut(left.weight + right.weight)
        return cut(1 + _APPENDED * size), ComputedBound("", size, weight=weight)
    return 1 + traversal(size), ComputedBound(left.kind, size)


def _contained(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    value, container = arguments
    if container.kind == "map":
        return 1 + value.weight, SCALAR
    compared = min(value.weight, container.element().weight)
    return cut(1 + _COMPARED * container.size * compared), SCALAR


def _matches(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    text, pattern = arguments[:2]
    size = _program_size(pattern, call.arguments[1])
    return cut(traversal(cut((text.size + 1) * size), 0.15) + _COMPILED * size), SCALAR


def _program_size(pattern: Bound, expression: Expression) -> int:
    """Return the maximum number of instructions of a pattern."""
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return _literal_program_size(expression.value)
    if not isinstance(pattern, ActualBound):
        return cut(max(_LARGEST_PROGRAM, 8 * pattern.size))
    repeats = any(map(_REPEATS.search, pattern.texts()))
    return _LARGEST_PROGRAM if repeats else 8 * pattern.size


@lru_cache(maxsize=1024)  # schemas repeat themselves, and are compiled in every version
def _literal_program_size(pattern: str) -> int:
    try:
        return program_size(pattern)
    except InvalidPattern:
        return _LARGEST_PROGRAM  # the library may take long to find that out, too


def _find(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    cost, _ = _matches(arguments, call)
    size = arguments[0].size
    cost = cut(cost + _PYTHON_CALL + _MATCH * (size + 1))
    text = ComputedBound("string", size)
    if call.function == "find":
        return cost, text
    # The matches together are as long as the text.
    return cost, ComputedBound("list", size, weight=2 * size + 1, element=text)


def _replace(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    text, old, new = arguments[:3]
    shortest = old.size if isinstance(call.arguments[1], Literal) else 0
    size = replaced_size(text.size, shortest, new.size)
    return cut(1 + traversal(text.size, 0.2) + traversal(size)), ComputedBound("string", size)


def _split(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = arguments[0].size
    element = ComputedBound("string", size)
    bound = ComputedBound("list", size, weight=2 * size + 1, element=element)
    return cut(1 + _COMPARED * size), bound


def _join(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = joined_size(arguments)
    return cut(1 + traversal(size) + arguments[0].size), ComputedBound("string", size)


def _scan(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    values = arguments[0]
    weight = sum(bound.weight for bound in arguments)
    cost = cut(_PYTHON_CALL + (CONVERTED + 20) * weight + traversal(values.size))
    if values.kind == "string":
        # `indexOf` of a text, which compares at each of its characters.
        return cut(cost + traversal(values.size) * traversal(arguments[-1].size)), SCALAR
    return cost, values.element() if call.function in ("min", "max") else SCALAR


def _sets(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    left, right = arguments
    compared = min(left.element().weight, right.element().weight)
    cost = 2 * left.size * right.size * compared + CONVERTED * (left.weight + right.weight)
    return cut(_PYTHON_CALL + cost), SCALAR


def _format(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    # The longest that a few characters can become is a number with a precision of 1,000.
    size = cut(220 * arguments[0].size + 64 * arguments[1].weight)
    return cut(1 + traversal(size)), ComputedBound("string", size)


def _to_string(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    value = arguments[0]
    size = 64 if value.kind == "scalar" else max(64, value.size)
    return 1 + traversal(size), ComputedBound("string", size)


def _to_number(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return 1 + traversal(arguments[0].size), SCALAR


def _url_part(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = arguments[0].size
    cost = cut(_PYTHON_CALL + CONVERTED * arguments[0].weight + size)
    if call.function != "getQuery":
        return cost, ComputedBound("string", size)
    text = ComputedBound("string", size)
    values = ComputedBound("list", size, weight=2 * size + 1, element=text)
    return cut(cost + CONVERTED * size), ComputedBound(
        "map", size, weight=2 * size + 1, element=values
    )


def _text_size(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    """`size`, which counts the characters of a text; and `charAt`."""
    value = arguments[0]
    return 1 + (traversal(value.size, 0.05) if value.kind in ("string", "") else 0), SCALAR


def _parsed(factor: int) -> "Estimate":
    """A function of quantities, addresses or networks, which returns a short text or a number."""

    def estimate(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
        size = max(bound.size for bound in arguments)
        cost = factor * (_PYTHON_CALL + 4 * size)
        return cut(cost), ComputedBound("string", max(64, 2 * size))

    return estimate


def _validate_format(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = arguments[1].size
    text = ComputedBound("string", cut(size + 500))
    return cut(2 * _PYTHON_CALL + 4 * size), ComputedBound("list", 10, element=text)


Estimate = Callable[[list[Bound], Call], tuple[int, Bound]]
_FUNCTIONS: Final[Mapping[str, Estimate]] = {
    **dict.fromkeys(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"), _equal),
    "_+_": _add,
    "@in": _contained,
    "matches": _matches,
    **dict.fromkeys(("find", "findAll"), _find),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _scan),
    **dict.fromkeys(("sets.contains", "sets.intersects", "sets.equivalent"), _sets),
    "format": _format,
    "string": _to_string,
    **dict.fromkeys(("int", "uint", "double", "timestamp", "duration", "bool"), _to_number),
    **dict.fromkeys(
        ("url", "getScheme", "getHost", "getEscapedPath", "getHostname", "getPort", "getQuery"),
        _url_part,
    ),
    **dict.fromkeys(("size", "charAt"), _text_size),
    **dict.fromkeys(
        (
            *("quantity", "isQuantity", "sign", "isInteger", "asInteger", "asApproximateFloat"),
            *("isLessThan", "isGreaterThan", "compareTo", "add", "sub", "isURL"),
        ),
        _parsed(1),
    ),
    **dict.fromkeys(
        (
            *("ip", "isIP", "ip.isCanonical", "family", "isUnspecified", "isLoopback"),
            *("isLinkLocalUnicast", "isGlobalUnicast", "isLinkLocalMulticast"),
        ),
        _parsed(2),
    ),
    **dict.fromkeys(
        ("cidr", "isCIDR", "containsIP", "containsCIDR", "prefixLength", "masked"), _parsed(4)
    ),
    "validate": _validate_format,
}
_PYTHON_FUNCTIONS: Final = frozenset(("hasValue", "value"))
