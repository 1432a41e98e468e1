"""StorageVersionMigrations: what is wrong with one, what may change, and how one is shown."""

from typing import Any

import pytest

from apis.storagemigration.printers import MIGRATION_COLUMNS
from apis.storagemigration.strategy import StorageVersionMigrationStrategy
from apis.storagemigration.v1 import StorageVersionMigration
from tests.apis.validating import decoded, messages

STRATEGY = StorageVersionMigrationStrategy()
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
    " alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123',"
    " regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def condition(kind: str, status: str = "True") -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": "Migrated",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def read(
    group: str = "apps", resource: str = "deployments", **status: Any
) -> StorageVersionMigration:
    spec = {"resource": {"group": group, "resource": resource}}
    document = {"metadata": {"name": "m"}, "spec": spec, "status": status}
    return decoded(StorageVersionMigration, document)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"group": ""}, []),
        (
            {"resource": ""},
            ["spec.resource.resource: Required value: resource is required to be set"],
        ),
        (
            {"group": "A_b", "resource": "Deployments"},
            [
                f'spec.resource.resource: Invalid value: "Deployments": {LABEL}',
                f'spec.resource.group: Invalid value: "A_b": {SUBDOMAIN}',
            ],
        ),
    ],
)
def test_rules(changes: dict[str, Any], expected: list[str]) -> None:
    assert messages(STRATEGY.validate(read(**changes))) == expected


def test_what_is_migrated_cannot_be_changed() -> None:
    (error,) = STRATEGY.validate_update(read(resource="replicasets"), read())

    assert str(error).startswith("spec: Invalid value: ")
    assert str(error).endswith(": field is immutable")


@pytest.mark.parametrize(
    ("status", "before", "expected"),
    [
        ({"resourceVersion": "7"}, {}, []),
        (
            {"resourceVersion": "07"},
            {},
            [
                'status.resourceVersion: Invalid value: "07": resource version is not well formed:'
                " 07"
            ],
        ),
        (
            {"resourceVersion": "8"},
            {"resourceVersion": "7"},
            ['status.resourceVersion: Invalid value: "8": field is immutable'],
        ),
        ({"conditions": [condition("Running")]}, {}, []),
    ],
)
def test_rules_of_a_status(
    status: dict[str, Any], before: dict[str, Any], expected: list[str]
) -> None:
    assert messages(STRATEGY.validate_status_update(read(**status), read(**before))) == expected


@pytest.mark.parametrize(
    ("conditions", "before", "expected"),
    [
        (
            [condition("Succeeded"), condition("Failed")],
            [],
            ["Both success and failed conditions cannot be true at the same time"],
        ),
        (
            [condition("Succeeded", "False")],
            [condition("Succeeded")],
            ["Success condition cannot be set to false once it is true"],
        ),
        (
            [],
            [condition("Failed")],
            ["Failed condition cannot be set to false once it is true"],
        ),
    ],
)
def test_the_outcome_is_final(conditions: Any, before: Any, expected: list[str]) -> None:
    errors = STRATEGY.validate_status_update(read(conditions=conditions), read(conditions=before))

    assert [error.detail for error in errors] == expected


def test_columns() -> None:
    def cells(migration: StorageVersionMigration) -> list[Any]:
        return [column.cell(migration) for column in MIGRATION_COLUMNS]

    states = [condition("Running", "False"), condition("Succeeded")]

    assert cells(read()) == ["m", "deployments.apps", "Unknown"]
    assert cells(read(group="", resource="pods", conditions=states)) == ["m", "pods", "Succeeded"]
