"""Printer columns of CustomResourceDefinitions."""

from typing import Final

from apimachinery.meta.types import ObjectMeta
from apimachinery.scalars.time import format_time
from apis.apiextensions.v1 import CustomResourceDefinition
from apiserver.views.table import NAME, Column


def created_at(definition: CustomResourceDefinition) -> str:
    created = definition.metadata.creation_timestamp
    return format_time(created) if created else ""


DEFINITION_COLUMNS: Final = (
    NAME,
    Column(
        "Created At",
        created_at,
        type="date",
        description=str(ObjectMeta.model_fields["creation_timestamp"].description or ""),
    ),
)
