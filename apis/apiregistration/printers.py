"""Printer columns of APIServices."""

from typing import Final

from apis.apiregistration.v1 import APIService
from apis.apiregistration.v1.types import AVAILABLE
from apiserver.views.table import Column


def service(obj: APIService) -> str:
    reference = obj.spec.service
    return "Local" if reference is None else f"{reference.namespace}/{reference.name}"


def availability(obj: APIService) -> str:
    for condition in obj.status.conditions:
        if condition.type == AVAILABLE:
            if condition.status == "True" or not condition.reason:
                return condition.status
            return f"{condition.status} ({condition.reason})"
    return "Unknown"


API_SERVICE_COLUMNS: Final = (
    Column("Service", service, description="Service that serves the group version."),
    Column("Available", availability, description="Whether the service is available."),
)
