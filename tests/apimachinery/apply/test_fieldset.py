"""Path elements, field sets, and FieldsV1."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import InvalidFieldSet
from apimachinery.apply.fieldset import EMPTY, MAX_DEPTH, FieldSet
from tests.apimachinery.apply.apply_shapes import fields, path


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (paths.field("name"), "f:name"),
        (paths.field("a:b"), "f:a:b"),
        (paths.index(7), "i:7"),
        (paths.value("x"), 'v:"x"'),
        (paths.value(1), "v:1"),
        (paths.value(1.0), "v:1"),
        (paths.value(1.5), "v:1.5"),
        (paths.value(0.00001), "v:0.00001"),
        (paths.value(1e-7), "v:1e-07"),
        (paths.value(1e20), "v:100000000000000000000"),
        (paths.value(1e22), "v:1e+22"),
        (paths.value(True), "v:true"),
        (paths.value(False), "v:false"),
        (paths.value(None), "v:null"),
        (paths.value('a"b\\c'), 'v:"a\\"b\\\\c"'),
        (paths.value("<&>\n\t\r\x08\u2028"), 'v:"\\u003c\\u0026\\u003e\\n\\t\\r\\u0008\\u2028"'),
        (paths.value("ü"), 'v:"ü"'),
        (paths.key({"port": 80, "name": "x"}), 'k:{"name":"x","port":80}'),
    ],
)
def test_elements_are_written_as_go_writes_them(element: str, text: str) -> None:
    assert element == text


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("f:", "f:"),
        ('k:{"port": 8e1, "name":"x"}', 'k:{"name":"x","port":80}'),
        ("v: 1.0", "v:1"),
        ('v:"\\u0041"', 'v:"A"'),
        ("i:+3", "i:3"),
        ("i:-3", "i:-3"),
        ("x:future", None),
    ],
)
def test_elements_are_read_into_their_one_spelling(text: str, element: str | None) -> None:
    assert paths.parse(text) == element


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (("data", "a"), ".data.a"),
        (("spec", "containers", {"name": "x"}, "image"), '.spec.containers[name="x"].image'),
        (("ports", {"port": 80, "protocol": "TCP"}), '.ports[port=80,protocol="TCP"]'),
        (("metadata", "finalizers", ["x"]), '.metadata.finalizers[="x"]'),
        (("set", [1.5]), ".set[=1.5]"),
        (("set", [True]), ".set[=true]"),
        (("set", ['a"\n']), '.set[="a\\"\\n"]'),
        (("list", 0, "a"), ".list[0].a"),
        ((), ""),
    ],
)
def test_paths_print_as_in_conflicts(steps: tuple[Any, ...], text: str) -> None:
    assert paths.path_text(path(*steps)) == text


def test_many_elements_are_in_the_same_order() -> None:
    elements = [f'v:"{number * 7919 % 50_021:06}"' for number in range(3 * paths.SORTED_AT_ONCE)]

    assert paths.ordered(elements) == sorted(elements)


def test_elements_sort_by_kind_then_by_value() -> None:
    elements = [
        "i:10",
        "i:9",
        "v:null",
        "v:true",
        "v:false",
        'v:"b"',
        'v:"a<"',
        'v:"a"',
        "v:10",
        "v:9",
        "v:9.5",
        'k:{"name":"b"}',
        'k:{"name":"a","port":9}',
        'k:{"name":"a"}',
        'k:{"name":"a","port":10}',
        "f:b",
        "f:a",
    ]

    assert paths.ordered(elements) == [
        "f:a",
        "f:b",
        'k:{"name":"a"}',
        'k:{"name":"a","port":9}',
        'k:{"name":"a","port":10}',
        'k:{"name":"b"}',
        "v:9",
        "v:9.5",
        "v:10",
        'v:"a"',
        'v:"a<"',
        'v:"b"',
        "v:false",
        "v:true",
        "v:null",
        "i:9",
        "i:10",
    ]


def test_fields_v1_of_a_set_is_in_canonical_order() -> None:
    found = fields(
        path("spec", "ports", {"port": 80}, "port"),
        path("spec", "ports", {"port": 80}),
        path("spec", "ports", {"port": 9}),
        path("metadata", "labels", "b"),
        path("metadata", "labels", "a"),
        path("metadata", "labels"),
    )

    assert found.to_json() == (
        b'{"f:metadata":{"f:labels":{".":{},"f:a":{},"f:b":{}}},'
        b'"f:spec":{"f:ports":{"k:{\\"port\\":9}":{},'
        b'"k:{\\"port\\":80}":{".":{},"f:port":{}}}}}'
    )


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("{}", []),
        ("null", []),
        ('{".":{}}', []),
        ('{"f:a":{}}', [path("a")]),
        ('{"f:a":null}', [path("a")]),
        ('{"f:a":{".":{}}}', [path("a")]),
        ('{"f:a":{"f:b":{}}}', [path("a", "b")]),
        ('{"f:a":{".":{},"f:b":{}}}', [path("a"), path("a", "b")]),
        ('{"f:a":{"f:b":{},".":7}}', [path("a"), path("a", "b")]),
        ('{"x:new":{"f:b":{}},"f:a":{}}', [path("a")]),
        ('{"f:a":{"x:new":{}}}', [path("a")]),
        (
            '{"k:{\\"a\\":1}":{"f:b":{}},"k:{\\"a\\":1.0}":{"f:c":{}}}',
            [path({"a": 1}, "b"), path({"a": 1}, "c")],
        ),
    ],
)
def test_fields_v1_is_read_as_a_set(text: str, members: list[paths.Path]) -> None:
    assert FieldSet.from_json(text) == fields(*members)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "fieldsV1: "),
        ("[]", "fieldsV1: expected an object, got list"),
        ('{"f:a":{"f:b":1}}', "fieldsV1 at f:a/f:b: expected an object, got int"),
        ('{"f:a":{"x":{}}}', 'fieldsV1 at f:a: "x": key must be 2 characters long'),
        ('{"name":{}}', 'fieldsV1: "name": missing colon'),
        ('{"i:x":{}}', 'fieldsV1: "i:x": expected an integer'),
        ('{"i:1234567890123456789012":{}}', "expected an integer"),
        ('{"v:":{}}', 'fieldsV1: "v:": not JSON'),
        ('{"v:{}":{}}', 'fieldsV1: "v:{}": a map cannot identify a list item'),
        ('{"k:[]":{}}', 'fieldsV1: "k:[]": expected a JSON object, got a list'),
        ('{"k:{\\"a\\":[]}":{}}', "a list cannot identify a list item"),
    ],
)
def test_what_is_no_fields_v1_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidFieldSet) as caught:
        FieldSet.from_json(text)

    assert message in str(caught.value)


def test_nesting_has_a_limit() -> None:
    hostile: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 2):
        hostile = {"f:a": hostile}

    with pytest.raises(InvalidFieldSet, match="nested more than"):
        FieldSet.from_fields_v1(hostile)


def test_keys_that_are_not_strings_are_refused() -> None:
    with pytest.raises(InvalidFieldSet, match="expected a string as key, got int"):
        FieldSet.from_fields_v1({1: {}})


A, AB, AC, B = path("a"), path("a", "b"), path("a", "c"), path("b")


@pytest.mark.parametrize(
    ("left", "right", "difference", "recursive"),
    [
        (fields(A, AB), fields(A), fields(AB), fields()),
        (fields(AB), fields(A), fields(AB), fields()),
        (fields(A), fields(AB), fields(A), fields(A)),
        (fields(AB, AC), fields(AB), fields(AC), fields(AC)),
        (fields(A, B), fields(B, AB), fields(A), fields(A)),
        (fields(), fields(A), fields(), fields()),
    ],
)
def test_differences(
    left: FieldSet, right: FieldSet, difference: FieldSet, recursive: FieldSet
) -> None:
    assert left - right == difference
    assert left.recursive_difference(right) == recursive


def test_a_parent_is_not_a_member_because_its_child_is() -> None:
    found = fields(AB)

    assert found.has(AB)
    assert not found.has(A)
    assert not found.has(())
    assert not found.has(path("x", "y"))


def test_leaves_are_the_members_without_members_below() -> None:
    assert fields(A, AB, B).leaves() == fields(AB, B)


def test_the_whole_object_is_no_member() -> None:
    assert fields(()) == EMPTY


def test_paths_come_members_first() -> None:
    found = fields(AB, B, A)

    assert list(found) == [A, B, AB]
    assert str(found) == ".a\n.b\n.a.b"


def test_equal_sets_hash_alike() -> None:
    assert hash(fields(A, AB, B)) == hash(fields(B, AB, A))
    assert {fields(A, AB), fields(AB, A)} == {fields(A, AB)}


def test_equal_fields_v1_can_share_one_set() -> None:
    one: Any = {"f:a": {"f:b": {}}}
    other: Any = {"f:a": {"f:b": {}}}

    assert FieldSet.interned(one) is FieldSet.interned(other)
    assert FieldSet.interned(one) == FieldSet.from_fields_v1(one)


@pytest.mark.parametrize("bad", [{"a": {}}, {1: {}}, {"f:a": {2}}])
def test_what_is_no_fields_v1_cannot_be_interned(bad: Any) -> None:
    with pytest.raises(InvalidFieldSet):
        FieldSet.interned(bad)


def test_a_large_set_is_read_but_not_kept() -> None:
    large: Any = {f"f:{number}": {} for number in range(2000)}

    assert FieldSet.interned(large) == FieldSet.interned(large)
    assert FieldSet.interned(large) is not FieldSet.interned(large)


def test_taking_away_what_is_not_there_gives_the_same_set() -> None:
    found = fields(A, AB, B)

    assert found - fields(AC, path("x", "y")) is found
    assert found.recursive_difference(fields(AC, path("x"))) is found


def test_a_set_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        fields(A).members = frozenset()  # type: ignore[misc]


quick = settings(deadline=None, max_examples=60)
scalars = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=4),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)
names = st.sampled_from("abcd") | st.text(st.characters(codec="utf-8"), max_size=3)
elements = st.one_of(
    names.map(paths.field),
    st.dictionaries(names, scalars, min_size=1, max_size=2).map(paths.key),
    scalars.map(paths.value),
    st.integers(0, 99).map(paths.index),
)
sets = st.lists(
    st.lists(st.sampled_from(["f:a", "f:b", "f:c"]) | elements, max_size=4).map(tuple), max_size=8
).map(lambda members: FieldSet.of(*members))


@quick
@given(sets)
def test_fields_v1_round_trips(found: FieldSet) -> None:
    text = found.to_json()

    assert FieldSet.from_json(text) == found
    assert FieldSet.from_json(text).to_json() == text
    assert set(found) == set(FieldSet.from_fields_v1(orjson.loads(text)))
    assert len(found) == len(set(found))


@quick
@given(sets, sets, sets)
def test_sets_keep_the_laws_of_algebra(a: FieldSet, b: FieldSet, c: FieldSet) -> None:
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert a & (b | c) == (a & b) | (a & c)
    assert a - (b | c) == (a - b) - c
    assert (a - b) | (a & b) == a
    assert a | a == a & a == a
    assert not a - a
    assert set((a - b).recursive_difference(c)) <= set(a - b)


@quick
@given(sets, sets)
def test_set_operations_are_those_of_sets_of_paths(a: FieldSet, b: FieldSet) -> None:
    assert set(a | b) == set(a) | set(b)
    assert set(a & b) == set(a) & set(b)
    assert set(a - b) == set(a) - set(b)


@quick
@given(
    st.recursive(
        scalars | st.none(),
        lambda inner: st.dictionaries(st.text(":fkvi.{}1", max_size=5), inner, max_size=3),
        max_leaves=6,
    )
)
def test_any_json_is_read_or_refused(value: Any) -> None:
    try:
        FieldSet.from_fields_v1(value)
    except InvalidFieldSet as error:
        assert str(error).startswith("fieldsV1")


@quick
@given(st.lists(elements, max_size=6))
def test_order_does_not_depend_on_where_elements_come_from(found: list[str]) -> None:
    assert paths.ordered(found) == paths.ordered(reversed(found))
