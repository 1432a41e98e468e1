"""FieldManager: apply to and update whole objects with their managedFields."""

from copy import deepcopy
from typing import Any

import orjson
import pytest

from apimachinery.apply import (
    ApplyConflict,
    FieldManager,
    InvalidManagedFields,
    InvalidPatch,
    InvalidValue,
    MissingVersion,
    no_other_version,
)
from apimachinery.model.type_shape import StructShape
from tests.apimachinery.apply.apply_shapes import (
    ATOMIC_LIST,
    MAP,
    SCALAR,
    SET,
    fields,
    keyed,
    path,
    struct,
)

T1, T2, T3 = (f"2024-01-0{day}T00:00:00Z" for day in (1, 2, 3))
METADATA = struct(
    {
        "name": SCALAR,
        "namespace": SCALAR,
        "uid": SCALAR,
        "resourceVersion": SCALAR,
        "labels": MAP,
        "annotations": MAP,
        "finalizers": SET,
        "managedFields": ATOMIC_LIST,
    }
)


def kind(**own: Any) -> StructShape:
    return struct({"apiVersion": SCALAR, "kind": SCALAR, "metadata": METADATA, **own})


SHAPE = kind(
    data=MAP,
    list=keyed("name", fields={"name": SCALAR, "value": SCALAR}),
    status=struct({"phase": SCALAR}),
)


@pytest.fixture
def manager() -> FieldManager:
    return FieldManager({"v1": SHAPE}, no_other_version, "v1")


