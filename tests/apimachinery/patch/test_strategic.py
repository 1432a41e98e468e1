"""Applying strategic merge patches: by type, by directive, and invalid patches."""

import copy
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.patch import strategic
from apimachinery.patch.json_values import MAX_DEPTH, equal
from apimachinery.patch.patch_errors import MalformedPatch, PatchError, PatchFailed
from tests.apimachinery.patch.strategic_shapes import POD, SPEC


def names(*values: Any) -> list[dict[str, Any]]:
    return [{"name": value} for value in values]


MERGES: dict[str, tuple[Any, Any, Any]] = {
    "nothing": ({"replicas": 1}, {}, {"replicas": 1}),
    "a scalar": ({"replicas": 1}, {"replicas": 2}, {"replicas": 2}),
    "null deletes": ({"replicas": 1, "raw": 1}, {"replicas": None}, {"raw": 1}),
    "null of nothing": ({}, {"replicas": None, "unknown": None}, {}),
    "maps merge": (
        {"nodeSelector": {"a": "1", "b": "2"}},
        {"nodeSelector": {"b": None, "c": "3"}},
        {"nodeSelector": {"a": "1", "c": "3"}},
    ),
    "a struct that apply sees as atomic merges": (
        {"selector": {"matchLabels": {"a": "1"}}},
        {"selector": {"matchLabels": {"b": "2"}}},
        {"selector": {"matchLabels": {"a": "1", "b": "2"}}},
    ),
    "a map declared to be replaced": (
        {"whole": {"a": 1}},
        {"whole": {"b": 2}},
        {"whole": {"b": 2}},
    ),
    "lists are replaced": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
    ),
    "keyed lists merge, unknown elements come first": (
        {"containers": [{"name": "a", "image": "1"}, {"name": "b"}]},
        {"containers": [{"name": "a", "args": ["x"]}, {"name": "c"}]},
        {"containers": [{"name": "a", "image": "1", "args": ["x"]}, {"name": "c"}, {"name": "b"}]},
    ),
    "keyed lists merge inside of elements": (
        {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "http"}]}]},
        {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "web"}]}]},
        {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "web"}]}]},
    ),
    "a key of another type is another element": (
        {"containers": [{"name": "a", "ports": [{"containerPort": 1}]}]},
        {"containers": [{"name": "a", "ports": [{"containerPort": True}]}]},
        {"containers": [{"name": "a", "ports": [{"containerPort": True}, {"containerPort": 1}]}]},
    ),
    "a field of an element is deleted": (
        {"containers": [{"name": "a", "image": "1"}]},
        {"containers": [{"name": "a", "image": None}]},
        {"containers": names("a")},
    ),
    "two patches of one element": (
        {"containers": names("a")},
        {"containers": [{"name": "a", "image": "1"}, {"name": "a", "args": []}]},
        {"containers": [{"name": "a", "image": "1", "args": []}]},
    ),
    "an empty patch of a keyed list": (
        {"containers": names("a")},
        {"containers": []},
        {"containers": names("a")},
    ),
    "a map of structs": (
        {"byName": {"x": {"name": "x", "env": names("a")}}},
        {"byName": {"x": {"env": names("b")}}},
        {"byName": {"x": {"name": "x", "env": names("b", "a")}}},
    ),
    "a type below itself": (
        {"pod": {"spec": {"containers": names("a")}}},
        {"pod": {"spec": {"containers": [{"name": "a", "image": "1"}]}}},
        {"pod": {"spec": {"containers": [{"name": "a", "image": "1"}]}}},
    ),
    "another type wins": (
        {"nodeSelector": "x", "containers": {"a": 1}, "raw": [1]},
        {"nodeSelector": {"a": "1"}, "containers": names("a"), "raw": {"b": 2}},
        {"nodeSelector": {"a": "1"}, "containers": names("a"), "raw": {"b": 2}},
    ),
    "untyped values merge as a JSON merge patch": (
        {"raw": {"a": {"b": 1, "c": 2}, "l": [{"name": "x"}]}},
        {"raw": {"a": {"b": None, "d": None}, "l": [{"name": "y", "z": None}]}},
        {"raw": {"a": {"c": 2}, "l": [{"name": "y", "z": None}]}},
    ),
    "new fields come without nulls": (
        {},
        {"containers": [{"name": "a", "image": None}], "raw": {"a": None, "b": [{"c": None}]}},
        {"containers": names("a"), "raw": {"b": [{}]}},
    ),
    "new fields of no declared name": ({}, {"bogus": {"a": 1}}, {"bogus": {"a": 1}}),
}

