"""Field sets of values, and validation of values against their shape."""

from typing import Any

import pytest

from apimachinery.apply.apply_errors import ApplyError, InvalidValue
from apimachinery.apply.fieldset import MAX_DEPTH
from apimachinery.apply.reshape import ensure_named_fields_are_members, reconcile_with_shape
from apimachinery.apply.typed_values import field_set_of, validate
from apimachinery.model.type_shape import ListShape, MapShape, Shape, StructShape
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

ITEM: dict[str, Shape] = {"key": SCALAR, "id": SCALAR, "value": MAP, "bv": SCALAR}
ROOT = struct(
    {
        "scalar": SCALAR,
        "set": SET,
        "list": keyed("key", "id", fields=ITEM),
        "ports": keyed(
            "port",
            "protocol",
            fields={"port": SCALAR, "protocol": SCALAR, "name": SCALAR},
            defaults={"protocol": "TCP"},
        ),
        "atomicList": ATOMIC_LIST,
        "atomicStruct": struct({"r": SCALAR, "g": SCALAR}, atomic=True),
        "atomicMap": ATOMIC_MAP,
        "map": MAP,
        "mapOfMaps": MapShape(MAP),
        "struct": struct({"a": SCALAR, "b": SCALAR}),
        "any": UNTYPED,
        "open": struct({"a": struct({"b": SCALAR})}, keeps=True),
    }
)


@pytest.mark.parametrize(
    ("value", "members"),
    [
        ({}, set()),
        ({"scalar": 1}, {".scalar"}),
        ({"scalar": None}, {".scalar"}),
        ({"scalar": False}, {".scalar"}),
        ({"set": ["a", "b"]}, {'.set[="a"]', '.set[="b"]'}),
        ({"set": [1, 3.5, True]}, {".set[=1]", ".set[=3.5]", ".set[=true]"}),
        ({"set": []}, set()),
        ({"set": None}, {".set"}),
        ({"atomicList": ["a", "a"]}, {".atomicList"}),
        ({"atomicList": []}, {".atomicList"}),
        ({"atomicList": None}, {".atomicList"}),
        ({"atomicStruct": {"r": 1}}, {".atomicStruct"}),
        ({"atomicStruct": {}}, {".atomicStruct"}),
        ({"atomicMap": {"x": 1}}, {".atomicMap"}),
        ({"map": {"x": "1"}}, {".map.x"}),
        ({"map": {}}, {".map"}),
        ({"map": None}, {".map"}),
        ({"map": {"x": None}}, {".map.x"}),
        ({"mapOfMaps": {"x": {"y": 1}}}, {".mapOfMaps.x", ".mapOfMaps.x.y"}),
        ({"mapOfMaps": {"x": {}}}, {".mapOfMaps.x"}),
        ({"struct": {"a": 1}}, {".struct.a"}),
        ({"struct": {}}, {".struct"}),
        ({"list": []}, set()),
        (
            {"list": [{"key": "a", "id": 1, "value": {"a": "a"}}]},
            {
                '.list[id=1,key="a"]',
                '.list[id=1,key="a"].key',
                '.list[id=1,key="a"].id',
                '.list[id=1,key="a"].value.a',
            },
        ),
        (
            {"ports": [{"port": 80}]},
            {'.ports[port=80,protocol="TCP"]', '.ports[port=80,protocol="TCP"].port'},
        ),
        ({"any": 1}, {".any"}),
        ({"any": [{"a": 1}]}, {".any"}),
        ({"any": {"a": {"b": [1]}}}, {".any.a", ".any.a.b"}),
        ({"any": {"a": {}}}, {".any.a"}),
        ({"any": None}, {".any"}),
        ({"open": {"a": {"b": 1}, "x": {"y": 1}}}, {".open.a.b", ".open.x", ".open.x.y"}),
    ],
)
def test_the_set_of_a_value(value: Any, members: set[str]) -> None:
    assert shown(field_set_of(value, ROOT)) == members


def test_a_repeated_item_is_one_leaf() -> None:
    value = {"list": [{"key": "a", "id": 1}, {"key": "a", "id": 1, "bv": 1}], "set": [1, 1.0]}

    found = field_set_of(value, ROOT, allow_duplicates=True)

    assert shown(found) == {'.list[id=1,key="a"]', ".set[=1]"}


