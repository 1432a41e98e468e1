"""Validation of the conditions of FlowSchemas and PriorityLevelConfigurations."""

from collections.abc import Sequence

from apimachinery.fieldpath import FieldErrors, Path, duplicate, required
from apis.flowcontrol.v1 import FlowSchemaCondition, PriorityLevelConfigurationCondition

AnyCondition = FlowSchemaCondition | PriorityLevelConfigurationCondition


def validate_conditions(conditions: Sequence[AnyCondition]) -> FieldErrors:
    """Yield an error for each condition without a type, or with the type of an earlier one."""
    types: set[str] = set()
    for position, condition in enumerate(conditions):
        path = Path("status", "conditions").index(position).child("type")
        if condition.type in types:
            yield duplicate(path, condition.type)
        types.add(condition.type)
        if not condition.type:
            yield required(path)
