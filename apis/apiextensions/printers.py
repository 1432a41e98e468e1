"""Printer columns of CustomResourceDefinitions."""

from typing import Final

from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.scalars.time import format_time
from apiserver.views.table import NAME, Column


def created_at(definition: Object) -> str:
    created = definition.metadata.creation_timestamp
    return format_time(created) if created else ""


DEFINITION_COLUMNS: Final = (
    NAME,
    Column(
        "Created At",
        created_at,
        type="date",
        description=str(ObjectMeta.model_fields["creation_timestamp"].description or ""),
        metadata_only=True,
    ),
)
