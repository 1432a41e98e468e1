"""Printer columns of PriorityClasses."""

from typing import Final

from apis.scheduling.v1 import PriorityClass
from apiserver.views.table import AGE, NAME, Column


def priority(priority_class: PriorityClass) -> int:
    return priority_class.value


def is_default(priority_class: PriorityClass) -> bool:
    return priority_class.global_default


def preemption_policy(priority_class: PriorityClass) -> str:
    return priority_class.preemption_policy or ""


PRIORITY_CLASS_COLUMNS: Final = (
    NAME,
    Column("Value", priority, type="integer", description="Priority of the pods of the class."),
    Column(
        "Global-Default",
        is_default,
        type="boolean",
        description="Whether pods that name no class have this one.",
    ),
    AGE,
    Column(
        "PreemptionPolicy", preemption_policy, description="Whether pods of the class evict others."
    ),
)
