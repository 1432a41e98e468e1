"""Comparison, merge, removal and extraction of values by their shape."""

from copy import deepcopy
from typing import Any

import pytest

from apimachinery.apply.apply_errors import InvalidValue
from apimachinery.apply.compare import Comparison, compare
from apimachinery.apply.fieldset import EMPTY, FieldSet
from apimachinery.apply.merge import merge
from apimachinery.apply.remove import extract_items, remove_items
from apimachinery.model.type_shape import MapShape, Shape
from tests.apimachinery.apply.apply_shapes import (
    ATOMIC_LIST,
    ATOMIC_MAP,
    MAP,
    SCALAR,
    SET,
    UNTYPED,
    fields,
    keyed,
    path,
    shown,
    struct,
)

ITEM: dict[str, Shape] = {"name": SCALAR, "value": SCALAR, "value2": SCALAR, "sub": MAP}
ROOT = struct(
    {
        "scalar": SCALAR,
        "set": SET,
        "list": keyed("name", fields=ITEM),
        "atomicList": ATOMIC_LIST,
        "atomicMap": ATOMIC_MAP,
        "map": MAP,
        "mapOfMaps": MapShape(MAP),
        "struct": struct({"a": SCALAR, "b": SCALAR}),
        "any": UNTYPED,
    }
)


def items(*names: str, **values: Any) -> dict[str, Any]:
    """Return a list of items with these names, with the values in *values*."""
    return {
        "list": [
            {"name": name, "value": values[name]} if name in values else {"name": name}
            for name in names
        ]
    }


NESTED = MapShape(MapShape(MapShape(MAP)))


@pytest.mark.parametrize(
    ("shape", "old", "new", "added", "modified", "removed"),
    [
        (ROOT, {"scalar": 1}, {"scalar": 1}, set(), set(), set()),
        (ROOT, {"scalar": 1}, {"scalar": 1.0}, set(), set(), set()),
        (ROOT, {"scalar": 1}, {"scalar": True}, set(), {".scalar"}, set()),
        (ROOT, {"scalar": 1}, {"scalar": 3.14}, set(), {".scalar"}, set()),
        (ROOT, {"scalar": None}, {"scalar": 0}, set(), {".scalar"}, set()),
        (ROOT, {}, {"scalar": None}, {".scalar"}, set(), set()),
        (ROOT, {"scalar": 1}, {"map": {}}, {".map"}, set(), {".scalar"}),
        (ROOT, {}, {"struct": {}}, {".struct"}, set(), set()),
        (ROOT, {}, {"struct": None}, {".struct"}, set(), set()),
        (ROOT, {"struct": None}, {"struct": {}}, set(), {".struct"}, set()),
        (ROOT, {"struct": {}}, {"struct": None}, set(), {".struct"}, set()),
        (ROOT, {}, {"struct": {"a": 1}}, {".struct", ".struct.a"}, set(), set()),
        (ROOT, {"struct": {}}, {"struct": {"a": 1}}, {".struct.a"}, set(), set()),
        (ROOT, {"atomicList": None}, {"atomicList": []}, set(), {".atomicList"}, set()),
        (ROOT, {"atomicList": ["a"]}, {"atomicList": ["b"]}, set(), {".atomicList"}, set()),
        (ROOT, {"atomicMap": {"a": 1}}, {"atomicMap": {"b": 1}}, set(), {".atomicMap"}, set()),
        (ROOT, {"atomicMap": {"a": 1}}, {}, set(), set(), {".atomicMap"}),
        (ROOT, {"set": ["a", "b"]}, {"set": ["b", "c"]}, {'.set[="c"]'}, set(), {'.set[="a"]'}),
        (ROOT, {"set": ["a", "b"]}, {"set": ["b", "a"]}, set(), set(), set()),
        (ROOT, {"set": ["a"]}, {"set": []}, set(), set(), {'.set[="a"]'}),
        (ROOT, {"set": ["a"]}, {}, set(), set(), {".set", '.set[="a"]'}),
        (ROOT, {"set": [True]}, {"set": [1]}, {".set[=1]"}, set(), {".set[=true]"}),
        (
            ROOT,
            items("a", "b", a=1),
            items("b", "c"),
            {'.list[name="c"]', '.list[name="c"].name'},
            set(),
            {'.list[name="a"]', '.list[name="a"].name', '.list[name="a"].value'},
        ),
        (ROOT, items("a", a=1), items("a", a=2), set(), {'.list[name="a"].value'}, set()),
        (ROOT, {"map": {"a": "1"}}, {"map": {"b": "1"}}, {".map.b"}, set(), {".map.a"}),
        (NESTED, {"a": {}}, {"b": {}}, {".b"}, set(), {".a"}),
        (NESTED, {"a": {"b": {"c": {}}}}, {"a": {"b": {}}}, set(), set(), {".a.b.c"}),
        (UNTYPED, {"a": {}}, {"a": {"b": {}}}, {".a.b"}, set(), set()),
        (UNTYPED, {"a": None}, {"a": {"b": {}}}, {".a.b"}, set(), set()),
        (UNTYPED, {"a": {"b": {}}}, {"a": None}, set(), set(), {".a.b"}),
        (UNTYPED, {"a": None}, {"a": ["b"]}, set(), {".a"}, set()),
        (UNTYPED, {"a": ["b"]}, {"a": []}, set(), {".a"}, set()),
        (UNTYPED, {"a": "b"}, {"a": None}, set(), {".a"}, set()),
        (UNTYPED, {"a": {"b": {}}}, {"a": ["b"]}, set(), {".a"}, {".a.b"}),
        (UNTYPED, {"a": ["b"]}, {"a": {"b": {}}}, {".a.b"}, {".a"}, set()),
        (UNTYPED, {"a": {"b": {}}}, {"a": "b"}, set(), {".a"}, {".a.b"}),
        (UNTYPED, {"a": [1, {"x": True}]}, {"a": [1, {"x": 1}]}, set(), {".a"}, set()),
        (UNTYPED, {"a": [1, {"x": 2}]}, {"a": [1.0, {"x": 2.0}]}, set(), set(), set()),
    ],
)
def test_what_changed(
    shape: Shape, old: Any, new: Any, added: set[str], modified: set[str], removed: set[str]
) -> None:
    found = compare(old, new, shape)

    assert shown(found.added) == added
    assert shown(found.modified) == modified
    assert shown(found.removed) == removed
    back = compare(new, old, shape)
    assert (back.added, back.modified, back.removed) == (
        found.removed,
        found.modified,
        found.added,
    )


