"""Printer columns of FlowSchemas and PriorityLevelConfigurations."""

from typing import Final

from apis.flowcontrol.v1 import FlowSchema, PriorityLevelConfiguration, QueuingConfiguration
from apis.flowcontrol.v1.flow_schema import DANGLING
from apiserver.views.table import AGE, NAME, Column

_NONE: Final = "<none>"


def level(schema: FlowSchema) -> str:
    return schema.spec.priority_level_configuration.name


def precedence(schema: FlowSchema) -> int:
    return schema.spec.matching_precedence


def distinguisher(schema: FlowSchema) -> str:
    method = schema.spec.distinguisher_method
    return method.type if method is not None else _NONE


def missing_level(schema: FlowSchema) -> str:
    dangling = (c.status for c in schema.status.conditions if c.type == DANGLING)
    return next(dangling, "?")


def enablement(configuration: PriorityLevelConfiguration) -> str:
    return configuration.spec.type


def shares(configuration: PriorityLevelConfiguration) -> int | str | None:
    limited = configuration.spec.limited
    return limited.nominal_concurrency_shares if limited is not None else _NONE


def queues(configuration: PriorityLevelConfiguration) -> int | str:
    queuing = _queuing(configuration)
    return queuing.queues if queuing is not None else _NONE


def hand_size(configuration: PriorityLevelConfiguration) -> int | str:
    queuing = _queuing(configuration)
    return queuing.hand_size if queuing is not None else _NONE


def queue_length_limit(configuration: PriorityLevelConfiguration) -> int | str:
    queuing = _queuing(configuration)
    return queuing.queue_length_limit if queuing is not None else _NONE


def _queuing(configuration: PriorityLevelConfiguration) -> QueuingConfiguration | None:
    limited = configuration.spec.limited
    return limited.limit_response.queuing if limited is not None else None


FLOW_SCHEMA_COLUMNS: Final = (
    NAME,
    Column("PriorityLevel", level, description="Priority level of the matching requests."),
    Column(
        "MatchingPrecedence",
        precedence,
        description="Order among the schemas that match a request.",
    ),
    Column(
        "DistinguisherMethod", distinguisher, description="Division of the requests into flows."
    ),
    AGE,
    Column("MissingPL", missing_level, description="Whether the priority level is missing."),
)

PRIORITY_LEVEL_COLUMNS: Final = (
    Column("Type", enablement, description="Limited or Exempt."),
    Column(
        "NominalConcurrencyShares", shares, description="Share of the server's execution seats."
    ),
    Column("Queues", queues, description="Number of queues."),
    Column("HandSize", hand_size, description="Number of queues that one flow uses."),
    Column(
        "QueueLengthLimit", queue_length_limit, description="Requests that may wait in one queue."
    ),
)
