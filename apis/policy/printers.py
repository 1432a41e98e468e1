"""Printer columns of PodDisruptionBudgets."""

from typing import Final

from apis.policy.v1 import PodDisruptionBudget
from apiserver import Column

_NOT_SET: Final = "N/A"


def min_available(budget: PodDisruptionBudget) -> str:
    return _limit(budget.spec.min_available)


def max_unavailable(budget: PodDisruptionBudget) -> str:
    return _limit(budget.spec.max_unavailable)


def allowed_disruptions(budget: PodDisruptionBudget) -> int:
    return budget.status.disruptions_allowed


def _limit(value: int | str | None) -> str:
    return _NOT_SET if value is None else str(value)


POD_DISRUPTION_BUDGET_COLUMNS: Final = (
    Column("Min Available", min_available, description="Pods that must stay available."),
    Column("Max Unavailable", max_unavailable, description="Pods that may be unavailable."),
    Column(
        "Allowed Disruptions",
        allowed_disruptions,
        type="integer",
        description="Number of pods that may be evicted now.",
    ),
)
