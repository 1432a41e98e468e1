"""Cost model: walks an expression and adds up what its evaluation costs at most.

The unit is that of CEL: reading a variable or a field costs 1. Loops multiply the cost of their
steps by the size of their range. How values grow, and what functions cost, is in two subclasses:
Kubernetes' estimate when a rule is defined (`definition_costs`), and a bound on the time and memory
of this implementation when it is evaluated (`evaluation_costs`).
"""

from collections.abc import Mapping
from math import ceil
from typing import Final

from apimachinery.cel.checked_expression import (
    Call,
    Expression,
    Identifier,
    Literal,
    Loop,
    NewList,
    NewMap,
    Select,
)
from apimachinery.cel.value_bounds import (
    LARGEST,
    SCALAR,
    Bound,
    ComputedBound,
    cut,
    union,
)

_NEW_LIST: Final = 10
_NEW_MAP: Final = 30
_MEMBER: Final = 1


def traversal(size: int, factor: float = 0.1) -> int:
    """Return the cost of reading a text of *size* characters."""
    return LARGEST if size >= LARGEST else ceil(size * factor)


class CostModel:
    """Estimates expressions over variables with the given bounds."""

    def __init__(self, variables: Mapping[str, Bound]) -> None:
        self._scopes: dict[str, list[Bound]] = {name: [b] for name, b in variables.items()}

    def cost(self, expression: Expression) -> int:
        """Return the maximum cost of an expression, at most LARGEST."""
        return self._estimate(expression)[0]

    def call(self, arguments: list[Bound], call: Call) -> tuple[int, Bound]:
        """Return the cost of a function without that of its arguments, and its result."""
        raise NotImplementedError

    def loop_element(self, iterated: Bound) -> Bound:
        """Return the bound of the loop variable."""
        raise NotImplementedError

    def accumulator(self, initial: Bound, count: int) -> Bound:
        """Return the bound of the accumulator of a loop that runs *count* times."""
        raise NotImplementedError

    def presence(self, cost: int, operand: Expression) -> int:
        """Return the cost of `has()` on a field of an operand, which itself has the given cost."""
        return cost

    def _estimate(self, expression: Expression) -> tuple[int, Bound]:
        match expression:
            case Literal(value=value):
                return 0, _literal_bound(value)
            case Identifier(name=name):
                bounds = self._scopes.get(name)
                return _MEMBER, bounds[-1] if bounds else SCALAR
            case Select():
                return self._select(expression)
            case Call(function="_?_:_"):
                return self._conditional(expression)
            case Call():
                return self._call(expression)
            case NewList(items=items):
                return self._new_list(items)
            case NewMap(entries=entries):
                return self._new_map(entries)
            case Loop() if expression.is_binding:
                return self._binding(expression)
            case Loop():
                return self._loop(expression)

    def _select(self, select: Select) -> tuple[int, Bound]:
        cost, operand = self._estimate(select.operand)
        if select.presence_only:
            return self.presence(cost, select.operand), SCALAR
        return cut(cost + _MEMBER), operand.field(select.field)

    def _conditional(self, call: Call) -> tuple[int, Bound]:
        (condition, _), (first, first_bound), (second, second_bound) = map(
            self._estimate, call.arguments
        )
        return cut(condition + max(first, second)), union(first_bound, second_bound)

    def _call(self, call: Call) -> tuple[int, Bound]:
        estimates = [self._estimate(argument) for argument in call.arguments]
        arguments_cost = sum(cost for cost, _ in estimates)
        if call.function in ("_&&_", "_||_"):
            return cut(arguments_cost), SCALAR
        cost, bound = self.call([bound for _, bound in estimates], call)
        return cut(arguments_cost + cost), bound

    def _new_list(self, items: tuple[Expression, ...]) -> tuple[int, Bound]:
        estimates = [self._estimate(item) for item in items]
        element: Bound | None = None
        for _, bound in estimates:
            element = bound if element is None else union(element, bound)
        weight = 1 + sum(bound.weight for _, bound in estimates)
        bound = ComputedBound("list", len(items), weight=weight, element=element)
        return cut(_NEW_LIST + sum(cost for cost, _ in estimates)), bound

    def _new_map(self, entries: tuple[tuple[Expression, Expression], ...]) -> tuple[int, Bound]:
        cost, weight, element = _NEW_MAP, 1, None
        for key, value in entries:
            key_cost, key_bound = self._estimate(key)
            value_cost, bound = self._estimate(value)
            cost += key_cost + value_cost
            weight += key_bound.weight + bound.weight
            element = bound if element is None else union(element, bound)
        return cut(cost), ComputedBound("map", len(entries), weight=weight, element=element)

    def _binding(self, loop: Loop) -> tuple[int, Bound]:
        initial, bound = self._estimate(loop.initial)
        self._push(loop.accumulator, bound)
        cost, result = self._estimate(loop.result)
        self._pop(loop.accumulator)
        return cut(_NEW_LIST + initial + cost), result

    def _loop(self, loop: Loop) -> tuple[int, Bound]:
        range_cost, iterated = self._estimate(loop.range)
        initial_cost, initial = self._estimate(loop.initial)
        count = iterated.size
        self._push(loop.accumulator, self.accumulator(initial, count))
        self._push(loop.variable, self.loop_element(iterated))
        if loop.second_variable:
            self._push(loop.second_variable, iterated.element())
        condition, _ = self._estimate(loop.condition)
        step, step_bound = self._estimate(loop.step)
        self._pop(loop.variable)
        if loop.second_variable:
            self._pop(loop.second_variable)
        result, result_bound = self._estimate(loop.result)
        self._pop(loop.accumulator)
        if isinstance(loop.initial, NewList | NewMap):
            result_bound = ComputedBound(initial.kind, count, element=step_bound.element())
        cost = range_cost + initial_cost + result + count * (condition + step)
        return cut(cost), result_bound

    def _push(self, name: str, bound: Bound) -> None:
        self._scopes.setdefault(name, []).append(bound)

    def _pop(self, name: str) -> None:
        self._scopes[name].pop()


def _literal_bound(value: object) -> Bound:
    if isinstance(value, str):
        return ComputedBound("string", len(value))
    if isinstance(value, bytes):
        return ComputedBound("bytes", len(value))
    return SCALAR
