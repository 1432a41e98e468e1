"""Encoding and decoding of `metadata.managedFields`."""

from typing import Any

import pytest

from apimachinery.apply.apply_errors import InvalidManagedFields
from apimachinery.apply.conflicts import (
    ApplyConflict,
    FieldConflict,
    ManagerIdentifier,
    manager_text,
)
from apimachinery.apply.field_ownership import OwnedFields
from apimachinery.apply.managed_fields import cap_managers, decode, encode, is_reset
from tests.apimachinery.apply.apply_shapes import fields, path, shown


def entry(**changes: Any) -> dict[str, Any]:
    found = {
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2024-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:a": {}}},
    } | changes
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [entry()],
        [entry(operation="Apply"), entry()],
        [entry(), entry(subresource="status")],
        [entry(apiVersion="apps/v1"), entry()],
        [entry(time=None), entry(manager="n")],
        [entry(manager=None)],
        [entry(fieldsV1={})],
    ],
)
def test_entries_are_read_and_written_back_alike(entries: list[dict[str, Any]]) -> None:
    assert encode(decode(entries)) == entries
    assert [list(found) for found in encode(decode(entries))] == [list(e) for e in entries]


def test_no_entries_are_no_managers() -> None:
    assert decode(None) == decode([]) == {}


def test_entries_stand_in_order() -> None:
    early, late = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
    entries = [
        entry(operation="Apply", time=late, manager="z"),
        entry(time=None, manager="z"),
        entry(time=early, manager="a"),
        entry(time=early, manager="b", apiVersion="v0"),
        entry(time=early, manager="b"),
        entry(time=early, manager="b", subresource="s"),
        entry(time=late, manager="c"),
    ]

    assert encode(decode(entries[::-1])) == entries


def test_an_applier_is_one_manager_in_all_versions() -> None:
    found = decode([entry(operation="Apply"), entry(operation="Apply", apiVersion="v2")])

    assert found.keys() == {ManagerIdentifier("m", "Apply")}
    assert found[ManagerIdentifier("m", "Apply")].version == "v2"


def test_an_updater_is_a_manager_for_each_version_and_subresource() -> None:
    entries = [entry(), entry(apiVersion="v2"), entry(subresource="status")]

    assert len(decode(entries)) == 3


def test_fields_without_fields_v1_are_none() -> None:
    assert not decode([entry(fieldsV1=None)])[ManagerIdentifier("m", "Update", "v1")].fields


def test_times_are_read_as_instants() -> None:
    found = decode([entry(time="2024-01-01T02:00:00.5+01:00")])

    assert encode(found)[0]["time"] == "2024-01-01T01:00:00Z"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "managedFields: expected a list, got dict"),
        ([1], "managed fields entry 0: expected an object, got int"),
        ([entry(operation=None)], "operation must be `Apply` or `Update`"),
        ([entry(operation="Patch")], "operation must be `Apply` or `Update`"),
        ([entry(operation=[])], "operation must be `Apply` or `Update`"),
        ([entry(apiVersion=None)], "apiVersion must not be empty"),
        ([entry(), entry(fieldsType=None)], "missing fieldsType in managed fields entry 1"),
        ([entry(fieldsType="V2")], 'invalid fieldsType "V2" in managed fields entry 0'),
        ([entry(manager=1)], "managed fields entry 0: manager: expected a string, got int"),
        ([entry(time="now")], "managed fields entry 0: time: "),
        ([entry(fieldsV1={"a": {}})], "error decoding set of managed fields entry 0: fieldsV1"),
    ],
)
def test_what_cannot_be_read_is_refused(entries: Any, message: str) -> None:
    with pytest.raises(InvalidManagedFields) as caught:
        decode(entries)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("entries", "reset"),
    [([], True), ([{}], True), (None, False), ([{}, {}], False), ([entry()], False), ({}, False)],
)
def test_what_asks_for_a_reset(entries: Any, reset: bool) -> None:
    assert is_reset(entries) is reset


def updaters(*versions: str) -> dict[ManagerIdentifier, OwnedFields]:
    return {
        ManagerIdentifier(f"m{number:02}", "Update", version): OwnedFields(
            fields(path(f"f{number}")), version, f"2024-01-01T00:00:{number:02}Z"
        )
        for number, version in enumerate(versions)
    }


def test_few_managers_are_left_alone() -> None:
    managers = updaters(*["v1"] * 10)

    assert cap_managers(managers) == managers


