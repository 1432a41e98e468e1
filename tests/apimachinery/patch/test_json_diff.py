"""The JSON patch between two documents, and changes that keep what a class does not know."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.patch import json_patch
from apimachinery.patch.json_diff import carry_over, diff

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(("", "a", "b")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(("a", "b/c", "d~e", "")), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(("a", "b/c", "d~e")), DOCUMENTS, max_size=3)


@given(OBJECTS, OBJECTS)
def test_the_difference_turns_one_document_into_the_other(old: Any, new: Any) -> None:
    assert json_patch.apply(old, diff(old, new)) == new


@given(OBJECTS)
def test_equal_documents_differ_by_nothing(document: Any) -> None:
    assert diff(document, document) == []


@pytest.mark.parametrize(
    ("old", "new", "operations"),
    [
        ({}, {"a": 1}, [{"op": "add", "path": "/a", "value": 1}]),
        ({"a": 1}, {}, [{"op": "remove", "path": "/a"}]),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
        ({"x": {"a/b": 1}}, {"x": {"a/b": 2}}, [{"op": "replace", "path": "/x/a~1b", "value": 2}]),
        ({"l": [1, 3]}, {"l": [1, 2, 3]}, [{"op": "add", "path": "/l/1", "value": 2}]),
        ({"l": [1, 2, 3]}, {"l": [1, 3]}, [{"op": "remove", "path": "/l/1"}]),
        ({"l": [{"a": 1}]}, {"l": [{"a": 2}]}, [{"op": "replace", "path": "/l/0/a", "value": 2}]),
    ],
)
def test_a_change_is_one_operation_in_its_place(old: Any, new: Any, operations: Any) -> None:
    assert diff(old, new) == operations


@given(OBJECTS, OBJECTS)
def test_a_document_that_is_wholly_known_becomes_the_changed_one(before: Any, after: Any) -> None:
    assert carry_over(before, before, after) == after


@pytest.mark.parametrize(
    ("document", "before", "after", "changed"),
    [
        pytest.param({"new": 1}, {"a": 2}, {"a": 2}, {"new": 1, "a": 2}, id="default is added"),
        pytest.param({"a": "60s"}, {"a": "1m"}, {"a": "1m"}, {"a": "60s"}, id="spelling is kept"),
        pytest.param({"a": 1, "x": 2}, {"a": 1}, {}, {"x": 2}, id="field is removed"),
        pytest.param(
            {"l": [{"n": 1, "x": 1}, {"n": 2, "x": 2}]},
            {"l": [{"n": 1}, {"n": 2}]},
            {"l": [{"n": 2}, {"n": 1}]},
            {"l": [{"n": 2, "x": 2}, {"n": 1, "x": 1}]},
            id="items are reordered",
        ),
        pytest.param(
            {"l": [{"n": 1, "x": 1}, {"n": 2, "x": 2}]},
            {"l": [{"n": 1}, {"n": 2}]},
            {"l": [{"n": 2}]},
            {"l": [{"n": 2, "x": 2}]},
            id="item is removed",
        ),
        pytest.param(
            {"l": [{"n": 1, "x": 1}]},
            {"l": [{"n": 1}]},
            {"l": [{"n": 1, "m": 3}]},
            {"l": [{"n": 1, "m": 3, "x": 1}]},
            id="item is changed",
        ),
    ],
)
def test_unknown_fields_stay_where_they_are(
    document: Any, before: Any, after: Any, changed: Any
) -> None:
    assert carry_over(document, before, after) == changed
