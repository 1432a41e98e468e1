"""CEL validation rules of schemas: when they are evaluated, on which values, with which message."""

from typing import Any

import pytest

from apimachinery.cel.program import EvaluationError, InvalidExpression, Program
from apimachinery.structural import Schema
from apimachinery.structural.schema_validation import ABSENT


def ruled(rule: str, place: dict[str, Any] | None = None, **more: Any) -> Schema:
    """Return a schema whose field `x` has one rule."""
    rules = [{"rule": rule, **more}]
    field = {**(place or {"type": "integer"}), "x-kubernetes-validations": rules}
    return Schema({"type": "object", "properties": {"x": field}})


def told(schema: Schema, value: Any, old: Any = ABSENT) -> list[str]:
    return [str(error) for error in schema.validate(value, old)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "x: Invalid value: failed rule: self < 3"),
        ({"message": " too big "}, "x: Invalid value: too big"),
        ({"messageExpression": "'got ' + string(self)"}, "x: Invalid value: got 5"),
        (
            {"messageExpression": "string(1 / 0)", "message": "too big"},
            "x: Invalid value: too big",
        ),
        ({"reason": "FieldValueForbidden", "message": "no"}, "x: Forbidden: no"),
        ({"reason": "FieldValueRequired", "message": "no"}, "x: Required value: no"),
        ({"reason": "FieldValueDuplicate"}, "x: Duplicate value: 5"),
    ],
)
def test_what_is_said_of_a_broken_rule(more: dict[str, Any], expected: str) -> None:
    schema = ruled("self < 3", **more)

    assert told(schema, {"x": 2}) == []
    assert told(schema, {"x": 5}) == [expected]


def test_a_rule_can_blame_a_field_below() -> None:
    place = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema = ruled("self.a < 3", place, fieldPath=".a")

    assert told(schema, {"x": {"a": 5}}) == ["x.a: Invalid value: failed rule: self.a < 3"]


def test_a_rule_that_cannot_be_evaluated_is_broken() -> None:
    place = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    (found,) = told(ruled("self.none == 1", place), {"x": {}})

    assert found == "x: Invalid value: no such key: none evaluating rule: self.none == 1"


def test_rules_about_a_change_are_asked_only_of_changes() -> None:
    schema = ruled("self >= oldSelf")

    assert told(schema, {"x": 1}) == []
    assert told(schema, {"x": 2}, {"x": 1}) == []
    assert told(schema, {"x": 1}, {"x": 2}) == ["x: Invalid value: failed rule: self >= oldSelf"]
    assert told(schema, {"x": 1}, {}) == []


def test_with_an_optional_past_a_rule_is_always_asked() -> None:
    schema = ruled("oldSelf.hasValue() || self == 0", optionalOldSelf=True, message="start at 0")

    assert told(schema, {"x": 1}) == ["x: Invalid value: start at 0"]
    assert told(schema, {"x": 0}) == []
    assert told(schema, {"x": 1}, {"x": 0}) == []


def test_what_has_not_changed_is_not_asked_again() -> None:
    schema = ruled("self < 3")

    assert told(schema, {"x": 5}, {"x": 5}) == []
    assert told(schema, {"x": 6}, {"x": 5}) == ["x: Invalid value: failed rule: self < 3"]


def test_items_of_keyed_lists_have_a_past() -> None:
    item = {
        "type": "object",
        "properties": {
            "k": {"type": "string"},
            "v": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
        },
    }
    keyed = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
    }
    schema = Schema({"type": "object", "properties": {"l": keyed}})
    old = {"l": [{"k": "a", "v": "1"}]}
    new = {"l": [{"k": "b", "v": "3"}, {"k": "a", "v": "2"}]}

    assert told(schema, new, old) == ["l[1].v: Invalid value: failed rule: self == oldSelf"]


@pytest.mark.parametrize(
    ("place", "value", "rule"),
    [
        (
            {"type": "string", "format": "date-time"},
            "2024-01-01T00:00:00Z",
            "self < timestamp('2025-01-01T00:00:00Z')",
        ),
        ({"type": "string", "format": "date"}, "2024-01-01", "self.getFullYear() == 2024"),
        ({"type": "string", "format": "duration"}, "1h", "self > duration('30m')"),
        ({"type": "string", "format": "byte"}, "aGk=", "self == b'hi'"),
        ({"type": "number"}, 1, "self + 0.5 == 1.5"),
        ({"x-kubernetes-int-or-string": True}, "5%", "type(self) == string"),
        (
            {"type": "object", "properties": {"a-b": {"type": "integer"}}},
            {"a-b": 1},
            "self.a__dash__b == 1",
        ),
        (
            {"type": "object", "properties": {"if": {"type": "integer"}}},
            {"if": 1},
            "self.__if__ == 1",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            {"a": 1},
            "self['a'] == 1.0",
        ),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], "self.all(s, s.size() == 1)"),
    ],
)
def test_values_have_the_types_of_their_schema(
    place: dict[str, Any], value: Any, rule: str
) -> None:
    assert told(ruled(rule, place), {"x": value}) == []