TWICE = {"list": [{"name": "a", "value": 1}, {"name": "a", "value": 2}]}


@pytest.mark.parametrize(
    ("old", "new", "added", "modified", "removed"),
    [
        (TWICE, TWICE, set(), set(), set()),
        (TWICE, {"list": [*TWICE["list"], {"name": "a"}]}, set(), {'.list[name="a"]'}, set()),
        (
            TWICE,
            items("a"),
            {'.list[name="a"]', '.list[name="a"].name'},
            set(),
            {'.list[name="a"]'},
        ),
        (
            items("a"),
            TWICE,
            {'.list[name="a"]'},
            set(),
            {'.list[name="a"]', '.list[name="a"].name'},
        ),
        ({"list": []}, TWICE, {'.list[name="a"]'}, set(), set()),
        ({"set": [1, 1]}, {"set": [1]}, {".set[=1]"}, set(), {".set[=1]"}),
        ({"set": [1, 1, 2]}, {"set": [2, 1, 1]}, set(), set(), set()),
    ],
)
def test_repeated_items_change_as_one(
    old: Any, new: Any, added: set[str], modified: set[str], removed: set[str]
) -> None:
    found = compare(old, new, ROOT)

    assert shown(found.added) == added
    assert shown(found.modified) == modified
    assert shown(found.removed) == removed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ({}, {"struct": {"x": 1}}, ".struct.x: field not declared in schema"),
        ({"list": []}, {"list": [{}]}, ".list: element 0: associative list with keys"),
        ({"scalar": [1]}, {"scalar": {}}, ".scalar: expected any scalar"),
    ],
)
def test_what_cannot_be_compared_is_told_with_its_place(old: Any, new: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=r".+") as caught:
        compare(old, new, ROOT)

    assert str(caught.value).startswith(message)


def test_nesting_has_a_limit_in_comparison_and_merge() -> None:
    deep: Any = 1
    other: Any = 2
    for _ in range(3000):
        deep, other = {"a": deep}, {"a": other}

    with pytest.raises(InvalidValue, match="nested more than"):
        compare(deep, other, UNTYPED)
    with pytest.raises(InvalidValue, match="nested more than"):
        compare({"l": [deep]}, {"l": [other]}, UNTYPED)
    with pytest.raises(InvalidValue, match="nested more than"):
        merge(deep, other, UNTYPED)


def test_a_comparison_can_leave_fields_out() -> None:
    found = Comparison(fields(path("a", "b")), fields(path("c")), fields(path("a")))

    assert found.without(fields(path("a"))) == Comparison(EMPTY, fields(path("c")), EMPTY)


@pytest.mark.parametrize(
    ("live", "applied", "merged"),
    [
        ({}, {}, {}),
        ({"scalar": 1}, {"scalar": 2}, {"scalar": 2}),
        ({"scalar": 1}, {"scalar": None}, {"scalar": None}),
        ({"scalar": 1}, {"map": {"a": "b"}}, {"scalar": 1, "map": {"a": "b"}}),
        ({}, {"map": {}}, {"map": {}}),
        ({}, {"map": None}, {"map": None}),
        ({"map": None}, {"map": {}}, {"map": {}}),
        ({"map": {}}, {"map": None}, {"map": None}),
        ({"map": {"a": "1"}}, {"map": None}, {"map": {"a": "1"}}),
        ({"map": {"a": "1"}}, {"map": {"b": "2"}}, {"map": {"a": "1", "b": "2"}}),
        ({"struct": {"a": 1}}, {"struct": {"b": 2}}, {"struct": {"a": 1, "b": 2}}),
        ({"atomicMap": {"a": 1}}, {"atomicMap": {"b": 2}}, {"atomicMap": {"b": 2}}),
        ({"atomicList": ["a", "a"]}, {"atomicList": ["a"]}, {"atomicList": ["a"]}),
        ({"atomicList": ["a"]}, {"atomicList": None}, {"atomicList": None}),
        ({"atomicList": ["a"]}, {"atomicList": []}, {"atomicList": []}),
        ({"set": ["a", "b", "c"]}, {"set": ["a", "b"]}, {"set": ["a", "b", "c"]}),
        ({"set": ["a", "b"]}, {"set": ["a", "b", "c"]}, {"set": ["a", "b", "c"]}),
        ({"set": ["a", "b"]}, {"set": []}, {"set": ["a", "b"]}),
        ({"set": []}, {"set": ["a"]}, {"set": ["a"]}),
        ({"set": []}, {"set": None}, {"set": None}),
        ({"set": [1, 2, 3.5]}, {"set": [1, 2, 3]}, {"set": [1, 2, 3.5, 3]}),
        ({"set": ["a", "b", "c"]}, {"set": ["c", "a"]}, {"set": ["b", "c", "a"]}),
        ({"set": ["x", "b", "y"]}, {"set": ["a", "b", "c"]}, {"set": ["x", "a", "b", "y", "c"]}),
        ({"set": ["a", "a", "b"]}, {"set": ["a"]}, {"set": ["a", "b"]}),
        ({"set": ["a", "a", "b"]}, {"set": ["c"]}, {"set": ["a", "a", "b", "c"]}),
        (items("a", a=1), items("a", a=2), items("a", a=2)),
        (items("a", "b", a=1), items("b", b=3), items("a", "b", a=1, b=3)),
        (items("b", "a", b=1), items("a", "b"), items("a", "b", b=1)),
        (TWICE, items("a", a=3), items("a", a=3)),
        (TWICE, items("b"), {"list": [*TWICE["list"], {"name": "b"}]}),
        ({"any": {"a": 1}}, {"any": "x"}, {"any": "x"}),
        ({"any": "x"}, {"any": {"a": 1}}, {"any": {"a": 1}}),
        ({"any": {"a": 1}}, {"any": {"b": [2]}}, {"any": {"a": 1, "b": [2]}}),
        ({"any": {"a": 1}}, {"any": None}, {"any": {"a": 1}}),
        ({"any": [1]}, {"any": None}, {"any": None}),
        ({"any": [1]}, {"any": [2]}, {"any": [2]}),
    ],
)
def test_merging(live: Any, applied: Any, merged: Any) -> None:
    before = deepcopy((live, applied))

    assert merge(live, applied, ROOT) == merged
    assert (live, applied) == before


