"""Evaluation: the state of evaluating one expression, and its cost.

The cost is counted as Kubernetes does: reading a variable or field is 1, and a function costs 1 or
in proportion to the size of its arguments. Work that Kubernetes counts as constant but that takes
time in proportion to values costs more here, so that no limit on the cost can be stepped around.
"""

from typing import Any, Final

CALL_LIMIT: Final = 1_000_000
"""The maximum cost of evaluating one expression."""


class CostExceeded(Exception):
    """An evaluation has cost more than its limit."""


class Evaluation:
    """The variables of an expression, its local variables and its cost so far."""

    __slots__ = ("cost", "limit", "locals", "variables")

    def __init__(self, variables: Any, slots: int, limit: int = CALL_LIMIT) -> None:
        self.variables = variables
        """A mapping; `__getitem__` may compute a variable."""
        self.locals: list[Any] = [None] * slots
        self.cost = 0
        self.limit = limit

    def spend(self, cost: int) -> None:
        """Add to the cost; raise CostExceeded above the limit."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded
