"""The group storagemigration.k8s.io as a server installs it."""

from typing import Final

from apis.storagemigration import GROUP, v1
from apis.storagemigration.printers import MIGRATION_COLUMNS
from apis.storagemigration.register import add_to_scheme
from apis.storagemigration.strategy import StorageVersionMigrationStrategy
from apiserver import STATUS, Group, Resource

STORAGEMIGRATION: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "storageversionmigrations",
            v1.StorageVersionMigration,
            StorageVersionMigrationStrategy(),
            namespaced=False,
            announced_storage_version="v1beta1",
            subresources=(STATUS,),
            columns=MIGRATION_COLUMNS,
            roles=(),
        ),
    ),
)