def test_applied_items_must_not_repeat() -> None:
    with pytest.raises(InvalidValue, match=r'\.list: duplicate entries for key \[name="a"\]'):
        merge(items("a"), TWICE, ROOT)


def test_what_cannot_be_merged_is_told_with_its_place() -> None:
    with pytest.raises(InvalidValue) as caught:
        merge(items("a"), {"list": [{"name": "a", "typo": 1}]}, ROOT)

    assert str(caught.value) == '.list[name="a"].typo: field not declared in schema'


@pytest.mark.parametrize(
    ("value", "remove", "left"),
    [
        ({"scalar": 1}, fields(path("scalar")), None),
        ({"scalar": 1, "map": {"a": 1}}, fields(path("scalar")), {"map": {"a": 1}}),
        ({"map": {"a": 1, "b": 2}}, fields(path("map", "a")), {"map": {"b": 2}}),
        ({"map": {"a": 1}}, fields(path("map", "a")), {"map": None}),
        ({"map": {"a": 1}, "scalar": 1}, fields(path("map")), {"scalar": 1}),
        ({"set": ["a", "b"]}, fields(path("set", ["a"])), {"set": ["b"]}),
        ({"set": ["a"]}, fields(path("set", ["a"])), {"set": None}),
        ({"set": ["a"]}, fields(path("set", "a")), {"set": ["a"]}),
        (items("a", "b"), fields(path("list", {"name": "a"})), items("b")),
        (items("a", a=1), fields(path("list", {"name": "a"}, "value")), items("a")),
        ({"atomicList": ["a"]}, fields(path("atomicList", 0)), {"atomicList": None}),
        ({"atomicMap": {"a": 1}}, fields(path("atomicMap", "a")), {"atomicMap": None}),
        ({"scalar": 1}, fields(path("scalar", "x")), {"scalar": 1}),
        ({"any": {"a": {"b": 1, "c": 2}}}, fields(path("any", "a", "b")), {"any": {"a": {"c": 2}}}),
        ({"any": {"a": 1}}, fields(path("gone", "x")), {"any": {"a": 1}}),
        ({"scalar": 1}, fields(), {"scalar": 1}),
    ],
)
def test_removing(value: Any, remove: FieldSet, left: Any) -> None:
    before = deepcopy(value)

    assert remove_items(value, remove, ROOT) == left
    assert value == before


@pytest.mark.parametrize(
    ("value", "owned", "extracted"),
    [
        ({"scalar": 1, "map": {"a": 1}}, fields(path("scalar")), {"scalar": 1}),
        ({"map": {"a": 1, "b": 2}}, fields(path("map", "a")), {"map": {"a": 1}}),
        ({"map": {"a": 1, "b": 2}}, fields(path("map"), path("map", "a")), {"map": {"a": 1}}),
        ({"map": {"a": 1}}, fields(path("map")), {"map": {}}),
        ({"map": None}, fields(path("map")), {"map": None}),
        ({"atomicMap": {"a": 1}}, fields(path("atomicMap")), {"atomicMap": {"a": 1}}),
        ({"atomicList": ["a"]}, fields(path("atomicList")), {"atomicList": ["a"]}),
        ({"set": ["a", "b"]}, fields(path("set", ["b"])), {"set": ["b"]}),
        (
            {"list": [{"name": "a", "value": 1, "value2": 2}, {"name": "b"}]},
            fields(path("list", {"name": "a"}, "value")),
            items("a", a=1),
        ),
        (items("a", a=1), fields(path("list", {"name": "a"})), items("a")),
        ({"any": {"a": {"b": 1, "c": 2}}}, fields(path("any", "a", "b")), {"any": {"a": {"b": 1}}}),
        ({"scalar": 1}, fields(path("gone")), {}),
    ],
)
def test_extracting(value: Any, owned: FieldSet, extracted: Any) -> None:
    before = deepcopy(value)

    assert extract_items(value, owned, ROOT) == extracted
    assert value == before
