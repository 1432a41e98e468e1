"""The conditions of a definition: what they are called, and how they are read and written."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from apis.apiextensions.v1 import CustomResourceDefinition, CustomResourceDefinitionCondition

ESTABLISHED: Final = "Established"
NAMES_ACCEPTED: Final = "NamesAccepted"
NON_STRUCTURAL: Final = "NonStructuralSchema"
TERMINATING: Final = "Terminating"
APPROVAL: Final = "KubernetesAPIApprovalPolicyConformant"


def find(
    definition: CustomResourceDefinition, type_: str
) -> CustomResourceDefinitionCondition | None:
    conditions: Iterable[CustomResourceDefinitionCondition] = definition.status.conditions or ()
    return next((found for found in conditions if found.type == type_), None)


def is_true(definition: CustomResourceDefinition, type_: str) -> bool:
    found = find(definition, type_)
    return found is not None and found.status == "True"


def set_condition(
    definition: CustomResourceDefinition, wanted: CustomResourceDefinitionCondition, now: datetime
) -> bool:
    """Put *wanted* in the place of its predecessor; says whether anything changed."""
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
            wanted if found is present else found for found in conditions
        ]
    return True


def _said(condition: CustomResourceDefinitionCondition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message
