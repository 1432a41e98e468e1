"""Structural schemas: pruning, defaulting and validation, with the messages of Kubernetes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.model.model import deep_copy
from apimachinery.structural import Schema
from apimachinery.structural.schema_validation import ABSENT

OPEN = {"x-kubernetes-preserve-unknown-fields": True}


def of(**properties: Any) -> Schema:
    return Schema({"type": "object", "properties": properties})


def told(schema: Schema, value: Any, old: Any = ABSENT) -> list[str]:
    return [str(error) for error in schema.validate(value, old)]


# Pruning


@pytest.mark.parametrize(
    ("place", "value", "kept", "dropped"),
    [
        ({"type": "object"}, {"a": 1}, {}, ["x.a"]),
        ({"type": "object", **OPEN}, {"a": {"b": 1}}, {"a": {"b": 1}}, []),
        (
            {"type": "object", **OPEN, "properties": {"a": {"type": "object"}}},
            {"a": {"b": 1}, "c": 1},
            {"a": {}, "c": 1},
            ["x.a.b"],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "object"}},
            {"k": {"a": 1}},
            {"k": {}},
            ["x.k.a"],
        ),
        (
            {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            [{"a": "1"}, {"b": 2}],
            [{"a": "1"}, {}],
            ["x[1].b"],
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {}},
            {"apiVersion": "v1", "kind": "A", "metadata": {"name": "b", "odd": 1}, "spec": {}},
            {"apiVersion": "v1", "kind": "A", "metadata": {"name": "b"}},
            ["x.metadata.odd", "x.spec"],
        ),
        ({"type": "string"}, {"a": 1}, {"a": 1}, []),
    ],
)
def test_what_is_unknown_is_dropped(
    place: dict[str, Any], value: Any, kept: Any, dropped: list[str]
) -> None:
    document = {"x": value}

    assert of(x=place).prune(document) == dropped
    assert document == {"x": kept}


def test_the_metadata_of_a_resource_is_none_of_the_schemas_business() -> None:
    document = {"apiVersion": "v1", "kind": "A", "metadata": {"odd": 1}, "other": 1}

    assert of().prune(document) == ["other"]
    assert document["metadata"] == {"odd": 1}


# Defaulting


@pytest.mark.parametrize(
    ("place", "value", "filled"),
    [
        ({"type": "integer", "default": 3}, {}, {"x": 3}),
        ({"type": "integer", "default": 3}, {"x": None}, {"x": 3}),
        ({"type": "integer", "default": 3, "nullable": True}, {"x": None}, {"x": None}),
        ({"type": "integer"}, {"x": None}, {}),
        ({"type": "integer", "nullable": True}, {"x": None}, {"x": None}),
        (
            {
                "type": "object",
                "default": {},
                "properties": {"a": {"type": "string", "default": "b"}},
            },
            {},
            {"x": {"a": "b"}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "default": "b"}}},
            {},
            {},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string", "default": "d"}},
            {"x": {"k": None, "l": "m"}},
            {"x": {"k": "d", "l": "m"}},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"x": {"k": None}},
            {"x": {}},
        ),
        (
            {"type": "array", "items": {"type": "string", "default": "d"}},
            {"x": [None, "a"]},
            {"x": ["d", "a"]},
        ),
    ],
)
def test_what_is_missing_is_filled_in(place: dict[str, Any], value: Any, filled: Any) -> None:
    of(x=place).default(value)

    assert value == filled


def test_a_default_is_never_shared() -> None:
    schema = of(x={"type": "object", "default": {"a": []}, **OPEN})
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}

    schema.default(one)
    schema.default(other)
    one["x"]["a"].append(1)

    assert other == {"x": {"a": []}}


# Validation


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ({"type": "integer"}, 1, None),
        ({"type": "integer"}, 1.0, None),
        (
            {"type": "integer"},
            1.5,
            'Invalid value: "number": x in body must be of type integer: "number"',
        ),
        (
            {"type": "integer"},
            True,
            'Invalid value: "boolean": x in body must be of type integer: "boolean"',
        ),
        ({"type": "number"}, 1, None),
        (
            {"type": "string"},
            None,
            'Invalid value: "null": x in body must be of type string: "null"',
        ),
        ({"type": "string", "nullable": True}, None, None),
        ({"x-kubernetes-int-or-string": True}, "50%", None),
        (
            {"x-kubernetes-int-or-string": True},
            [],
            'Invalid value: "array": x in body must be of type integer,string: "array"',
        ),
        (
            {"type": "integer", "minimum": 1},
            0,
            "Invalid value: 0: x in body should be greater than or equal to 1",
        ),
        (
            {"type": "number", "minimum": 0.5, "exclusiveMinimum": True},
            0.5,
            "Invalid value: 0.5: x in body should be greater than 0.5",
        ),
        (
            {"type": "integer", "maximum": 1},
            2,
            "Invalid value: 2: x in body should be less than or equal to 1",
        ),
        (
            {"type": "integer", "maximum": 1, "exclusiveMaximum": True},
            1,
            "Invalid value: 1: x in body should be less than 1",
        ),
        (
            {"type": "integer", "multipleOf": 3},
            4,
            "Invalid value: 4: x in body should be a multiple of 3",
        ),
        ({"type": "number", "multipleOf": 0.1}, 0.3, None),
        ({"type": "number"}, 1e23, None),
        ({"type": "number", "enum": [1e23]}, 1e23, None),
        ({"type": "integer"}, 2.0**53 - 1, None),
        (
            {"type": "integer"},
            2.0**53,
            'Invalid value: "number": x in body must be of type integer: "number"',
        ),
        (
            {"type": "integer"},
            2**63,
            'Invalid value: "number": x in body must be of type integer: "number"',
        ),
        (
            {"type": "number", "multipleOf": 1e-300},
            1e300,
            "Invalid value: 1e+300: x in body should be a multiple of 1e-300",
        ),
        ({"type": "string", "maxLength": 1}, "éa", "Too long: may not be more than 1 byte"),
        ({"type": "string", "maxLength": 1}, "é", None),
        (
            {"type": "string", "minLength": 2},
            "a",
            'Invalid value: "a": x in body should be at least 2 chars long',
        ),
        (
            {"type": "string", "pattern": "^a$"},
            "b",
            "Invalid value: \"b\": x in body should match '^a$'",
        ),
        (
            {"type": "string", "pattern": "^a$"},
            "a\n",
            "Invalid value: \"a\\n\": x in body should match '^a$'",
        ),
        (
            {"type": "string", "format": "date-time"},
            "x",
            'Invalid value: "x": x in body must be of type date-time: "x"',
        ),
        ({"type": "string", "format": "unheard-of"}, "x", None),
        (
            {"type": "string", "enum": ["a", "b"]},
            "c",
            'Unsupported value: "c": supported values: "a", "b"',
        ),
        (
            {"type": "integer", "enum": [1, 2]},
            3,
            'Unsupported value: 3: supported values: "1", "2"',
        ),
        ({"type": "integer", "enum": [1]}, 1.0, None),
        (
            {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            ["a", "b"],
            "Too many: 2: must have at most 1 item",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            [],
            "Invalid value: []: x in body should have at least 1 items",
        ),
        (
            {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}},
            {"a": "", "b": ""},
            "Too many: 2: must have at most 1 item",
        ),
        (
            {"type": "object", "minProperties": 1, **OPEN},
            {},
            "Invalid value: {}: x in body should have at least 1 properties",
        ),
    ],
)
def test_a_value_is_held_to_its_keywords(
    place: dict[str, Any], value: Any, expected: str | None
) -> None:
    found = told(of(x=place), {"x": value})

    assert found == ([] if expected is None else [f"x: {expected}"])


@pytest.mark.parametrize(
    ("keywords", "value", "expected"),
    [
        ({"anyOf": [{"minimum": 5}, {"maximum": 1}]}, 1, []),
        (
            {"anyOf": [{"minimum": 5}, {"maximum": 1}]},
            3,
            [
                '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
                "x: Invalid value: 3: x in body should be greater than or equal to 5",
            ],
        ),
        ({"type": "object", "anyOf": [{"additionalProperties": False}]}, {}, []),
        (
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "anyOf": [{"additionalProperties": False}],
            },
            {"y": 1},
            [
                '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
                'x: Invalid value: "y": x.y in body is a forbidden property',
            ],
        ),
        ({"oneOf": [{"minimum": 5}, {"maximum": 1}]}, 5, []),
        (
            {"oneOf": [{"minimum": 1}, {"maximum": 9}]},
            5,
            [
                '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf).'
                " Found 2 valid alternatives"
            ],
        ),
        (
            {"allOf": [{"minimum": 5}, {"maximum": 9}]},
            1,
            [
                "x: Invalid value: 1: x in body should be greater than or equal to 5",
                '<nil>: Invalid value: "": "x" must validate all the schemas (allOf)',
            ],
        ),
        (
            {"not": {"minimum": 5}},
            6,
            ['<nil>: Invalid value: "": "x" must not validate the schema (not)'],
        ),
    ],
)
def test_alternatives(keywords: dict[str, Any], value: Any, expected: list[str]) -> None:
    assert told(of(x={"type": "integer", **keywords}), {"x": value}) == expected


def test_places_are_named_through_maps_and_lists() -> None:
    item = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    schema = of(
        m={"type": "object", "additionalProperties": {"type": "array", "items": item}},
    )

    assert told(schema, {"m": {"k": [{"n": 1}, {}, {"n": "x"}]}}) == [
        "m.k[1].n: Required value",
        'm.k[2].n: Invalid value: "string": m.k[2].n in body must be of type integer: "string"',
    ]


def test_an_embedded_resource_says_what_it_is() -> None:
    schema = of(x={"type": "object", "x-kubernetes-embedded-resource": True, **OPEN})

    assert told(schema, {"x": {"kind": "a b", "metadata": {"labels": {"a": "b c"}}}})[:2] == [
        "x.apiVersion: Required value",
        'x.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035'
        " label must consist of lower case alphanumeric characters or '-', start with an"
        " alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or"
        " 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ]


def test_sets_and_maps_hold_each_item_once() -> None:
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a", "b"],
        "items": {"type": "object", **OPEN},
    }
    plain = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}}
    value = {"m": [{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"b": 2, "a": 1}], "s": [1, 2, 1, 1]}

    assert told(of(m=keyed, s=plain), value) == [
        'm[2]: Duplicate value: {"a":1,"b":2}',
        "s[2]: Duplicate value: 1",
    ]


def test_what_has_not_changed_is_not_asked_again() -> None:
    strict = {"type": "string", "enum": ["a"]}
    listed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": strict}},
    }
    schema = of(x=strict, y=strict, l=listed)
    old = {"x": "b", "y": "b", "l": [{"k": "1", "v": "b"}]}
    new = {"x": "b", "y": "c", "l": [{"k": "2", "v": "c"}, {"k": "1", "v": "b"}]}

    assert told(schema, new, old) == [
        'l[0].v: Unsupported value: "c": supported values: "a"',
        'y: Unsupported value: "c": supported values: "a"',
    ]


def test_old_duplicates_and_embedded_resources_are_ratcheted() -> None:
    unique = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, **OPEN}
    schema = of(s=unique, e=embedded, n={"type": "integer"})
    old = {"s": ["a", "a"], "e": {"kind": "K"}}

    assert told(schema, {**old, "n": 1}, old) == []
    assert told(schema, {"s": ["a", "a"], "e": {}}, {"s": ["a"], "e": {"kind": "K"}}) == [
        "e.kind: Required value",
        's[1]: Duplicate value: "a"',
    ]


# Properties

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text("abc", max_size=2), below, max_size=3)
    ),
    max_leaves=10,
)


def schemas(depth: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    scalars: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "default": "d", "maxLength": 3},
            {"type": "integer", "minimum": 0},
            {"type": "boolean", "nullable": True},
            {"x-kubernetes-int-or-string": True},
            dict(OPEN),
        ]
    )
    if not depth:
        return scalars
    below = schemas(depth - 1)
    objects = st.dictionaries(st.text("abc", min_size=1, max_size=1), below, max_size=3).map(
        lambda properties: {"type": "object", "properties": properties}
    )
    maps = below.map(lambda values: {"type": "object", "additionalProperties": values})
    lists = below.map(lambda items: {"type": "array", "items": items})
    return scalars | objects | maps | lists


ROOTS = st.dictionaries(st.sampled_from(("a", "b", "spec")), schemas(), max_size=3).map(
    lambda properties: {"type": "object", "properties": properties}
)
DOCUMENTS = st.dictionaries(st.sampled_from(("a", "b", "spec", "c")), JSON_VALUES, max_size=4)


@given(ROOTS, DOCUMENTS)
def test_pruning_and_defaulting_are_done_once_and_for_all(
    source: dict[str, Any], document: dict[str, Any]
) -> None:
    schema = Schema(source)
    schema.prune(document)
    schema.default(document)
    before = deep_copy(document)

    dropped = schema.prune(document)
    schema.default(document)

    assert dropped == []
    assert document == before


@given(ROOTS, DOCUMENTS)
def test_any_value_can_be_validated_and_nothing_is_wrong_with_what_stays(
    source: dict[str, Any], document: dict[str, Any]
) -> None:
    schema = Schema(source)

    for error in schema.validate(document):
        assert str(error)
    assert list(schema.validate(document, deep_copy(document))) == []
