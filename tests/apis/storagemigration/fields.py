"""The fields of storagemigration.k8s.io with their numbers."""

STORAGEMIGRATION = {
    "MigratedResource": "group=1 resource=2",
    "StorageVersionMigration": "metadata=1 spec=2 status=3",
    "StorageVersionMigrationSpec": "resource=1",
    "StorageVersionMigrationStatus": "conditions=1 resourceVersion=2",
}
