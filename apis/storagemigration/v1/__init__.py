from apis.storagemigration.v1.types import (
    MigratedResource,
    StorageVersionMigration,
    StorageVersionMigrationSpec,
    StorageVersionMigrationStatus,
)

__all__ = [
    "MigratedResource",
    "StorageVersionMigration",
    "StorageVersionMigrationSpec",
    "StorageVersionMigrationStatus",
]