def test_the_oldest_managers_are_merged() -> None:
    capped = cap_managers(updaters(*["v1"] * 12))

    bucket = capped[ManagerIdentifier("ancient-changes", "Update", "v1")]
    assert len(capped) == 10
    assert shown(bucket.fields) == {".f0", ".f1", ".f2"}
    assert bucket.time == "2024-01-01T00:00:02Z"


def test_a_bucket_is_filled_further() -> None:
    managers = cap_managers(updaters(*["v1"] * 12))
    late = OwnedFields(fields(path("late")), "v1", "2024-01-02T00:00:00Z")

    capped = cap_managers(managers | {ManagerIdentifier("late", "Update", "v1"): late})

    assert len(capped) == 10
    assert shown(capped[ManagerIdentifier("ancient-changes", "Update", "v1")].fields) == {
        ".f0",
        ".f1",
        ".f2",
        ".f3",
    }


def test_a_bucket_that_is_not_the_oldest_is_kept() -> None:
    """A bucket can have the same time as an older manager whose name sorts first."""
    managers = updaters(*["v1"] * 10)
    bucket = ManagerIdentifier("ancient-changes", "Update", "v1")
    time = managers[ManagerIdentifier("m00", "Update", "v1")].time
    managers[bucket] = OwnedFields(fields(path("ancient")), "v1", time)
    managers[ManagerIdentifier("A", "Update", "v1")] = OwnedFields(fields(path("a")), "v1", time)

    capped = cap_managers(managers)

    assert len(capped) == 10
    assert shown(capped[bucket].fields) == {".a", ".ancient", ".f0"}


def test_there_is_a_bucket_for_each_version() -> None:
    capped = cap_managers(updaters(*["v1", "v2", "v1", "v2"], *["v3"] * 8))

    assert len(capped) == 10
    assert shown(capped[ManagerIdentifier("ancient-changes", "Update", "v1")].fields) == {
        ".f0",
        ".f2",
    }
    assert shown(capped[ManagerIdentifier("ancient-changes", "Update", "v2")].fields) == {
        ".f1",
        ".f3",
    }


def test_appliers_do_not_count() -> None:
    appliers = {
        ManagerIdentifier(f"a{n}", "Apply"): OwnedFields(fields(path("x")), "v1") for n in range(20)
    }

    assert cap_managers(appliers) == appliers


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        (ManagerIdentifier("m1", "Apply"), '"m1"'),
        (
            ManagerIdentifier('m"', "Apply", subresource="status"),
            '"m\\"" with subresource "status"',
        ),
        (ManagerIdentifier("m", "Update", "apps/v1"), '"m" using apps/v1'),
        (
            ManagerIdentifier("m", "Update", "v1", "status"),
            '"m" with subresource "status" using v1',
        ),
    ],
)
def test_managers_as_messages_show_them(manager: ManagerIdentifier, text: str) -> None:
    assert manager_text(manager) == text


def test_a_time_can_be_shown_of_an_update_only() -> None:
    time = "2024-01-01T00:00:00Z"

    assert manager_text(ManagerIdentifier("m", "Update", "v1"), time) == f'"m" using v1 at {time}'
    assert manager_text(ManagerIdentifier("m", "Apply"), time) == '"m"'


def test_one_conflict_is_told_in_one_line() -> None:
    error = ApplyConflict([FieldConflict(ManagerIdentifier("m1", "Apply"), path("data", "a"))])

    assert str(error) == 'Apply failed with 1 conflict: conflict with "m1": .data.a'
    assert (error.conflicts[0].message, error.conflicts[0].field) == (
        'conflict with "m1"',
        ".data.a",
    )


def test_many_conflicts_are_told_manager_by_manager() -> None:
    error = ApplyConflict(
        [
            FieldConflict(ManagerIdentifier("m2", "Update", "v1"), path("data", "c")),
            FieldConflict(ManagerIdentifier("m1", "Apply"), path("data", "a")),
            FieldConflict(ManagerIdentifier("m1", "Apply"), path("data", "b")),
        ]
    )

    assert str(error) == (
        'Apply failed with 3 conflicts: conflicts with "m1":\n'
        "- .data.a\n"
        "- .data.b\n"
        'conflicts with "m2" using v1:\n'
        "- .data.c"
    )
    assert error.fields() == fields(path("data", "a"), path("data", "b"), path("data", "c"))
