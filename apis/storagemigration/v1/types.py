"""StorageVersionMigration: a request to store all objects of a resource again."""

from typing import Final

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field

RUNNING: Final = "Running"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"


class MigratedResource(Model, definition="io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource"):
    """Group and name of a resource."""

    group: str = field("", proto=1, omit_empty=False, doc="API group; empty for the core group.")
    resource: str = field("", proto=2, omit_empty=False, doc="Name of the resource. Required.")


class StorageVersionMigrationSpec(Model):
    """The resource whose objects are migrated."""

    resource: MigratedResource = field(
        default_factory=MigratedResource,
        proto=1,
        required=True,
        doc="Group and name of the resource. Required, and immutable.",
    )


class StorageVersionMigrationStatus(Model):
    """Progress of a migration."""

    conditions: list[Condition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Current conditions: Running, Succeeded, Failed.",
    )
    resource_version: str = field(
        "",
        proto=2,
        doc="The resourceVersion up to which objects are migrated; set when the migration starts.",
    )


class StorageVersionMigration(Object):
    """StorageVersionMigration requests that all objects of a resource are stored in its current
    storage version.
    """

    spec: StorageVersionMigrationSpec = field(
        default_factory=StorageVersionMigrationSpec, proto=2, doc="What is migrated."
    )
    status: StorageVersionMigrationStatus = field(
        default_factory=StorageVersionMigrationStatus, proto=3, doc="Progress of the migration."
    )
