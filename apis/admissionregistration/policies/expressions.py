"""Compiled expressions of policies: planned once, evaluated for every write that is concerned.

A stored expression has been checked when its policy was written. One that cannot be planned all the
same (another server has stored it) fails whenever it is evaluated.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apimachinery.extras import MissingExtra, name_missing_extra

if TYPE_CHECKING:
    from apimachinery.cel.interpreter.planned_expression import PlannedExpression

VARIABLES: Final = frozenset(
    (
        *("object", "oldObject", "request", "namespaceObject", "params", "variables"),
        *("authorizer", "authorizer.requestResource"),
    )
)
WITHOUT_AUTHORIZER: Final = frozenset(name for name in VARIABLES if "authorizer" not in name)


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """An expression; without a *program* it could not be compiled."""

    text: str
    program: "PlannedExpression | None"
    problem: str = ""


def compile_expression(text: str, variables: frozenset[str] = VARIABLES) -> CompiledExpression:
    """Compile an expression of a stored policy; any thread may call it."""
    try:
        with name_missing_extra():
            from apimachinery.cel.interpreter.planned_expression import PlannedExpression
            from apimachinery.cel.interpreter.values import CELError
    except MissingExtra as error:
        return CompiledExpression(text, None, f"this server cannot evaluate CEL: {error}")
    try:
        return CompiledExpression(text, PlannedExpression(text, variables))
    except (CELError, RecursionError) as error:
        return CompiledExpression(text, None, f"compilation failed: {error}")
