"""Printer columns of CustomResourceDefinitions."""

from typing import Final

from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.scalars.time import format_time
from apis.apiextensions.v1 import CustomResourceDefinition
from apiserver.views.table import NAME, Column


def created_at(definition: Object) -> str:
    created = definition.metadata.creation_timestamp
    return format_time(created) if created else ""


def served_versions(definition: CustomResourceDefinition) -> str:
    """Return the served versions by name; the one that objects are stored in is marked."""
    versions = (version for version in definition.spec.versions if version.served)
    return ",".join(
        sorted(f"{each.name}(storage)" if each.storage else each.name for each in versions)
    )


def is_established(definition: CustomResourceDefinition) -> bool:
    return any(
        condition.type == "Established" and condition.status == "True"
        for condition in definition.status.conditions or ()
    )


DEFINITION_COLUMNS: Final = (
    NAME,
    Column("Scope", lambda definition: definition.spec.scope, description="Scope of the objects."),
    Column("Versions", served_versions, description="Served versions."),
    Column(
        "Created At",
        created_at,
        type="date",
        description=str(ObjectMeta.model_fields["creation_timestamp"].description or ""),
        metadata_only=True,
    ),
    Column("Group", lambda definition: definition.spec.group, priority=1, description="API group."),
    Column(
        "Kind",
        lambda definition: definition.spec.names.kind,
        priority=1,
        description="Kind of the objects.",
    ),
    Column(
        "ShortNames",
        lambda definition: ",".join(definition.spec.names.short_names),
        priority=1,
        description="Short names of the resource.",
    ),
    Column(
        "Established",
        is_established,
        type="boolean",
        priority=1,
        description="Whether the resource is served.",
    ),
)
