"""JSON patch: the cases of RFC 6902, corner cases in which implementations differ, round trips."""

import copy
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.patch import json_patch
from apimachinery.patch.json_values import MAX_DEPTH, equal
from apimachinery.patch.patch_errors import MalformedPatch, PatchError, PatchFailed, PatchTooLarge
from tests.pauses import measures_time

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
keys = st.sampled_from(["", "a", "b", "0", "-", "a/b", "m~n", "~1"]) | st.text(max_size=3)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


def op(name: str, path: str, *value: Any, source: str | None = None) -> dict[str, Any]:
    operation: dict[str, Any] = {"op": name, "path": path}
    if value:
        operation["value"] = value[0]
    if source is not None:
        operation["from"] = source
    return operation


RFC_APPENDIX = {
    "A.1 add a member": ({"foo": "bar"}, [op("add", "/baz", "qux")], {"baz": "qux", "foo": "bar"}),
    "A.2 add an element": (
        {"foo": ["bar", "baz"]},
        [op("add", "/foo/1", "qux")],
        {"foo": ["bar", "qux", "baz"]},
    ),
    "A.3 remove a member": ({"baz": "qux", "foo": "bar"}, [op("remove", "/baz")], {"foo": "bar"}),
    "A.4 remove an element": (
        {"foo": ["bar", "qux", "baz"]},
        [op("remove", "/foo/1")],
        {"foo": ["bar", "baz"]},
    ),
    "A.5 replace a value": (
        {"baz": "qux", "foo": "bar"},
        [op("replace", "/baz", "boo")],
        {"baz": "boo", "foo": "bar"},
    ),
    "A.6 move a value": (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [op("move", "/qux/thud", source="/foo/waldo")],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    "A.7 move an element": (
        {"foo": ["all", "grass", "cows", "eat"]},
        [op("move", "/foo/3", source="/foo/1")],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    "A.8 test succeeds": (
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [op("test", "/baz", "qux"), op("test", "/foo/1", 2)],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    "A.10 add a nested object": (
        {"foo": "bar"},
        [op("add", "/child", {"grandchild": {}})],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    "A.11 unknown members are ignored": (
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}],
        {"foo": "bar", "baz": "qux"},
    ),
    "A.14 escapes are read in the right order": (
        {"/": 9, "~1": 10},
        [op("test", "/~01", 10)],
        {"/": 9, "~1": 10},
    ),
    "A.16 add an array value": (
        {"foo": ["bar"]},
        [op("add", "/foo/-", ["abc", "def"])],
        {"foo": ["bar", ["abc", "def"]]},
    ),
}

CORNERS = {
    "no operations": ({"a": 1}, [], {"a": 1}),
    "add replaces a member": ({"a": None}, [op("add", "/a", 1)], {"a": 1}),
    "add null": ({}, [op("add", "/a", None)], {"a": None}),
    "add at the end by index": ([1], [op("add", "/1", 2)], [1, 2]),
    "add to the root list": ([], [op("add", "/-", 1)], [1]),
    "add far down": ([1, [2, [3]]], [op("add", "/1/1/-", 4)], [1, [2, [3, 4]]]),
    "digits name a member of an object": ({"a": 1}, [op("add", "/0", 2)], {"a": 1, "0": 2}),
    "a dash names a member of an object": ({}, [op("add", "/-", 2)], {"-": 2}),
    "names are case sensitive": ({"a": 1}, [op("add", "/A", 2)], {"a": 1, "A": 2}),
    "an empty name": ({}, [op("add", "/", 1)], {"": 1}),
    "an empty name below": ({"a": {}}, [op("add", "/a/", 1)], {"a": {"": 1}}),
    "replace the root": ({"a": 1}, [op("replace", "", {"b": 2})], {"b": 2}),
    "replace a missing member": ({"a": 1}, [op("replace", "/b", 2)], {"a": 1, "b": 2}),
    "replace without a value": ({"a": 1}, [op("replace", "/a")], {"a": None}),
    "add without a value": ({}, [op("add", "/a")], {"a": None}),
    "a missing member is null to test": ({}, [op("test", "/a", None)], {}),
    "a missing member is what a test without a value finds": ({}, [op("test", "/a")], {}),
    "a missing member is null to copy": ({}, [op("copy", "/b", source="/a")], {"b": None}),
    "the last element": ([1, 2], [op("replace", "/-1", 3)], [1, 3]),
    "add after the last element": ([1, 2], [op("add", "/-1", 3)], [1, 2, 3]),
    "add before the first element": ([1, 2], [op("add", "/-3", 0)], [0, 1, 2]),
    "remove the last element": ([1, 2], [op("remove", "/-1")], [1]),
    "leading zeros": (["a", "b"], [op("test", "/01", "b")], ["a", "b"]),
    "a plus sign": (["a", "b"], [op("test", "/+1", "b")], ["a", "b"]),
    "what is before the first slash is not looked at": (
        {"a": 1},
        [op("add", "spec/b", 2), op("remove", "x/a")],
        {"b": 2},
    ),
    "a tilde that escapes nothing": ({"a~2": 1, "~": 2}, [op("remove", "/a~2")], {"~": 2}),
    "null is a patch of no operations": ({"a": 1}, None, {"a": 1}),
    "replace with null": ({"a": 1}, [op("replace", "/a", None)], {"a": None}),
    "replace null": ([None], [op("replace", "/0", 1)], [1]),
    "remove null": ({"a": None}, [op("remove", "/a")], {}),
    "removals shift": ([1, 2, 3, 4], [op("remove", "/1"), op("remove", "/2")], [1, 3]),
    "move null": ({"a": None}, [op("move", "/b", source="/a")], {"b": None}),
    "move to itself": ({"a": 1}, [op("move", "/a", source="/a")], {"a": 1}),
    "move to a name that only starts alike": (
        {"a": 1},
        [op("move", "/ab", source="/a")],
        {"ab": 1},
    ),
    "move out of a list": (
        {"l": [{"q": 1}]},
        [op("move", "/l/1", source="/l/0/q")],
        {"l": [{}, 1]},
    ),
    "copy, then change the copy": (
        {"a": {"x": 1}},
        [op("copy", "/b", source="/a"), op("add", "/b/x", 2)],
        {"a": {"x": 1}, "b": {"x": 2}},
    ),
    "change, copy, then change the source": (
        {"a": {"x": 1}},
        [op("add", "/a/y", 1), op("copy", "/b", source="/a"), op("remove", "/a/x")],
        {"a": {"y": 1}, "b": {"x": 1, "y": 1}},
    ),
    "the order of members does not matter to test": (
        {"a": [{"x": 1, "y": 2}]},
        [op("test", "/a", [{"y": 2, "x": 1}])],
        {"a": [{"x": 1, "y": 2}]},
    ),
    "numbers are compared by value": ({"a": 1}, [op("test", "/a", 1.0)], {"a": 1}),
    "test the root": ({"a": 1}, [op("test", "", {"a": 1})], {"a": 1}),
    "odd names": (
        {"a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8},
        [
            op("test", "/a~1b", 1),
            op("test", "/c%d", 2),
            op("test", "/e^f", 3),
            op("test", "/g|h", 4),
            op("test", "/i\\j", 5),
            op("test", '/k"l', 6),
            op("test", "/ ", 7),
            op("remove", "/m~0n"),
        ],
        {"a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7},
    ),
}


@pytest.mark.parametrize(
    ("document", "operations", "expected"),
    [*RFC_APPENDIX.values(), *CORNERS.values()],
    ids=[*RFC_APPENDIX, *CORNERS],
)
def test_operations_give_the_expected_document(
    document: Any, operations: Any, expected: Any
) -> None:
    assert equal(json_patch.apply(document, operations), expected)


FAILURES = {
    "A.9 test fails": ({"baz": "qux"}, op("test", "/baz", "bar")),
    "A.12 add below nothing": ({"foo": "bar"}, op("add", "/baz/bat", "qux")),
    "A.15 strings are no numbers": ({"/": 9, "~1": 10}, op("test", "/~01", "10")),
    "true is not one": ({"a": 1}, op("test", "/a", True)),
    "true is not one inside a list": ({"a": [1]}, op("test", "/a", [True])),
    "false is not zero": ([0], op("test", "/0", False)),
    "test of another type": ({"a": {"b": [1]}}, op("test", "/a", [1])),
    "add past the end": ([1, 2], op("add", "/3", 3)),
    "add a member to a list": ([1], op("add", "/a", 2)),
    "add below a scalar": ({"a": 1}, op("add", "/a/b", 2)),
    "add to a scalar root": (1, op("add", "/a", 2)),
    "exponents": (["a", "b"], op("test", "/1e0", "b")),
    "digits that are not ASCII": (["a", "b"], op("test", "/\u0661", "b")),
    "more digits than Python reads": (["a"], op("test", "/" + "9" * 5000, "b")),
    "an empty index": (["a"], op("test", "/", "a")),
    "replace below nothing": ({"a": 1}, op("replace", "/b/c", 2)),
    "replace the end": ([1], op("replace", "/-", 2)),
    "remove a missing member": ({"a": 1}, op("remove", "/b")),
    "remove a missing element": ([1, 2], op("remove", "/2")),
    "remove the end": ([1, 2], op("remove", "/-")),
    "remove the root": ({"a": 1}, op("remove", "")),
    "move what is missing": ({"a": 1}, op("move", "/b", source="/c")),
    "move what is missing to itself": ({}, op("move", "/c", source="/c")),
    "move into itself": ({"a": {"b": {}}}, op("move", "/a/b/c", source="/a")),
    "move the root": ({"a": 1}, op("move", "/b", source="")),
    "copy what is missing": ([1], op("copy", "/-", source="/5")),
    "a missing member is not a value": ({}, op("test", "/a", 1)),
    "a value is not null": ({"a": 1}, op("test", "/a", None)),
    "add far before the start": ([1, 2], op("add", "/-4", 3)),
    "too far from the end": ([1, 2], op("remove", "/-3")),
    "a missing element is not null": ([], op("test", "/0", None)),
    "add the root": ({"a": 1}, op("add", "", [1])),
    "replace the root by a scalar": ({"a": 1}, op("replace", "", "b")),
    "replace the root by null": ({"a": 1}, op("replace", "")),
    "move to the root": ({"a": {"b": 1}}, op("move", "", source="/a")),
    "copy the root into itself": ({"a": 1}, op("copy", "/b", source="")),
    "below what was null": ({"a": None}, op("add", "/a/b", 1)),
    "no op": ({"a": 1}, {"path": "/a", "value": 1}),
    "an operation that is null": ({"a": 1}, None),
    "an unknown op": ({"a": 1}, op("spam", "/a", 1)),
    "an op of another case": ({"a": 1}, op("Add", "/a", 1)),
    "an op that is no string": ({"a": 1}, {"op": ["add"], "path": "/a", "value": 1}),
    "no path": ({"a": 1}, {"op": "add", "value": 1}),
    "a path that is no string": ({"a": 1}, {"op": "remove", "path": 0}),
    "a path without slash": ({"a": 1}, op("remove", "a")),
    "move without from": ({"a": 1}, op("move", "/a")),
    "copy without from": ({"a": 1}, op("copy", "/a")),
    "from null": ({"a": 1}, {"op": "copy", "path": "/b", "from": None}),
    "copy to nowhere": ({"a": 1}, op("copy", "/b/c", source="/a")),
}


@pytest.mark.parametrize(("document", "operation"), FAILURES.values(), ids=FAILURES)
def test_operations_that_do_not_fit_the_document_fail(document: Any, operation: Any) -> None:
    with pytest.raises(PatchFailed, match=r'^operation 0: .+ "'):
        json_patch.apply(document, [operation])


MALFORMED = {
    "not a list": (
        {"op": "remove", "path": "/a"},
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    ),
    "a string": ("x", "json: cannot unmarshal string into Go value of type jsonpatch.Patch"),
    "an operation that is no object": (
        ["remove"],
        "json: cannot unmarshal string into Go value of type jsonpatch.Operation",
    ),
    "an operation that is a list": (
        [op("remove", "/a"), []],
        "json: cannot unmarshal array into Go value of type jsonpatch.Operation",
    ),
}


@pytest.mark.parametrize(("operations", "message"), MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_list_of_objects_is_malformed(operations: Any, message: str) -> None:
    with pytest.raises(MalformedPatch) as refused:
        json_patch.apply({"a": 1}, operations)

    assert str(refused.value) == message


def test_messages_name_index_operation_and_path() -> None:
    with pytest.raises(PatchFailed) as failure:
        json_patch.apply({"spec": {}}, [op("add", "/a", 1), op("remove", "/spec/a~1b")])

    assert str(failure.value) == 'operation 1: remove "/spec/a~1b": member "a/b" does not exist'


def test_inputs_stay_as_they_were() -> None:
    document: Any = {"a": {"b": [1, {"c": 2}]}, "d": {}}
    operations: Any = [
        op("add", "/d/new", {"x": []}),
        op("add", "/d/new/x/-", 1),
        op("remove", "/a/b/1/c"),
        op("move", "/e", source="/a/b"),
        op("add", "/e/-", 3),
    ]
    before = copy.deepcopy((document, operations))

    result = json_patch.apply(document, operations)

    assert result == {"a": {}, "d": {"new": {"x": [1]}}, "e": [1, {}, 3]}
    assert (document, operations) == before


def test_untouched_parts_are_shared_with_the_document() -> None:
    document: Any = {"touched": {}, "untouched": {"large": [1, 2, 3]}}

    result: Any = json_patch.apply(document, [op("add", "/touched/a", 1)])

    assert result["untouched"] is document["untouched"]


def test_too_many_operations_are_too_large() -> None:
    operations: Any = [op("test", "", {})] * json_patch.MAX_OPERATIONS
    assert json_patch.apply({}, operations) == {}

    with pytest.raises(PatchTooLarge, match="is 10000, got 10001"):
        json_patch.apply({}, [*operations, op("test", "", {})])


def test_copies_that_double_the_document_fail() -> None:
    doubling: Any = [op("copy", "/a/-", source="/a") for _ in range(60)]

    with pytest.raises(PatchFailed, match="copy operations may add at most 3145728 characters"):
        json_patch.apply({"a": ["seed"]}, doubling)


def test_copies_that_nest_the_document_too_deep_fail() -> None:
    nesting: Any = [op("copy", "/a" * (2**power + 1), source="/a") for power in range(12)]

    with pytest.raises(PatchFailed, match=f"deeper than {MAX_DEPTH} levels"):
        json_patch.apply({"a": {}}, nesting)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_values_may_be_nested_up_to_the_limit() -> None:
    result = json_patch.apply({"a": {}}, [op("add", "/a/b", nested(MAX_DEPTH - 2))])
    assert equal(result, {"a": {"b": nested(MAX_DEPTH - 2)}})
    assert equal(json_patch.apply([], json_patch.create([], nested(MAX_DEPTH))), nested(MAX_DEPTH))

    with pytest.raises(MalformedPatch, match=f"deeper than {MAX_DEPTH} levels"):
        json_patch.apply({"a": {}}, [op("add", "/a/b", nested(MAX_DEPTH - 1))])
    with pytest.raises(PatchFailed, match=f"deeper than {MAX_DEPTH} levels"):
        json_patch.create([], nested(MAX_DEPTH + 1))


def test_a_deep_document_does_not_recurse() -> None:
    deep = nested(100_000)

    assert json_patch.apply({"a": deep}, [op("remove", "/a")]) == {}
    assert json_patch.create({"a": deep}, {"a": []}) == [op("remove", "/a/0")]
    with pytest.raises(PatchFailed, match="the value differs"):
        json_patch.apply({"a": deep}, [op("test", "/a", nested(9))])


@measures_time
def test_thousands_of_operations_on_one_object_copy_it_once() -> None:
    document: Any = {"data": {f"key-{n}": n for n in range(20_000)}}
    operations: Any = [
        op("replace", f"/data/key-{n}", -n) for n in range(json_patch.MAX_OPERATIONS)
    ]

    started = time.perf_counter()
    json_patch.apply(document, operations)

    assert time.perf_counter() - started < 2


CREATED = {
    "nothing to do": ({"a": [1]}, {"a": [1.0]}, []),
    "a changed member": ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [op("replace", "/b", 3)]),
    "a number becomes a boolean": ({"a": [1]}, {"a": [True]}, [op("replace", "/a/0", True)]),
    "an escaped name": ({"a/b": {}}, {"a/b": {"~": 1}}, [op("add", "/a~1b/~0", 1)]),
    "an element in the middle": ([1, 2, 4], [1, 2, 3, 4], [op("add", "/2", 3)]),
    "an element less": ([1, 2, 3, 4], [1, 4], [op("remove", "/2"), op("remove", "/1")]),
    "one field of one element": (
        {"l": [{"n": "a", "v": 1}, {"n": "b"}]},
        {"l": [{"n": "a", "v": 2}, {"n": "b"}]},
        [op("replace", "/l/0/v", 2)],
    ),
    "another root": ([], {}, [op("replace", "", {})]),
}


@pytest.mark.parametrize(("source", "target", "operations"), CREATED.values(), ids=CREATED)
def test_created_patches_are_small(source: Any, target: Any, operations: Any) -> None:
    assert json_patch.create(source, target) == operations


def test_a_created_patch_is_never_too_large_to_apply() -> None:
    source: list[Any] = list(range(12_000))
    target: list[Any] = [-n - 1 for n in range(12_000)]

    assert json_patch.apply(source, json_patch.create(source, target)) == target


@given(source=documents, target=documents.filter(lambda made: isinstance(made, dict | list)))
def test_a_created_patch_leads_to_its_target(source: Any, target: Any) -> None:
    before = copy.deepcopy((source, target))

    operations: Any = json_patch.create(source, target)

    assert equal(json_patch.apply(source, operations), target)
    assert equal([source, target], list(before))


pointers = st.text(alphabet="/ab01-~", max_size=6)
operation = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "spam"])},
    optional={"path": pointers | scalars, "from": pointers | scalars, "value": documents},
)


@given(document=documents, operations=st.lists(operation, max_size=5) | documents)
def test_any_patch_of_any_document_succeeds_or_is_a_patch_error(
    document: Any, operations: Any
) -> None:
    before = copy.deepcopy((document, operations))

    try:
        json_patch.apply(document, operations)
    except PatchError as error:
        assert str(error)

    assert equal([document, operations], list(before))