DIRECTIVES: dict[str, tuple[Any, Any, Any]] = {
    "replace a map": (
        {"nodeSelector": {"a": "1"}},
        {"nodeSelector": {"$patch": "replace", "b": "2"}},
        {"nodeSelector": {"b": "2"}},
    ),
    "replace everything": ({"replicas": 1}, {"$patch": "replace", "raw": 1}, {"raw": 1}),
    "delete a map": (
        {"nodeSelector": {"a": "1"}, "replicas": 1},
        {"nodeSelector": {"$patch": "delete"}},
        {"nodeSelector": {}, "replicas": 1},
    ),
    "replace or delete what is not there": (
        {"replicas": 1},
        {"nodeSelector": {"$patch": "replace", "a": "1"}, "strategy": {"$patch": "delete"}},
        {"replicas": 1},
    ),
    "delete an element": (
        {"containers": names("a", "b", "c")},
        {"containers": [{"name": "b", "$patch": "delete"}]},
        {"containers": names("a", "c")},
    ),
    "delete all elements of a name": (
        {"containers": names("a", "b", "a")},
        {"containers": [{"name": "a", "$patch": "delete"}]},
        {"containers": names("b")},
    ),
    "delete an element that is not there": (
        {"containers": names("a")},
        {"containers": [{"name": "x", "$patch": "delete"}]},
        {"containers": names("a")},
    ),
    "delete and add the same": (
        {"containers": [{"name": "a", "image": "1"}]},
        {"containers": [{"name": "a", "args": ["x"]}, {"name": "a", "$patch": "delete"}]},
        {"containers": [{"name": "a", "args": ["x"]}]},
    ),
    "replace a keyed list": (
        {"containers": names("a", "b")},
        {"containers": [{"$patch": "replace"}, {"name": "c"}, {"name": "x", "$patch": "delete"}]},
        {"containers": names("c")},
    ),
    "empty a keyed list": (
        {"containers": names("a", "b")},
        {"containers": [{"$patch": "replace"}]},
        {"containers": []},
    ),
    "directives of a new list": (
        {},
        {"containers": [{"name": "a"}, {"name": "b", "$patch": "delete"}]},
        {"containers": names("a")},
    ),
    "directives inside of new objects": (
        {},
        {
            "strategy": {"$retainKeys": ["type"], "type": "Recreate"},
            "pod": {"$setElementOrder/x": [], "$deleteFromPrimitiveList/x": [1], "spec": {}},
        },
        {"strategy": {"type": "Recreate"}, "pod": {"spec": {}}},
    ),
    "directives inside of replaced lists": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"$patch": "replace"}, {"key": "b", "value": None}]},
        {"tolerations": [{"key": "b", "value": None}]},
    ),
    "retain keys": (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"surge": 1}}},
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
        {"strategy": {"type": "Recreate"}},
    ),
    "retain keys that the patch leaves alone": (
        {"strategy": {"type": "A", "rollingUpdate": {}}},
        {"strategy": {"$retainKeys": ["type"], "rollingUpdate": None}},
        {"strategy": {"type": "A"}},
    ),
    "retain keys of an element": (
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {
            "volumes": [
                {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}
            ]
        },
        {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
    ),
}


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [*MERGES.values(), *DIRECTIVES.values()],
    ids=[*MERGES, *DIRECTIVES],
)
def test_patches_give_the_expected_document(document: Any, patch: Any, expected: Any) -> None:
    before = copy.deepcopy((document, patch))

    assert equal(strategic.apply(document, patch, SPEC), expected)
    assert (document, patch) == before


