"""Printer columns of StorageVersionMigrations."""

from typing import Final

from apis.storagemigration.v1 import StorageVersionMigration
from apis.storagemigration.v1.types import FAILED, RUNNING, SUCCEEDED
from apiserver.views.table import Column

_STATES: Final = (RUNNING, FAILED, SUCCEEDED)


def migration_name(migration: StorageVersionMigration) -> str:
    return migration.metadata.name


def migrated_resource(migration: StorageVersionMigration) -> str:
    resource = migration.spec.resource
    return f"{resource.resource}.{resource.group}" if resource.group else resource.resource


def state(migration: StorageVersionMigration) -> str:
    """Return the last condition that is true."""
    true = [one.type for one in migration.status.conditions if one.status == "True"]
    return next((name for name in reversed(true) if name in _STATES), "Unknown")


MIGRATION_COLUMNS: Final = (
    # Kubernetes does not mark this column as the name.
    Column("Name", migration_name, description="Name of the migration."),
    Column("Resource", migrated_resource, description="Resource whose objects are migrated."),
    Column("Status", state, description="State of the migration."),
)
