"""Conditions of a CustomResourceDefinition: their types, reading and writing."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from apis.apiextensions.v1 import CustomResourceDefinition, CustomResourceDefinitionCondition

ESTABLISHED: Final = "Established"
NAMES_ACCEPTED: Final = "NamesAccepted"
TERMINATING: Final = "Terminating"
APPROVAL: Final = "KubernetesAPIApprovalPolicyConformant"


def find(
    definition: CustomResourceDefinition, type_: str
) -> CustomResourceDefinitionCondition | None:
    conditions: Iterable[CustomResourceDefinitionCondition] = definition.status.conditions or ()
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(definition: CustomResourceDefinition, type_: str) -> bool:
    condition = find(definition, type_)
    return condition is not None and condition.status == "True"


def set_condition(
    definition: CustomResourceDefinition,
    condition: CustomResourceDefinitionCondition,
    now: datetime,
) -> bool:
    """Set a condition, replacing the one of the same type; return whether anything changed."""
    present = find(definition, condition.type)
    if present is not None and _content(present) == _content(condition):
        return False
    condition = condition.deep_copy()
    if present is not None and present.status == condition.status:
        condition.last_transition_time = present.last_transition_time
    else:
        condition.last_transition_time = now
    conditions = definition.status.conditions or []
    if present is None:
        definition.status.conditions = [*conditions, condition]
    else:
        definition.status.conditions = [
            condition if other is present else other for other in conditions
        ]
    return True


def _content(condition: CustomResourceDefinitionCondition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message
