"""Strategy of StorageVersionMigrations."""

from apimachinery.fieldpath import FieldErrors
from apis.storagemigration.v1 import StorageVersionMigration
from apis.storagemigration.validation import (
    validate_migration,
    validate_migration_status,
    validate_migration_update,
)
from apiserver import Strategy


class StorageVersionMigrationStrategy(Strategy[StorageVersionMigration]):
    """What is migrated cannot be changed; the outcome is final."""

    qualified_finalizers = True
    allow_unconditional_update = False
    ratchets = False
    validates_conditions = True

    def validate(self, obj: StorageVersionMigration) -> FieldErrors:
        yield from validate_migration(obj)

    def validate_update(
        self, new: StorageVersionMigration, old: StorageVersionMigration
    ) -> FieldErrors:
        yield from validate_migration_update(new, old)

    def validate_status_update(
        self, new: StorageVersionMigration, old: StorageVersionMigration
    ) -> FieldErrors:
        yield from validate_migration_status(new, old)

    def desired_state(self, obj: StorageVersionMigration) -> object:
        return None
