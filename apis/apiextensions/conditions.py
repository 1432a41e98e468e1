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
    definition: CustomResourceDefinition, wanted: CustomResourceDefinitionCondition, now: datetime
) -> bool:
    """Set a condition, replacing that of the same type; return whether anything changed."""
    present = find(definition, wanted.type)
    if present is not None and _said(present) == _said(wanted):
        return False
    wanted = wanted.deep_copy()
    same_status = present is not None and present.status == wanted.status
    wanted.last_transition_time = present.last_transition_time if same_status and present else now
    conditions = definition.status.conditions or []
    if present is None:
        definition.status.conditions = [*conditions, wanted]
    else:
        definition.status.conditions = [
            wanted if condition is present else condition for condition in conditions
        ]
    return True


def _said(condition: CustomResourceDefinitionCondition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message