def test_an_untyped_object_owns_each_map_and_its_entries() -> None:
    assert shown(field_set_of({"a": {"b": {"c": 1}}}, UNTYPED)) == {".a", ".a.b", ".a.b.c"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"typo": 1}, ".typo: field not declared in schema"),
        ({"struct": {"x": 1}}, ".struct.x: field not declared in schema"),
        ({"atomicStruct": {"x": 1}}, ".atomicStruct.x: field not declared in schema"),
        ({"scalar": {"a": 1}}, ".scalar: expected any scalar, got &{map[a:1]}"),
        ({"scalar": [True, None]}, ".scalar: expected any scalar, got &{[true <nil>]}"),
        ({"map": "x"}, ".map: expected map, got &{x}"),
        ({"struct": [1]}, ".struct: expected map, got &{[1]}"),
        ({"set": {"a": 1}}, ".set: expected list, got &{map[a:1]}"),
        ({"set": ["a", "a"]}, '.set: duplicate entries for key [="a"]'),
        ({"set": [1, 1.0]}, ".set: duplicate entries for key [=1]"),
        (
            {"set": [None]},
            ".set: element 0: associative list without keys has an element that's an explicit null",
        ),
        (
            {"set": ["a", {}]},
            ".set: element 1: associative list without keys has an element that's a map type",
        ),
        (
            {"set": [[]]},
            ".set: element 0: not supported: associative list with lists as elements",
        ),
        (
            {"list": [{}]},
            ".list: element 0: associative list with keys has an element that omits all key fields "
            '["key" "id"] (and doesn\'t have default values for any key fields)',
        ),
        (
            {"list": [None]},
            ".list: element 0: associative list with keys may not have a null element",
        ),
        (
            {"list": ["a"]},
            ".list: element 0: associative list with keys may not have non-map elements",
        ),
        (
            {"list": [{"key": "a", "id": 1}, {"key": "a", "id": 1}]},
            '.list: duplicate entries for key [id=1,key="a"]',
        ),
        (
            {"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]},
            '.ports: duplicate entries for key [port=80,protocol="TCP"]',
        ),
        ({"list": [{"key": "a", "id": {}}]}, "a map cannot identify a list item"),
        ({"set": [float("nan")]}, "a number out of range cannot identify a list item"),
        ({"set": [10**5000]}, "a number out of range cannot identify a list item"),
        (
            {"list": [{"key": "a", "id": 1, "value": {"x": {}}}]},
            '.list[id=1,key="a"].value.x: expected any scalar, got &{map[]}',
        ),
        ({"atomicList": ["a", {}]}, ".atomicList[1]: expected any scalar, got &{map[]}"),
        ({"any": {"a": {1: 2}}}, ".any.a.1: expected a string as field name, got 1"),
    ],
)
def test_a_value_without_its_shape_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(ApplyError) as caught:
        field_set_of(value, ROOT)

    assert message in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(InvalidValue) as caught:
        validate({"typo": 1, "struct": {"x": 1}}, ROOT)

    assert str(caught.value) == (
        "errors:\n  .typo: field not declared in schema\n  .struct.x: field not declared in schema"
    )
    assert [problem.path for problem in caught.value.problems] == [".typo", ".struct.x"]


def test_stored_values_may_repeat_items() -> None:
    validate({"set": ["a", "a"]}, ROOT, allow_duplicates=True)


def test_types_may_be_recursive() -> None:
    tree = StructShape("tree", lambda: {"name": SCALAR, "child": tree})

    assert shown(field_set_of({"child": {"child": {"name": 1}}}, tree)) == {".child.child.name"}


@pytest.mark.parametrize("wrap", [lambda inner: {"a": inner}, lambda inner: [inner]])
def test_nesting_has_a_limit(wrap: Any) -> None:
    hostile: Any = 1
    for _ in range(5000):
        hostile = wrap(hostile)

    with pytest.raises(InvalidValue, match=f"nested more than {MAX_DEPTH} levels"):
        field_set_of({"any": hostile}, ROOT)
    with pytest.raises(InvalidValue, match="expected any scalar"):
        field_set_of({"scalar": hostile}, ROOT)


@pytest.mark.parametrize(
    ("shape", "before", "after"),
    [
        (struct({"s": struct({"a": SCALAR})}), ["s", "a"], [["s"], ["s", "a"]]),
        (struct({"m": MAP}), ["m", "a"], [["m"], ["m", "a"]]),
        (MapShape(MAP), ["m", "a"], [["m", "a"]]),
        (UNTYPED, ["m", "a"], [["m", "a"]]),
        (
            struct({"l": keyed("k", fields={"s": struct({"a": SCALAR})})}),
            ["l", {"k": 1}, "s", "a"],
            [["l"], ["l", {"k": 1}, "s"], ["l", {"k": 1}, "s", "a"]],
        ),
    ],
)
def test_fields_that_are_declared_become_members(
    shape: Shape, before: list[Any], after: list[list[Any]]
) -> None:
    found = ensure_named_fields_are_members(fields(path(*before)), shape)

    assert found == fields(*(path(*steps) for steps in after))


@pytest.mark.parametrize(
    ("shape", "before", "after"),
    [
        (struct({"s": struct({"a": SCALAR}, atomic=True)}), [["s", "a"]], [["s"]]),
        (struct({"m": ATOMIC_MAP}), [["m"], ["m", "a"]], [["m"]]),
        (struct({"l": ATOMIC_LIST}), [["l", ["a"]], ["l", ["b"]]], [["l"]]),
        (
            MapShape(ListShape(struct({"m": ATOMIC_MAP, "k": SCALAR}), "map", ("k",))),
            [["x", {"k": 1}, "m", "a"], ["x", {"k": 1}, "k"]],
            [["x", {"k": 1}, "m"], ["x", {"k": 1}, "k"]],
        ),
        (struct({"s": struct({"a": SCALAR})}), [["s"], ["s", "a"]], [["s"], ["s", "a"]]),
        (struct({"x": SCALAR}), [["x", "a"]], [["x"]]),
        (struct({"x": SCALAR}), [["x"], ["gone"], ["too", "b"]], [["x"]]),
        (struct({"s": struct({"a": SCALAR})}), [["s", "gone"]], []),
        (struct({"s": struct({"a": SCALAR})}), [["s"], ["s", "gone"]], [["s"]]),
        (struct({"m": MapShape(SCALAR)}), [["m", {"k": 1}, "a"], ["m", "b"]], [["m", "b"]]),
        (
            struct({"l": keyed("k", fields={"k": SCALAR})}),
            [["l", {"k": 1}, "k"], ["l", {"k": 1}, "gone"], ["l", "b"]],
            [["l", {"k": 1}, "k"]],
        ),
        (struct({"x": UNTYPED}), [["x", "a", "b"]], [["x", "a", "b"]]),
    ],
)
def test_sets_follow_changes_of_types(
    shape: Shape, before: list[list[Any]], after: list[list[Any]]
) -> None:
    found = reconcile_with_shape(fields(*(path(*steps) for steps in before)), shape)

    assert found == fields(*(path(*steps) for steps in after))
