"""Activation: the variables of the expressions of one policy, and the budgets of evaluating them.

The variables of a policy (`variables.a`) are evaluated when an expression first reads them, and
kept. Every expression has a limit, and all of a binding together have a budget; both are those of
Kubernetes. On the event loop, evaluations may only take a few milliseconds per request.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from apimachinery.cel.interpreter.evaluation import CALL_LIMIT
from apimachinery.cel.interpreter.values import CELError, FieldValue, Optional
from apis.admissionregistration.policies.expressions import CompiledExpression

BUDGET: Final = 10_000_000
"""The maximum cost of all expressions of a policy with one binding and one parameter."""
CONDITIONS_BUDGET: Final = 2_500_000
"""The maximum cost of the match conditions of a policy."""
LOOP_ALLOWANCE: Final = 20_000
"""The cost of evaluations on the event loop in one request: about 8 ms."""

_OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


def error_type(problem: str) -> str:
    """Return the type of an evaluation's problem, as metrics name it."""
    if not problem:
        return "no_error"
    if problem.startswith("compilation"):
        return "compile_error"
    return "out_of_budget" if problem == _OUT_OF_BUDGET else "invalid_error"


class OutOfBudget(Exception):
    """The expressions of a policy have cost more than their budget."""

    def __init__(self) -> None:
        super().__init__(_OUT_OF_BUDGET)


class HeldTooLong(Exception):
    """Evaluations on the event loop have used up their allowance; they go on in a thread."""


class CostAllowance:
    """What evaluations may still cost where they run; None for no limit of its own."""

    __slots__ = ("remaining",)

    def __init__(self, remaining: int | None = None) -> None:
        self.remaining = remaining

    def limit(self) -> int:
        """Return the limit of one evaluation; raise HeldTooLong if nothing remains."""
        if self.remaining is None:
            return CALL_LIMIT
        if self.remaining <= 0:
            raise HeldTooLong
        return min(CALL_LIMIT, self.remaining)

    def spend(self, cost: int, *, is_exceeded: bool) -> None:
        if self.remaining is None:
            return
        limit, self.remaining = self.remaining, self.remaining - cost
        if is_exceeded and limit < CALL_LIMIT:
            raise HeldTooLong


class Budget:
    """What the expressions of a policy may still cost."""

    __slots__ = ("remaining",)

    def __init__(self, remaining: int = BUDGET) -> None:
        self.remaining = remaining

    def spend(self, cost: int) -> None:
        """Raise OutOfBudget if *cost* is more than what remains."""
        if cost > self.remaining:
            raise OutOfBudget
        self.remaining -= cost


@dataclass(frozen=True, slots=True)
class ExpressionResult:
    """The value of an expression, or the error of evaluating it."""

    value: Any
    error: str | None
    seconds: float


class Activation:
    """Variables by their names; `variables` are those of a policy."""

    def __init__(
        self,
        values: Mapping[str, Any],
        variables: Mapping[str, CompiledExpression],
        allowance: CostAllowance,
    ) -> None:
        self._composed = _Composed(self, variables)
        self._values = {**values, "variables": self._composed}
        self._allowance = allowance

    def evaluate(self, expression: CompiledExpression, budget: Budget) -> ExpressionResult:
        """Evaluate an expression within a budget; raise OutOfBudget or HeldTooLong."""
        if expression.program is None:
            return ExpressionResult(None, f"compilation error: {expression.problem}", 0.0)
        started = perf_counter()
        self._composed.cost = 0
        value, error, cost = self.run(expression)
        seconds = perf_counter() - started
        budget.spend(self._composed.cost)
        budget.spend(cost)
        if error is not None:
            error = f"expression '{expression.text}' resulted in error: {error}"
        return ExpressionResult(value, error, seconds)

    def run(self, expression: CompiledExpression) -> tuple[Any, str | None, int]:
        """Return the value, error and cost of an expression that has a program."""
        assert expression.program is not None
        outcome = expression.program.evaluate(self._values, self._allowance.limit())
        self._allowance.spend(outcome.cost, is_exceeded=outcome.is_exceeded)
        return outcome.value, outcome.error, outcome.cost


class _Composed(FieldValue):
    """The variables of a policy, each evaluated once, when it is first read."""

    type_name = "kubernetes.variables"

    def __init__(
        self, activation: Activation, expressions: Mapping[str, CompiledExpression]
    ) -> None:
        self._activation = activation
        self._expressions = expressions
        self._known: dict[str, tuple[Any, str | None]] = {}
        self.cost = 0
        """The cost of the variables that were evaluated since it was set to 0."""

    def find(self, name: str) -> Optional:
        expression = self._expressions.get(name)
        if expression is None:
            return Optional()
        if name not in self._known:
            self._known[name] = self._evaluate(name, expression)
        value, error = self._known[name]
        if error is not None:
            raise CELError(error)
        return Optional(value, True)

    def _evaluate(self, name: str, expression: CompiledExpression) -> tuple[Any, str | None]:
        if expression.program is None:
            problem = f'composited variable "{name}" fails to compile: {expression.problem}'
            return None, problem
        value, error, cost = self._activation.run(expression)
        self.cost += cost
        if error is not None:
            error = f'composited variable "{name}" fails to evaluate: {error}'
        return value, error
