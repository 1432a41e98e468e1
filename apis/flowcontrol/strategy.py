"""Strategies of FlowSchemas and PriorityLevelConfigurations."""

from apimachinery.fieldpath import FieldErrors
from apis.flowcontrol.v1 import FlowSchema, PriorityLevelConfiguration
from apis.flowcontrol.validation.conditions import validate_conditions
from apis.flowcontrol.validation.flow_schema import validate_flow_schema
from apis.flowcontrol.validation.priority_level import validate_priority_level
from apiserver import Strategy


class FlowSchemaStrategy(Strategy[FlowSchema]):
    """The specs of mandatory schemas are fixed."""

    qualified_finalizers = True

    def validate(self, obj: FlowSchema) -> FieldErrors:
        yield from validate_flow_schema(obj)

    def validate_status_update(self, new: FlowSchema, old: FlowSchema) -> FieldErrors:
        yield from validate_conditions(new.status.conditions)


class PriorityLevelStrategy(Strategy[PriorityLevelConfiguration]):
    """The specs of mandatory levels are fixed, except for the seats of the exempt one."""

    qualified_finalizers = True

    def validate(self, obj: PriorityLevelConfiguration) -> FieldErrors:
        yield from validate_priority_level(obj)

    def validate_status_update(
        self, new: PriorityLevelConfiguration, old: PriorityLevelConfiguration
    ) -> FieldErrors:
        yield from validate_conditions(new.status.conditions)
