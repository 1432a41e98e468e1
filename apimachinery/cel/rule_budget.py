"""Rule budget: what evaluating the rules of one object may cost.

The limits are those of Kubernetes, which counts while it evaluates. Here, the maximum cost of an
evaluation is known before it starts (`evaluation_costs`), and an evaluation that could exceed a
limit does not start. After the first such rule no further ones are evaluated.
"""

from typing import Final

CALL_LIMIT: Final = 1_000_000
"""The maximum cost of one evaluation: 30 to 50 ms."""
OBJECT_LIMIT: Final = 10_000_000
"""The maximum cost of all evaluations for one object."""
EVALUATION: Final = 20
"""The cost of starting an evaluation, beside that of its expression."""


class BudgetExceeded(Exception):
    """An evaluation would exceed a limit; the message is that of Kubernetes."""


class RuleBudget:
    """The cost that remains for the rules of one object."""

    __slots__ = ("exhausted", "remaining")

    def __init__(self, remaining: int = OBJECT_LIMIT) -> None:
        self.remaining = remaining
        self.exhausted = False
        """Whether a limit has been exceeded, so that no further rules are evaluated."""

    def spend(self, cost: int, rule: str) -> None:
        """Spend the cost of an evaluation; raise BudgetExceeded if it is too much."""
        if cost > CALL_LIMIT:
            self.exhausted = True
            raise BudgetExceeded(
                "'operation cancelled: actual cost limit exceeded': no further validation rules"
                f" will be run due to call cost exceeds limit for rule: {rule}"
            )
        self.remaining -= cost + EVALUATION
        if self.remaining < 0:
            self.exhausted = True
            raise BudgetExceeded(
                "validation failed due to running out of cost budget, no further validation rules"
                " will be run"
            )
