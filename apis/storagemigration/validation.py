"""Validation of StorageVersionMigrations."""

import re
from typing import Final

from apimachinery.fieldpath import FieldErrors, GoStruct, Path, invalid, required
from apimachinery.meta.conditions import is_condition_true
from apimachinery.meta.metadata_validation import validate_conditions
from apimachinery.names import is_dns1035_label, is_dns1123_subdomain
from apis.storagemigration.v1 import StorageVersionMigration
from apis.storagemigration.v1.types import FAILED, SUCCEEDED

_RESOURCE: Final = Path("spec", "resource")
_REVISION: Final = re.compile(r"[1-9][0-9]*", re.ASCII)


def validate_migration(migration: StorageVersionMigration) -> FieldErrors:
    resource = migration.spec.resource
    if not resource.resource:
        yield required(_RESOURCE.child("resource"), "resource is required to be set")
    elif problems := is_dns1035_label(resource.resource):
        yield invalid(_RESOURCE.child("resource"), resource.resource, ",".join(problems))
    if resource.group and (problems := is_dns1123_subdomain(resource.group)):
        yield invalid(_RESOURCE.child("group"), resource.group, ",".join(problems))


def validate_migration_update(
    new: StorageVersionMigration, old: StorageVersionMigration
) -> FieldErrors:
    yield from validate_migration(new)
    if new.spec != old.spec:
        resource = new.spec.resource
        shown = GoStruct(Resource={"group": resource.group, "resource": resource.resource})
        yield invalid(Path("spec"), shown, "field is immutable")


def validate_migration_status(
    new: StorageVersionMigration, old: StorageVersionMigration
) -> FieldErrors:
    version, before = new.status.resource_version, old.status.resource_version
    path = Path("status", "resourceVersion")
    if version and not _REVISION.fullmatch(version):
        yield invalid(path, version, f"resource version is not well formed: {version}")
    conditions, here = new.status.conditions, Path("status", "conditions")
    shown = conditions or None
    yield from validate_conditions(conditions, here)
    if before and before != version:
        yield invalid(path, version, "field is immutable")
    if all(is_condition_true(conditions, outcome) for outcome in (SUCCEEDED, FAILED)):
        rule = "Both success and failed conditions cannot be true at the same time"
        yield invalid(here, shown, rule)
    for outcome, noun in ((SUCCEEDED, "Success"), (FAILED, "Failed")):
        if is_condition_true(old.status.conditions, outcome) and not is_condition_true(
            conditions, outcome
        ):
            rule = f"{noun} condition cannot be set to false once it is true"
            yield invalid(here, shown, rule)
