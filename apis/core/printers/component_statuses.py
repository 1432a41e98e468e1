"""Printer columns of ComponentStatuses."""

from typing import Final

from apis.core.v1.component_status import HEALTHY, ComponentCondition, ComponentStatus
from apiserver import Column
from apiserver.views.table import NAME


def _health(status: ComponentStatus) -> ComponentCondition:
    known = (condition for condition in status.conditions if condition.type == HEALTHY)
    return next(known, ComponentCondition())


def _shown(status: ComponentStatus) -> str:
    match _health(status):
        case ComponentCondition(type=""):
            return "Unknown"
        case ComponentCondition(status="True"):
            return "Healthy"
        case _:
            return "Unhealthy"


COMPONENT_STATUS_COLUMNS: Final = (
    NAME,
    Column("Status", _shown, description="Whether the component is healthy."),
    Column(
        "Message",
        lambda status: _health(status).message,
        description="What the health check of the component answered.",
    ),
    Column(
        "Error",
        lambda status: _health(status).error,
        description="Reason why the health check failed.",
    ),
)