def test_of_metadata_only_the_names_are_known() -> None:
    rules = [{"rule": "self.metadata.name == 'a' && !has(self.metadata.labels)"}]
    schema = Schema({"type": "object", "x-kubernetes-validations": rules})
    assert schema.reads_metadata

    assert told(schema, {"metadata": {"name": "a", "labels": {"b": "c"}}}) == []


@pytest.mark.parametrize(
    "expression",
    [
        "[1, 2].isSorted() && ![2, 1].isSorted()",
        "[1, 2].sum() == 3 && [1, 2].min() == 1 && [1, 2].max() == 2",
        "['a', 'b', 'a'].indexOf('a') == 0 && ['a', 'b', 'a'].lastIndexOf('a') == 2",
        "sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1])",
        "sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])",
        "'ab12'.find('[0-9]+') == '12' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
        "'a1b2'.findAll('[0-9]', 1) == ['1']",
        "!format.dns1123Label().validate('a').hasValue()",
        "format.dns1123Label().validate('A').hasValue()",
        "format.labelValue().validate('a b').value()[0].contains('label')",
        "format.uuid().validate('a').hasValue()",
        "isURL('https://a.io') && !isURL('a b')",
        "url('https://u@a.io:80/p?q=1').getHost() == 'a.io:80'",
        "url('https://a.io:80/p?q=1').getPort() == '80'",
        "url('https://[::1]:80/p').getHostname() == '::1'",
        "url('https://a.io/p?q=1&q=2').getQuery()['q'] == ['1', '2']",
        "isIP('10.0.0.1') && !isIP('x') && ip('::1').isLoopback() && ip('::1').family() == 6",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').prefixLength() == 8",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.1')",
        "quantity('1Gi') == quantity('1024Mi') && quantity('1').isLessThan(quantity('2'))",
        "quantity('1').add(quantity('500m')).compareTo(quantity('1500m')) == 0",
        "quantity('3').asInteger() == 3 && quantity('3').sub(1).asInteger() == 2",
        "isQuantity('1Ki') && !isQuantity('x') && quantity('-1').sign() == -1",
        "self.?a.orValue(1) == 1 && cel.bind(x, 2, x * x) == 4",
        "'a,b'.split(',').join('-') == 'a-b' && math.greatest(1, 2) == 2",
    ],
)
def test_the_functions_that_kubernetes_adds(expression: str) -> None:
    assert Program(expression, result="bool").evaluate({}) is True


@pytest.mark.parametrize(
    "expression",
    ["quantity('x').sign() == 1", "ip('x').family() == 4", "1 / 0 == 1", "'a'.find('[') == ''"],
)
def test_what_has_no_value_says_so(expression: str) -> None:
    with pytest.raises(EvaluationError):
        Program(expression, result="bool").evaluate({})


@pytest.mark.parametrize(
    "expression", ["self +", "unknown", "1 + 'a' == 2", "1", "'" * 3, "((" * 500]
)
def test_what_is_no_rule_is_refused(expression: str) -> None:
    with pytest.raises(InvalidExpression):
        Program(expression, result="bool")


def test_items_of_an_unchanged_list_are_not_checked_again() -> None:
    item = {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 3"}]}
    schema = Schema(
        {
            "type": "object",
            "properties": {"x": {"type": "array", "items": item}, "y": {"type": "integer"}},
        }
    )

    assert told(schema, {"x": [5], "y": 1}, {"x": [5], "y": 2}) == []
    assert told(schema, {"x": [5, 1]}, {"x": [5]}) == ["x[0]: Invalid value: failed rule: self < 3"]


def test_fields_of_map_values_are_found_by_their_escaped_names() -> None:
    value = {"type": "object", "properties": {"foo-bar": {"type": "integer"}}}
    place = {
        "type": "object",
        "properties": {"m": {"type": "object", "additionalProperties": value}},
    }
    schema = ruled("self.m.k.foo__dash__bar == 3", place, message="not three")

    assert told(schema, {"x": {"m": {"k": {"foo-bar": 3}}}}) == []
    assert told(schema, {"x": {"m": {"k": {"foo-bar": 4}}}}) == ["x: Invalid value: not three"]