PRIMITIVE_LISTS: dict[str, tuple[Any, Any, Any]] = {
    "values are added, new ones first": (["a", "b"], {"finalizers": ["c", "b"]}, ["c", "a", "b"]),
    "values are unique": (["a", "b", "a"], {"finalizers": ["b"]}, ["a", "b"]),
    "values are deleted": (
        ["a", "b", "a", "c"],
        {"$deleteFromPrimitiveList/finalizers": ["a", "x"]},
        ["b", "c"],
    ),
    "values are added and deleted": (
        ["a", "b"],
        {"finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["b"]},
        ["c", "a"],
    ),
    "the order is set": (
        ["a", "b", "c"],
        {"$setElementOrder/finalizers": ["c", "b", "a"]},
        ["c", "b", "a"],
    ),
    "the order is set and values of the server stay": (
        [1, 4, 2],
        {"$setElementOrder/finalizers": [3, 1, 2], "finalizers": [3]},
        [3, 1, 4, 2],
    ),
    "the order is set and a value deleted": (
        ["a", "b", "c", "d"],
        {
            "$setElementOrder/finalizers": ["b", "a"],
            "$deleteFromPrimitiveList/finalizers": ["c"],
        },
        ["b", "a", "d"],
    ),
    "the order of a new list": (
        None,
        {"$setElementOrder/finalizers": ["a", "b"], "finalizers": ["a", "b"]},
        ["a", "b"],
    ),
    "an order of an empty list": ([], {"$setElementOrder/finalizers": ["a"]}, []),
    "an order of no list": (None, {"$setElementOrder/finalizers": ["a"]}, None),
    "deletions from no list": (None, {"$deleteFromPrimitiveList/finalizers": ["a"]}, None),
    "no deletions at all": (["a"], {"$deleteFromPrimitiveList/finalizers": None}, None),
}


@pytest.mark.parametrize(
    ("before", "patch", "after"), PRIMITIVE_LISTS.values(), ids=PRIMITIVE_LISTS
)
def test_lists_of_primitives_merge_as_sets(before: Any, patch: Any, after: Any) -> None:
    document: Any = {"metadata": {} if before is None else {"finalizers": before}}

    result: Any = strategic.apply(document, {"metadata": patch}, POD)

    assert result["metadata"] == ({} if after is None else {"finalizers": after})


def deleted(*values: str) -> list[dict[str, Any]]:
    return [{"name": value, "$patch": "delete"} for value in values]


ORDERS: dict[str, tuple[list[Any], list[Any] | None, list[Any], list[Any]]] = {
    "only the order changes": (names("a", "b"), None, names("b", "a"), names("b", "a")),
    "an element is put first": (
        names("a", "b"), names("c"), names("c", "a", "b"), names("c", "a", "b"),
    ),
    "elements are put between": (
        names("1", "2"), names("4", "3"), names("1", "4", "2", "3"), names("1", "4", "2", "3"),
    ),
    "the server's own stay behind what they followed": (
        names("a", "server", "b"), None, names("a", "b"), names("a", "server", "b"),
    ),
    "new elements come before the server's own": (
        names("a", "server"), names("c"), names("a", "c"), names("a", "c", "server"),
    ),
    "an element is deleted": (
        names("a", "b", "server"), deleted("b"), names("a"), names("a", "server"),
    ),
    "a new element takes the room of a deleted one": (
        names("1", "4"), names("2", "3") + deleted("1"), names("2", "3"), names("4", "2", "3"),
    ),
    "deleted, added and the server's own": (
        names("a", "b", "server"), names("c") + deleted("b"), names("a", "c"),
        names("a", "server", "c"),
    ),
    "the list is new": ([], names("b", "a"), names("b", "a"), names("b", "a")),
    "the order names what nobody has": (names("a"), None, names("x", "a"), names("a")),
}  # fmt: skip


@pytest.mark.parametrize(("before", "patch", "order", "after"), ORDERS.values(), ids=ORDERS)
def test_the_order_of_elements_can_be_set(before: Any, patch: Any, order: Any, after: Any) -> None:
    change: Any = {"$setElementOrder/containers": order}
    if patch is not None:
        change["containers"] = patch

    assert strategic.apply({"containers": before}, change, SPEC) == {"containers": after}


def test_elements_are_changed_where_their_order_is_set() -> None:
    document: Any = {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}
    patch: Any = {
        "$setElementOrder/containers": names("b", "a"),
        "containers": [{"name": "a", "image": "2", "$setElementOrder/env": names("y", "x")}],
    }

    assert strategic.apply(document, patch, SPEC) == {
        "containers": [{"name": "b", "image": "1"}, {"name": "a", "image": "2"}]
    }


def test_unknown_fields_are_untyped_where_they_are_preserved() -> None:
    document: Any = {"extra": {"known": {"a": 1}, "other": {"l": [1], "m": {"x": 1}}}}
    patch: Any = {"extra": {"known": {"b": 2}, "other": {"l": [2], "m": {"y": 2}}}}

    assert strategic.apply(document, patch, POD) == {
        "extra": {"known": {"a": 1, "b": 2}, "other": {"l": [2], "m": {"x": 1, "y": 2}}}
    }


REFUSED: dict[str, tuple[Any, Any, type[PatchError], str]] = {
    "an unknown object": (
        {"bogus": {"a": 1}}, {"bogus": {"b": 1}}, PatchFailed,
        'unable to find api field in struct PodSpec for the json field "bogus"',
    ),
    "an unknown list": (
        {"containers": [{"name": "a", "x": [1]}]}, {"containers": [{"name": "a", "x": [2]}]},
        PatchFailed,
        'containers[a]: unable to find api field in struct Container for the json field "x"',
    ),
    "an element without key in the patch": (
        {"containers": names("a")}, {"containers": [{"image": "x", "args": ["p", None, 1]}]},
        PatchFailed, "containers: map: map[args:[p <nil> 1] image:x] does not contain declared "
        "merge key: name",
    ),
    "an element without key in the document": (
        {"containers": [{"image": "x"}]}, {"containers": names("a")}, PatchFailed,
        "containers: map: map[image:x] does not contain declared merge key: name",
    ),
    "a deletion without key": (
        {"containers": names("a")}, {"containers": [{"$patch": "delete"}]}, PatchFailed,
        "containers: map: map[$patch:delete] does not contain declared merge key: name",
    ),
    "a key that is an object": (
        {"containers": names("a")}, {"containers": [{"name": {}}]}, PatchFailed,
        "containers: map[] cannot identify a list element",
    ),
    "no key declared": (
        {"keyless": names("a")}, {"keyless": names("b")}, PatchFailed,
        "keyless: cannot merge lists without merge key",
    ),
    "elements of two types": (
        {"containers": names("a")}, {"containers": ["a"]}, PatchFailed,
        "containers: list element types are not identical: [[map[name:a]] [a]]",
    ),
    "primitives in a keyed list": (
        {"containers": []}, {"containers": ["a"]}, PatchFailed,
        "containers: expected a map[string]interface {}, but received a string",
    ),
    "lists of lists": (
        {"containers": []}, {"containers": [[]]}, PatchFailed,
        "containers: lists of lists are not supported",
    ),
    "null elements": (
        {"containers": []}, {"containers": [None]}, PatchFailed,
        "containers: list element types are not identical: [[] [<nil>]]",
    ),
    "an object where a list is declared": (
        {"containers": {}}, {"containers": {"a": 1}}, PatchFailed,
        "containers: merging an object in json but data type is not struct, instead is: slice",
    ),
    "a list where an object is declared": (
        {"strategy": []}, {"strategy": [1]}, PatchFailed,
        "strategy: expected slice or array type, but got: struct",
    ),
    "a list where a map is declared": (
        {"nodeSelector": []}, {"nodeSelector": [1]}, PatchFailed,
        "nodeSelector: expected slice or array type, but got: map",
    ),
    "an unknown directive in an object": (
        {"nodeSelector": {}}, {"nodeSelector": {"$patch": "merge", "a": True}}, MalformedPatch,
        "nodeSelector: unknown patch type: merge in map: map[$patch:merge a:true]",
    ),
    "merge in an element": (
        {"containers": names("a")}, {"containers": [{"name": "a", "$patch": "merge"}]},
        MalformedPatch, "containers: merging lists cannot yet be specified in the patch",
    ),
    "an unknown directive in an element": (
        {"containers": names("a")}, {"containers": [{"name": "a", "$patch": None}]},
        MalformedPatch, "containers: unknown patch type: <nil> in map: map[$patch:<nil> name:a]",
    ),
    "retained keys that are no list": (
        {"strategy": {}}, {"strategy": {"$retainKeys": "type"}}, MalformedPatch,
        "strategy: invalid patch format of retainKeys",
    ),
    "retained keys that are no strings": (
        {"strategy": {}}, {"strategy": {"$retainKeys": [{}]}}, MalformedPatch,
        "strategy: invalid patch format of retainKeys",
    ),
    "a field that is not retained": (
        {"strategy": {}}, {"strategy": {"$retainKeys": [], "type": "x"}}, MalformedPatch,
        "strategy: invalid patch format of retainKeys",
    ),
    "an order of nothing": (
        {}, {"$setElementOrder": []}, MalformedPatch,
        "invalid patch format of setElementOrder list",
    ),
    "an order that is no list": (
        {}, {"$setElementOrder/containers": {}}, PatchFailed,
        "containers: expected a []interface {}, but received a map[string]interface {}",
    ),
    "an order of what is no list": (
        {"containers": 1}, {"$setElementOrder/containers": []}, PatchFailed,
        "containers: expected a []interface {}, but received a int64",
    ),
    "an order of a deleted list": (
        {}, {"$setElementOrder/containers": [], "containers": None}, PatchFailed,
        "containers: expected a []interface {}, but received a <nil>",
    ),
    "an order of an unknown list": (
        {}, {"$setElementOrder/bogus": []}, PatchFailed,
        'unable to find api field in struct PodSpec for the json field "bogus"',
    ),
    "an order without keys": (
        {"containers": names("a")}, {"$setElementOrder/containers": [{"x": 1}]}, PatchFailed,
        "containers: map: map[x:1] does not contain declared merge key: name",
    ),
    "elements that are not in the order": (
        {}, {"$setElementOrder/containers": names("a"), "containers": names("b")}, MalformedPatch,
        "containers: the order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder "
        "list:\n[map[name:a]]",
    ),
    "elements in another order": (
        {}, {"$setElementOrder/containers": names("a", "b"), "containers": names("b", "a")},
        MalformedPatch,
        "containers: the order in patch list:\n[map[name:b] map[name:a]]\n doesn't match "
        "$setElementOrder list:\n[map[name:a] map[name:b]]",
    ),
    "deletions from nothing": (
        {}, {"$deleteFromPrimitiveList": []}, MalformedPatch,
        "invalid patch format of primitive list",
    ),
    "deletions that are no list": (
        {}, {"$deleteFromPrimitiveList/raw": "x"}, MalformedPatch,
        "invalid patch format of primitive list",
    ),
    "deletions of objects": (
        {"containers": names("a")}, {"$deleteFromPrimitiveList/containers": names("a")},
        MalformedPatch, "containers: invalid patch format of primitive list",
    ),
    "deletions of another type": (
        {"raw": [1]}, {"$deleteFromPrimitiveList/raw": ["1"]}, PatchFailed,
        "raw: list element types are not identical: [[1] [1]]",
    ),
    "a patch that is no object": (
        {}, [], MalformedPatch, "a strategic merge patch must be an object",
    ),
    "a document that is no object": (
        [], {}, PatchFailed, "a strategic merge patch applies to objects only",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("document", "patch", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_patches_name_the_place_and_the_rule(
    document: Any, patch: Any, error: type[PatchError], message: str
) -> None:
    with pytest.raises(error) as refusal:
        strategic.apply(document, patch, SPEC)

    assert str(refusal.value) == message


def test_errors_hold_path_and_message_apart() -> None:
    with pytest.raises(MalformedPatch) as refusal:
        strategic.apply({"spec": {"strategy": {}}}, {"spec": {"strategy": {"$retainKeys": 1}}}, POD)

    assert refusal.value.path == "spec.strategy"
    assert refusal.value.message == "invalid patch format of retainKeys"


def nested_pods(depth: int) -> Any:
    """Return a pod nested inside a pod, and so on."""
    document: Any = {"metadata": {"name": "x", "finalizers": ["a"]}}
    for _ in range(depth):
        document = {"spec": {"pod": document, "containers": [{"name": "a", "env": names("x")}]}}
    return document


def nested_containers(depth: int) -> Any:
    """Return elements nested inside elements, which uses the most stack per level."""
    value: Any = {"name": "x"}
    for _ in range(depth // 2):
        value = {"name": "x", "l": [value]}
    return value


def from_a_deep_stack(frames: int, call: Any) -> Any:
    return call() if frames == 0 else from_a_deep_stack(frames - 1, call)


def test_nesting_up_to_the_limit_works_from_a_deep_stack() -> None:
    """The stack of the caller (a web framework, a test runner) must leave enough room."""
    deep = nested_pods(MAX_DEPTH // 2 - 2)
    free = sys.getrecursionlimit() - 2 * MAX_DEPTH - 300

    fresh = from_a_deep_stack(free, lambda: strategic.apply({}, deep, POD))
    merged = from_a_deep_stack(free, lambda: strategic.apply(deep, deep, POD))
    patch = from_a_deep_stack(free, lambda: strategic.create_two_way({"spec": {}}, deep, POD))
    assert equal([fresh, merged, patch], [deep, deep, deep])


def test_a_message_about_a_deep_value_does_not_recurse() -> None:
    element = nested_containers(100_000)
    patch: Any = {"containers": names("a")}
    del element["name"]

    with pytest.raises(PatchFailed, match="does not contain declared merge key"):
        strategic.apply({"containers": [element]}, patch, SPEC)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_deeper_nesting_is_refused(depth: int) -> None:
    deep: Any = {}
    for _ in range(depth):
        deep = {"raw": deep}

    with pytest.raises(MalformedPatch, match="the patch is nested deeper"):
        strategic.apply({}, deep, SPEC)
    assert strategic.apply(deep, {"raw": None}, SPEC) == {}
    with pytest.raises(PatchFailed, match="the modified document is nested deeper"):
        strategic.create_two_way({}, deep, SPEC)


field_names = st.sampled_from(
    [
        "name", "containers", "env", "volumes", "tolerations", "strategy", "raw", "whole", "spec",
        "metadata", "finalizers", "pod", "unknown", "$patch", "$retainKeys", "$setElementOrder",
        "$setElementOrder/containers", "$setElementOrder/finalizers", "$setElementOrder/raw",
        "$deleteFromPrimitiveList/finalizers", "$deleteFromPrimitiveList/containers",
    ]
)  # fmt: skip
words = st.sampled_from(["a", "b", "name", "replace", "delete", "merge"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.just(1.0) | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(field_names, inner, max_size=5)
        | st.lists(st.fixed_dictionaries({"name": words}, optional={"$patch": words}), max_size=3)
    ),
    max_leaves=25,
)
fields = st.dictionaries(field_names, values, max_size=6)


@given(document=fields, patch=fields)
def test_any_patch_of_any_document_succeeds_or_is_a_patch_error(document: Any, patch: Any) -> None:
    before = copy.deepcopy((document, patch))

    for shape in (POD, SPEC):
        try:
            result = strategic.apply(document, patch, shape)
        except PatchError as error:
            assert str(error)
        else:
            assert not directives(result) - directives(document)

    assert equal([document, patch], list(before))


def directives(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(directives, value))
    if isinstance(value, dict):
        found = {key for key in value if key.startswith("$")}
        return found.union(*map(directives, value.values()))
    return set()
