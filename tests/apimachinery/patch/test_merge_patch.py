"""JSON merge patch: the cases of RFC 7386, and the patches `kubectl apply` would create."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.patch import merge_patch
from apimachinery.patch.json_values import equal
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed

scalars = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
keys = st.sampled_from(["a", "b", "c"])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(keys, inner, max_size=3) | st.lists(inner, max_size=3)


documents = st.recursive(scalars, containers, max_leaves=15)
documents_with_nulls = st.recursive(st.none() | scalars, containers, max_leaves=15)
objects = st.dictionaries(keys, documents, max_size=3)

RFC_APPENDIX = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({"a": "x"}, {"a": {"b": None}}, {"a": {}}),
    ({}, {"a": [None, {"b": None}]}, {"a": [None, {"b": None}]}),
]


@pytest.mark.parametrize(("document", "patch", "expected"), RFC_APPENDIX)
def test_patches_give_the_expected_document(document: Any, patch: Any, expected: Any) -> None:
    before = copy.deepcopy((document, patch))

    assert equal(merge_patch.apply(document, patch), expected)
    assert (document, patch) == before


CREATED = {
    "nothing to do": ({"a": {"b": [1]}}, {"a": {"b": [1.0]}}, {}),
    "a new member": ({}, {"a": {}}, {"a": {}}),
    "a member less": ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"c": None}}),
    "lists are sent whole": ({"a": [1, 2]}, {"a": [2]}, {"a": [2]}),
    "a number becomes a boolean": ({"a": [1]}, {"a": [True]}, {"a": [True]}),
    "another root": ({"a": 1}, [1], [1]),
    "a null stays": ({"a": None}, {"a": None}, {}),
    "a null cannot be told from absent": ({"a": 1}, {"a": None}, {"a": None}),
}


@pytest.mark.parametrize(("source", "target", "patch"), CREATED.values(), ids=CREATED)
def test_created_patches_say_what_changed(source: Any, target: Any, patch: Any) -> None:
    assert equal(merge_patch.create(source, target), patch)


@given(source=documents_with_nulls, target=documents)
def test_a_created_patch_leads_to_its_target(source: Any, target: Any) -> None:
    assert equal(merge_patch.apply(source, merge_patch.create(source, target)), target)


@given(source=documents_with_nulls, target=documents_with_nulls)
def test_nulls_in_the_target_are_as_good_as_absent(source: Any, target: Any) -> None:
    result = merge_patch.apply(source, merge_patch.create(source, target))

    assert equal(without_null_members(result), without_null_members(target))


def without_null_members(value: Any) -> Any:
    """Remove null members of objects, except inside lists, which are replaced as they are."""
    if isinstance(value, dict):
        return {k: without_null_members(v) for k, v in value.items() if v is not None}
    return value


THREE_WAY: dict[str, tuple[Any, Any, Any, Any]] = {
    "nothing changed": ({"a": 1}, {"a": 1}, {"a": 1, "server": 2}, {}),
    "a field is added": ({}, {"a": {"b": 1}}, {"server": 2}, {"a": {"b": 1}}),
    "a field is removed": ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}},
                           {"a": {"c": None}}),
    "what others added stays": ({"a": {}}, {"a": {}}, {"a": {"other": 1}}, {}),
    "what others changed is set back": ({"a": 1}, {"a": 1}, {"a": 5}, {"a": 1}),
    "what others removed is set again": ({"a": 1}, {"a": 1}, {}, {"a": 1}),
    "removed twice": ({"a": 1}, {}, {}, {"a": None}),
    "add and remove in one object": (
        {"m": {"old": 1}}, {"m": {"new": 1}}, {"m": {"old": 1, "other": 1}},
        {"m": {"old": None, "new": 1}},
    ),
    "an empty object is a value": ({}, {"a": {}}, {}, {"a": {}}),
    "an object that only loses members": ({"m": {"a": 1}}, {"m": {}}, {"m": {"a": 1, "b": 1}},
                                          {"m": {"a": None}}),
    "a null in the new configuration": ({"a": 1}, {"a": None}, {"a": 1}, {"a": None}),
    "a null asks for removal": ({}, {"a": None, "b": {"c": None, "d": 1}}, {"a": 1},
                                {"a": None, "b": {"c": None, "d": 1}}),
    "lists belong to one": ({"l": [1]}, {"l": [1, 2]}, {"l": [1, 3]}, {"l": [1, 2]}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("original", "modified", "current", "patch"), THREE_WAY.values(), ids=THREE_WAY
)
def test_three_way_patches_leave_to_others_what_is_theirs(
    original: Any, modified: Any, current: Any, patch: Any
) -> None:
    created = merge_patch.create_three_way(original=original, modified=modified, current=current)

    assert equal(created, patch)


@given(original=objects, modified=objects, current=objects)
def test_after_a_three_way_patch_the_configuration_holds(
    original: Any, modified: Any, current: Any
) -> None:
    """All of modified is set, the rest of original is removed, fields of other clients stay."""
    patch = merge_patch.create_three_way(original=original, modified=modified, current=current)
    result: Any = merge_patch.apply(current, patch)

    assert_holds(result, original, modified, current)


def assert_holds(result: Any, original: Any, modified: Any, current: Any) -> None:
    if not isinstance(modified, dict):
        assert equal(result, modified)
        return
    assert isinstance(result, dict)
    original, current = (x if isinstance(x, dict) else {} for x in (original, current))
    for key in modified.keys() | original.keys() | current.keys() | result.keys():
        if key in modified:
            assert_holds(result[key], original.get(key), modified[key], current.get(key))
        elif key in original:
            assert key not in result
        else:
            assert equal(result[key], current[key])


@pytest.mark.parametrize("wrong", ["original", "modified", "current"])
def test_three_way_patches_are_of_objects(wrong: str) -> None:
    arguments: dict[str, Any] = {"original": {}, "modified": {}, "current": {}, wrong: [1]}

    with pytest.raises(PatchFailed, match=f"the {wrong} document must be an object"):
        merge_patch.create_three_way(**arguments)


def test_deep_nesting_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}

    with pytest.raises(MalformedPatch):
        merge_patch.apply({}, deep)
    with pytest.raises(PatchFailed):
        merge_patch.create({}, deep)
    with pytest.raises(PatchFailed):
        merge_patch.create_three_way(original={}, modified=deep, current={})


def test_a_deep_document_can_have_a_shallow_patch() -> None:
    """Only the depth of the patch, or of its target, is limited."""
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}

    assert merge_patch.apply({"deep": deep}, {"deep": None}) == {}
    assert merge_patch.create({"deep": deep}, {"deep": {}}) == {"deep": {"a": None}}


@given(document=documents_with_nulls, patch=documents_with_nulls)
def test_any_patch_of_any_document_is_applied_and_nothing_is_changed(
    document: Any, patch: Any
) -> None:
    before = copy.deepcopy((document, patch))

    once = merge_patch.apply(document, patch)

    assert equal(merge_patch.apply(once, patch), once)
    assert equal([document, patch], list(before))
