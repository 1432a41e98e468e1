"""Planned expressions: ready to be evaluated any number of times."""

from collections.abc import Collection
from functools import cache
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional

from apimachinery.cel.checked_expression import (
    Expression,
    Identifier,
    Select,
    descendants,
    read_parsed_expression,
)
from apimachinery.cel.interpreter import (
    authorization,
    collections,
    conversions,
    named_formats,
    networks,
    quantities,
    texts,
    times,
)
from apimachinery.cel.interpreter.evaluation import CALL_LIMIT, CostExceeded, Evaluation
from apimachinery.cel.interpreter.overloads import Functions
from apimachinery.cel.interpreter.plan import Planner
from apimachinery.cel.interpreter.values import CELError

_EXCEEDED = "operation cancelled: actual cost limit exceeded"


class PlannedExpression:
    """A planned expression; raises CELError if it has a name that is unknown.

    The expression has been compiled before, which checks its types.
    """

    def __init__(self, text: str, variables: Collection[str]) -> None:
        self.text = text
        tree = parse(text)
        planner = Planner(_functions(), variables)
        self._run = planner.plan(tree)
        self._slots = planner.slots
        self.reads_whole = frozenset(
            part.name for part in descendants(tree) if isinstance(part, Identifier)
        )
        """The names of all variables that the expression mentions."""
        self.fields_of_variables = frozenset(
            part.field
            for part in descendants(tree)
            if isinstance(part, Select) and part.operand == Identifier("variables")
        )

    def evaluate(self, variables: Any, limit: int = CALL_LIMIT) -> "EvaluationOutcome":
        """Evaluate the expression, with *variables* by their names."""
        evaluation = Evaluation(variables, self._slots, limit)
        try:
            value = self._run(evaluation)
            evaluation.spend(0)
        except CELError as error:
            return EvaluationOutcome(None, evaluation.cost, str(error))
        except CostExceeded:
            return EvaluationOutcome(None, evaluation.cost, _EXCEEDED, is_exceeded=True)
        except RecursionError:
            return EvaluationOutcome(None, evaluation.cost, "the value is nested too deeply")
        except (ArithmeticError, ValueError) as error:
            # Documents may have integers that no type of CEL can hold.
            return EvaluationOutcome(None, evaluation.cost, str(error))
        return EvaluationOutcome(value, evaluation.cost)


class EvaluationOutcome:
    """The value of an expression, or why it has none, and what the evaluation cost."""

    __slots__ = ("cost", "error", "is_exceeded", "value")

    def __init__(
        self, value: Any, cost: int, error: str | None = None, *, is_exceeded: bool = False
    ) -> None:
        self.value = value
        self.cost = cost
        self.error = error
        self.is_exceeded = is_exceeded
        """Whether the cost was above the limit."""


def parse(text: str) -> Expression:
    """Return the syntax tree of an expression; raise CELError if it has none."""
    try:
        return read_parsed_expression(_parser().compile(text, disable_check=True).serialize())
    except RuntimeError as error:
        raise CELError(str(error)) from None


@cache
def _parser() -> Any:
    """Return the CEL library's environment to parse with; it has the macros of optional values."""
    return cel.NewEnv(variables={}, extensions=[ext_optional.ExtOptional()])


@cache
def _functions() -> Functions:
    libraries = (
        *(conversions, times, texts, collections),
        *(networks, quantities, named_formats, authorization),
    )
    return Functions(one for library in libraries for one in library.overloads())