def obj(data: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Build a ConfigMap with this data; *changes* with a leading underscore go into metadata."""
    metadata = {"name": "x", "namespace": "default"}
    metadata |= {name[1:]: value for name, value in changes.items() if name[0] == "_"}
    found: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    if data is not None:
        found["data"] = data
    return found | {name: value for name, value in changes.items() if name[0] != "_"}


def entries(found: dict[str, Any]) -> list[tuple[str, str, str | None, Any]]:
    return [
        (entry["manager"], entry["operation"], entry.get("time"), entry["fieldsV1"])
        for entry in found["metadata"].get("managedFields", [])
    ]


def plain(found: dict[str, Any]) -> dict[str, Any]:
    metadata = {k: v for k, v in found["metadata"].items() if k != "managedFields"}
    return found | {"metadata": metadata}


def data_fields(*names: str) -> dict[str, Any]:
    return {"f:data": {f"f:{name}": {} for name in names}}


def test_a_create_is_tracked(manager: FieldManager) -> None:
    new = obj({"a": "1"}, _labels={"l": "m"}, _uid="u")

    found = manager.update(None, new, manager="kubectl-create", time=T1)

    assert plain(found) == new
    assert found["metadata"]["managedFields"] == [
        {
            "manager": "kubectl-create",
            "operation": "Update",
            "apiVersion": "v1",
            "time": T1,
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:data": {".": {}, "f:a": {}},
                "f:metadata": {"f:labels": {".": {}, "f:l": {}}},
            },
        }
    ]


def test_a_create_starts_from_the_empty_object() -> None:
    manager = FieldManager({"v1": SHAPE}, no_other_version, "v1", empty={"data": {}, "list": None})

    found = manager.update(None, obj({"a": "1"}), manager="m", time=T1)

    assert entries(found) == [("m", "Update", T1, data_fields("a"))]


def test_fields_that_a_manager_sets_again_are_not_encoded_again(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)

    found = manager.update(live, obj({"a": "2"}), manager="m", time=T2)

    (before,), (after,) = entries(live), entries(found)
    assert after[2] == T2
    assert after[3] is before[3]


def test_inputs_are_not_changed(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)
    new, applied = obj({"a": "2"}), obj({"b": "2"})
    before = deepcopy((live, new, applied))

    manager.update(live, new, manager="m", time=T2)
    manager.apply(live, applied, manager="n", time=T2)

    assert (live, new, applied) == before


def test_an_update_moves_what_it_changes(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1", "b": "1"}), manager="one", time=T1)

    found = manager.update(live, obj({"a": "1", "b": "2"}), manager="two", time=T2)

    assert entries(found) == [
        ("one", "Update", T1, {"f:data": {".": {}, "f:a": {}}}),
        ("two", "Update", T2, data_fields("b")),
    ]


def test_an_update_adds_to_what_its_manager_has(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="one", time=T1)

    found = manager.update(live, obj({"a": "1", "b": "2"}), manager="one", time=T2)

    assert entries(found) == [("one", "Update", T2, {"f:data": {".": {}, "f:a": {}, "f:b": {}}})]


def test_an_update_that_changes_nothing_keeps_every_byte(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}, _uid="u"), manager="one", time=T1)
    live = manager.apply(live, obj({"b": "1"}), manager="two", time=T2)
    live = orjson.loads(orjson.dumps(live))

    found = manager.update(live, obj({"a": "1", "b": "1"}, _uid="u"), manager="one", time=T3)

    assert orjson.dumps(found["metadata"]["managedFields"]) == orjson.dumps(
        live["metadata"]["managedFields"]
    )


def test_an_update_to_fields_nobody_owns_leaves_no_entry(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="one", time=T1)

    found = manager.update(live, obj({"a": "1"}, _resourceVersion="7"), manager="two", time=T2)

    assert entries(found) == entries(live)


def test_managers_without_a_name_are_unknown(manager: FieldManager) -> None:
    found = manager.update(None, obj({"a": "1"}), manager="", time=T1)

    assert entries(found)[0][0] == "unknown"


def test_a_subresource_has_entries_of_its_own(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)
    new = obj({"a": "1"}, status={"phase": "x"})

    found = manager.update(live, new, manager="m", time=T2, subresource="status")

    assert [entry.get("subresource") for entry in found["metadata"]["managedFields"]] == [
        None,
        "status",
    ]


def test_clients_that_send_no_managed_fields_keep_them(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)

    assert entries(manager.update(live, obj({"a": "1"}), manager="n", time=T2)) == entries(live)


def test_managed_fields_can_be_edited(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)
    sent = deepcopy(live)
    sent["metadata"]["managedFields"][0]["manager"] = "other"

    found = manager.update(live, sent, manager="m", time=T2)

    assert [entry[0] for entry in entries(found)] == ["other"]


def test_managed_fields_cannot_be_edited_through_a_subresource(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)
    sent = obj({"a": "1"}, _managedFields=[{}])

    assert entries(manager.update(live, sent, manager="m", time=T2, subresource="status")) == (
        entries(live)
    )


def test_unreadable_managed_fields_of_a_client_are_passed_over(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)
    sent = obj({"a": "1"}, _managedFields=[{"manager": "x"}])

    assert entries(manager.update(live, sent, manager="m", time=T2)) == entries(live)


@pytest.mark.parametrize("reset", [[], [{}]])
def test_managed_fields_can_be_reset(manager: FieldManager, reset: list[Any]) -> None:
    live = manager.update(None, obj({"a": "1"}, _uid="u"), manager="m", time=T1)
    sent = obj({"a": "2"}, _uid="u", _managedFields=reset)

    found = manager.update(live, sent, manager="m", time=T2)

    assert "managedFields" not in found["metadata"]
    assert found["data"] == {"a": "2"}


def test_an_object_without_managed_fields_goes_on_without(manager: FieldManager) -> None:
    live = obj({"a": "1"}, _uid="u")

    found = manager.update(live, obj({"a": "2"}, _uid="u"), manager="m", time=T1)

    assert found == obj({"a": "2"}, _uid="u")


def test_many_updaters_are_merged(manager: FieldManager) -> None:
    live: dict[str, Any] | None = None
    for number in range(12):
        data = {f"k{n}": "v" for n in range(number + 1)}
        time = f"2024-01-01T00:00:{number:02}Z"
        live = manager.update(live, obj(data), manager=f"m{number}", time=time)

    assert live is not None
    names = [entry[0] for entry in entries(live)]
    assert len(names) == 10
    assert names[0] == "ancient-changes"


def test_a_first_apply_creates(manager: FieldManager) -> None:
    found = manager.apply(None, obj({"a": "1"}), manager="kubectl", time=T1)

    assert plain(found) == obj({"a": "1"})
    assert entries(found) == [("kubectl", "Apply", T1, data_fields("a"))]


def test_applying_again_gives_an_equal_object(manager: FieldManager) -> None:
    applied = obj({"a": "1"}, list=[{"name": "x", "value": 1}], _finalizers=["f"], _labels={})
    live = manager.apply(None, applied, manager="m", time=T1)
    live["metadata"]["uid"] = "u"
    live["metadata"]["resourceVersion"] = "1"

    found = manager.apply(live, applied, manager="m", time=T2)

    assert orjson.dumps(found, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        live, option=orjson.OPT_SORT_KEYS
    )


def test_sharing_ownership_changes_only_managed_fields(manager: FieldManager) -> None:
    """As in Kubernetes, an applier that has changed nothing has no time."""
    live = manager.apply(None, obj({"a": "1"}), manager="one", time=T1)

    found = manager.apply(live, obj({"a": "1"}), manager="two", time=T2)

    assert plain(found) == plain(live)
    assert entries(found) == [
        ("two", "Apply", None, data_fields("a")),
        ("one", "Apply", T1, data_fields("a")),
    ]


def test_a_changed_value_changes_the_time(manager: FieldManager) -> None:
    live = manager.apply(None, obj({"a": "1"}), manager="m", time=T1)

    found = manager.apply(live, obj({"a": "2"}), manager="m", time=T2)

    assert entries(found) == [("m", "Apply", T2, data_fields("a"))]


def test_what_is_no_longer_applied_is_removed(manager: FieldManager) -> None:
    live = manager.apply(None, obj({"a": "1", "b": "1"}), manager="one", time=T1)
    live = manager.apply(live, obj({"b": "1", "c": "1"}), manager="two", time=T1)

    found = manager.apply(live, obj(), manager="one", time=T2)

    assert found["data"] == {"b": "1", "c": "1"}
    assert [entry[0] for entry in entries(found)] == ["two"]


def test_a_conflict_says_who_and_what(manager: FieldManager) -> None:
    live = manager.apply(None, obj({"a": "1"}), manager="m1", time=T1)

    with pytest.raises(ApplyConflict) as caught:
        manager.apply(live, obj({"a": "2"}), manager="m2", time=T2)

    assert str(caught.value) == 'Apply failed with 1 conflict: conflict with "m1": .data.a'
    assert caught.value.conflicts[0].time == T1


def test_a_conflict_with_updaters_says_their_version(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1", "b": "1"}), manager="m1", time=T1)

    with pytest.raises(ApplyConflict) as caught:
        manager.apply(live, obj({"a": "2", "b": "2"}), manager="m2", time=T2)

    assert str(caught.value) == (
        'Apply failed with 2 conflicts: conflicts with "m1" using v1:\n- .data.a\n- .data.b'
    )


def test_force_takes_over(manager: FieldManager) -> None:
    live = manager.apply(None, obj({"a": "1"}), manager="one", time=T1)

    found = manager.apply(live, obj({"a": "2"}), manager="two", time=T2, force=True)

    assert found["data"] == {"a": "2"}
    assert entries(found) == [("two", "Apply", T2, data_fields("a"))]


def test_an_object_from_before_has_an_owner_when_first_applied_to(manager: FieldManager) -> None:
    live = obj({"a": "1", "b": "1"}, _uid="u")

    found = manager.apply(live, obj({"a": "1"}), manager="m", time=T1)

    assert entries(found) == [
        ("m", "Apply", None, data_fields("a")),
        ("before-first-apply", "Update", T1, {"f:data": {".": {}, "f:a": {}, "f:b": {}}}),
    ]
    with pytest.raises(ApplyConflict, match='"before-first-apply" using v1'):
        manager.apply(live, obj({"a": "2"}), manager="m", time=T1)


def test_applied_managed_fields_are_refused(manager: FieldManager) -> None:
    with pytest.raises(InvalidPatch) as caught:
        manager.apply(None, obj({}, _managedFields=[]), manager="m", time=T1)

    assert str(caught.value) == "metadata.managedFields must be nil"


@pytest.mark.parametrize(("version", "text"), [("v2", "v2"), ("", ""), (None, "")])
def test_another_version_is_refused(manager: FieldManager, version: Any, text: str) -> None:
    with pytest.raises(InvalidPatch) as caught:
        manager.apply(None, obj() | {"apiVersion": version}, manager="m", time=T1)

    assert str(caught.value) == (
        f"Incorrect version specified in apply patch. Specified patch version: {text}, expected: v1"
    )


def test_an_undeclared_field_is_refused(manager: FieldManager) -> None:
    with pytest.raises(InvalidValue) as caught:
        manager.apply(None, obj({}, spec={"x": 1}), manager="m", time=T1)

    assert str(caught.value) == (
        "failed to create typed patch object (default/x; /v1, Kind=ConfigMap): "
        ".spec: field not declared in schema"
    )


def test_unreadable_stored_managed_fields_fail_an_apply(manager: FieldManager) -> None:
    live = obj({}, _managedFields=[{"operation": "x"}])

    with pytest.raises(InvalidManagedFields, match="failed to decode managed fields: operation"):
        manager.apply(live, obj({}), manager="m", time=T1)


def test_unreadable_stored_managed_fields_do_not_fail_an_update(manager: FieldManager) -> None:
    live = obj({}, _managedFields=[{"operation": "x"}])

    found = manager.update(live, obj({"a": "1"}), manager="m", time=T1)

    assert entries(found) == [("m", "Update", T1, data_fields("a"))]


def test_an_update_that_fails_can_keep_what_is_stored(manager: FieldManager) -> None:
    live = manager.update(None, obj({"a": "1"}), manager="m", time=T1)
    new = obj({"a": "2"}, typo=1)

    with pytest.raises(InvalidValue):
        manager.update(live, new, manager="m", time=T2)
    found = manager.update_or_keep(live, new, manager="m", time=T2)

    assert plain(found) == new
    assert entries(found) == entries(live)


def test_reset_fields_are_not_owned() -> None:
    reset = {"v1": fields(path("status"))}
    manager = FieldManager({"v1": SHAPE}, no_other_version, "v1", reset_fields=reset)
    new = obj({"a": "1"}, status={"phase": "x"})

    assert entries(manager.apply(None, new, manager="m", time=T1)) == [
        ("m", "Apply", T1, data_fields("a"))
    ]


def last_applied(data: dict[str, Any], **changes: Any) -> dict[str, str]:
    text = orjson.dumps(obj(data, **changes)).decode()
    return {"kubectl.kubernetes.io/last-applied-configuration": text}


def test_kubectl_takes_over_what_it_applied_client_side(manager: FieldManager) -> None:
    annotations = last_applied({"a": "1", "b": "1"})
    live = obj({"a": "1", "b": "1"}, _annotations=annotations)
    live = manager.update(None, live, manager="kubectl-client-side-apply", time=T1)

    found = manager.apply(live, obj({"a": "2", "b": "1"}), manager="kubectl", time=T2)

    assert found["data"] == {"a": "2", "b": "1"}
    assert entries(found)[0] == ("kubectl", "Apply", T2, data_fields("a", "b"))


def test_other_managers_do_not_take_over_from_client_side(manager: FieldManager) -> None:
    live = obj({"a": "1"}, _annotations=last_applied({"a": "1"}))
    live = manager.update(None, live, manager="kubectl-client-side-apply", time=T1)

    with pytest.raises(ApplyConflict):
        manager.apply(live, obj({"a": "2"}), manager="other", time=T2)


def test_kubectl_does_not_take_over_what_has_changed_since(manager: FieldManager) -> None:
    live = obj({"a": "1", "b": "9"}, _annotations=last_applied({"a": "1", "b": "1"}))
    live = manager.update(None, live, manager="kubectl-edit", time=T1)

    with pytest.raises(ApplyConflict) as caught:
        manager.apply(live, obj({"a": "2", "b": "2"}), manager="kubectl", time=T2)

    assert [found.field for found in caught.value.conflicts] == [".data.b"]


@pytest.mark.parametrize(
    "annotations",
    [
        {"kubectl.kubernetes.io/last-applied-configuration": "{"},
        {"kubectl.kubernetes.io/last-applied-configuration": "[]"},
        last_applied({"a": "1"}, apiVersion="v2"),
        last_applied({"a": "1"}, typo=1),
        {},
    ],
)
def test_an_annotation_that_cannot_be_used_allows_nothing(
    manager: FieldManager, annotations: dict[str, str]
) -> None:
    live = obj({"a": "1"}, _annotations=annotations)
    live = manager.update(None, live, manager="kubectl-client-side-apply", time=T1)

    with pytest.raises(ApplyConflict):
        manager.apply(live, obj({"a": "2"}), manager="kubectl", time=T2)


def swap(value: dict[str, Any], version: str) -> dict[str, Any]:
    """Convert between v1, which has `data`, and v2, which calls it `content`."""
    if version not in ("v1", "v2"):
        raise MissingVersion(version)
    names = {"v1": {"content": "data"}, "v2": {"data": "content"}}[version]
    return {names.get(name, name): item for name, item in value.items()} | {"apiVersion": version}


SHAPES = {"v1": kind(data=MAP), "v2": kind(content=MAP)}


def test_each_entry_is_in_its_own_version() -> None:
    old, new = FieldManager(SHAPES, swap, "v1"), FieldManager(SHAPES, swap, "v2")
    live = old.apply(None, obj({"a": "1", "b": "1"}), manager="one", time=T1)
    second = obj(content={"b": "2"}) | {"apiVersion": "v2"}

    with pytest.raises(ApplyConflict, match=r'conflict with "one": \.data\.b'):
        new.apply(live, second, manager="two", time=T2)
    found = new.apply(live, second, manager="two", time=T2, force=True)

    assert found["apiVersion"] == "v2"
    assert found["content"] == {"a": "1", "b": "2"}
    assert entries(found) == [
        ("one", "Apply", T1, data_fields("a")),
        ("two", "Apply", T2, {"f:content": {"f:b": {}}}),
    ]


def test_entries_of_versions_that_are_gone_vanish() -> None:
    manager = FieldManager(SHAPES, swap, "v2")
    live = obj(content={"a": "1"}) | {"apiVersion": "v2"}
    gone = {"manager": "m", "operation": "Update", "apiVersion": "v0", "fieldsType": "FieldsV1"}
    live["metadata"]["managedFields"] = [gone | {"fieldsV1": data_fields("a")}]

    found = manager.update(live, plain(live) | {"content": {"a": "2"}}, manager="n", time=T2)

    assert entries(found) == [("n", "Update", T2, {"f:content": {"f:a": {}}})]
