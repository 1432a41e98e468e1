"""Costs of rules: Kubernetes' estimate when they are defined, and a bound when they run."""

import time
from contextlib import suppress
from typing import Any

import pytest

from apimachinery.cel.program import EvaluationError, InvalidExpression, Program
from apimachinery.cel.rule_budget import CALL_LIMIT, OBJECT_LIMIT
from apimachinery.cel.value_bounds import ActualBound, DeclaredBound, union
from apimachinery.structural import Schema
from tests.pauses import measures_time

REQUIRED = {
    "type": "object",
    "properties": {"required": {"type": "string"}, "optional": {"type": "string"}},
    "required": ["required"],
}


def array(kind: str, **limits: int) -> dict[str, Any]:
    return {"type": "array", "items": {"type": kind}, **limits}


def mapping(kind: str, **limits: int) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": {"type": kind}, **limits}


@pytest.mark.parametrize(
    ("schema", "rule", "cost"),
    [
        (array("number"), "self.all(x, true)", 4718591),
        (array("number", maxItems=10), "self.all(x, true)", 32),
        (array("string"), "self.all(x, true)", 3145727),
        (array("boolean"), "self.all(x, true)", 1887437),
        ({"type": "array", "items": array("number")}, "self.all(x, true)", 3145727),
        ({"type": "array", "items": REQUIRED}, "self.all(x, true)", 555128),
        (mapping("number"), "self.all(x, true)", 1348169),
        (mapping("number"), "has(self.x)", 0),
        (mapping("string"), "self.all(x, true)", 1179647),
        (mapping("boolean", maxProperties=100), "self.all(x, true)", 302),
        ({"type": "string"}, "self.contains('test')", 314574),
        ({"type": "string", "maxLength": 10}, "self.contains('test')", 5),
        ({"type": "string"}, "self.startsWith('test')", 2),
        ({"type": "string"}, 'size(self + "hello") > size("hello")', 314578),
        ({"type": "string", "maxLength": 4}, 'size(self + "hello") > size("hello")', 7),
        (array("number"), "self[1] == 0.0", 2),
        (array("string", maxItems=8), "self[1] == self[1]", 314577),
        (array("number", maxItems=10), "self.all(x, self.all(y, true))", 352),
        (array("number", maxItems=10), "self.all(x, self.all(y, self.all(z, true)))", 3552),
        ({"type": "string"}, 'self.matches("x")', 314574),
        ({"type": "string", "maxLength": 50}, 'self.matches("x")', 22),
        ({"type": "string"}, '"".matches("(((((((((())))))))))[0-9]")', 7),
        ({"type": "string"}, 'self.matches("")', 1),
        (mapping("number", maxProperties=0), 'self["x"] == 0.0', 2),
        ({"type": "string", "maxLength": 0}, 'self == "x"', 1),
        ({"type": "string", "format": "byte"}, 'self == b"x"', 2),
        (array("number"), "self.all(x, x == 0.0)", 6291454),
    ],
)
def test_the_estimate_of_a_definition_is_that_of_kubernetes(
    schema: dict[str, Any], rule: str, cost: int
) -> None:
    assert Program(rule, result="bool").definition_cost(DeclaredBound(schema)) == cost


def test_what_has_is_asked_of_counts_in_a_definition() -> None:
    schema = DeclaredBound({"type": "object", "properties": {"s": {"type": "string"}}})

    assert Program("has(self.a.b)", result="bool").definition_cost(schema) == 0
    computed = Program("has({'a': self.s + self.s}.a)", result="bool")
    assert computed.definition_cost(schema) > 600_000


def bound(rule: str, value: Any) -> int:
    variable = ActualBound([value])
    return Program(rule, result="bool").evaluation_cost(variable, variable)


NUMBERS = {"l": list(range(9_000))}
LARGE = {"s": "x" * 10_000, "t": "x" * 10_000, "l": list(range(40))}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("self.l.all(x, x >= 0 && x >= 0 && x >= 0 && x >= 0)", NUMBERS),
        ("self.l.all(x, self.l.all(y, x + y >= 0))", {"l": list(range(95))}),
        ("self.l.map(x, x + 1).size() > 0", {"l": list(range(800))}),
        ("self.l.filter(x, x > 1).map(x, [x]).size() > 0", {"l": list(range(500))}),
        ("self.l.filter(x, x.a > 0).map(x, x.a).sum() > 0", {"l": [{"a": 1}] * 500}),
        ("self.l.map(x, x.t).all(t, t.all(s, s.size() > 0))", {"l": [{"t": ["x"] * 9}] * 300}),
        ("self.l.all(x, self.l == self.l)", {"l": list(range(300))}),
        ("self.l.all(x, self.s == self.t && self.s <= self.t)", LARGE),
        ("self.l.all(x, !self.s.contains('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy'))", LARGE),
        ("self.l.all(x, self.s.matches('(x|y)*x(x|y){20}z') || true)", LARGE),
        ("self.l.all(x, 'a'.matches('(a|b){200}c') || true)", {"l": list(range(500))}),
        ("self.l.all(x, (self.s + self.s).size() > 0 && self.s.trim() != '')", LARGE),
        ("self.s.replace('', self.s).size() > 0", {"s": "x" * 2_000}),
        ("self.s.split('').map(c, c).join('').size() > 0", {"s": "x" * 700}),
        ("self.s.findAll('x').size() > 0", LARGE),
        ("[self.l]" + ".map(x, x + x)" * 12 + ".size() > 0", {"l": [1] * 10}),
        ("sets.equivalent(self.l, self.l)", {"l": [{"a": number} for number in range(300)]}),
        ("self.l.all(x, ip('1.2.3.4').family() == 4)", {"l": list(range(1_000))}),
        ("self.l.all(x, cidr('1.2.3.0/24').containsIP('1.2.3.4'))", {"l": list(range(500))}),
        ("self.l.all(x, url('http://a.b/c?d=e').getQuery().size() > 0)", {"l": [1] * 2_000}),
        ("self.l.all(x, '%.900f'.format([1.0]).size() > 0)", {"l": list(range(50))}),
        (
            "self.l.all(x, timestamp('2020-01-01T00:00:00Z') != timestamp(self.t))",
            {"l": list(range(2_000)), "t": "2021-01-01T00:00:00Z"},
        ),
    ],
)
def test_an_evaluation_takes_no_longer_than_its_bound(rule: str, value: dict[str, Any]) -> None:
    program = Program(rule, result="bool")
    unit = calibrate()

    cost = bound(rule, value)
    spent = min(seconds(program, value) for _ in range(3))

    assert spent <= cost * unit + 0.002


def calibrate() -> float:
    """Return the seconds that a cost of 1 takes on this machine, with a margin."""
    rule = "self.l.all(x, x >= 0 && x >= 0)"
    program = Program(rule, result="bool")
    return 5 * min(seconds(program, NUMBERS) for _ in range(3)) / bound(rule, NUMBERS)


def seconds(program: Program, value: Any) -> float:
    start = time.thread_time()
    with suppress(EvaluationError):
        program.evaluate(value)
    return time.thread_time() - start


@measures_time
@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("[self.s]" + ".map(x, x + x)" * 20 + ".size() > 0", {"s": "x" * 1_000}),
        ("self.l" + ".map(x, x + x)" * 20 + ".size() > 0", {"l": ["x"] * 9_000}),
        ("self.s.matches(self.p)", {"s": "ab" * 10_000, "p": "(a|b)*" * 20_000}),
        ("self.s.matches('" + "." * 10_000 + "')", {"s": "ab" * 10_000}),
        ("self.l.all(x, 'a'.matches('a{1000}a{1000}a{1000}'))", {"l": list(range(500))}),
        ("self.s.replace('', self.s).replace('', self.s).size() > 0", {"s": "x" * 10_000}),
        ("self.l.all(x, self.l.all(y, x == y))", {"l": ["x" * 1_000] * 5_000}),
        ("self.s.split('').map(c, self.s).join(self.s).size() > 0", {"s": "x" * 10_000}),
        ("self == self", {"l": [[]] * 200_000}),
        ("has({'a': [self.s]" + ".map(x, x + x)" * 15 + "}.a)", {"s": "x" * 1_000}),
    ],
)
def test_a_rule_that_would_take_too_long_is_not_evaluated(rule: str, value: Any) -> None:
    schema = Schema(
        {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "x-kubernetes-validations": [{"rule": rule}, {"rule": "false"}],
        }
    )
    schema.compile()
    start = time.thread_time()

    errors = [str(error) for error in schema.validate(value)]

    assert time.thread_time() - start < 1
    assert errors == [
        "<nil>: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no"
        f" further validation rules will be run due to call cost exceeds limit for rule: {rule}"
    ]


ITEM = {
    "name": "web",
    "on": True,
    "a": 1,
    "tags": ["x", "y"],
    "labels": {"app": "web"},
    "limits": {"cpu": "500m", "memory": "1Gi"},
    "ports": [{"name": "http", "port": 80}],
}
ORDINARY = {
    "items": [ITEM, {**ITEM, "name": "job", "a": 2}],
    "names": ["web", "job"],
    "min": 1,
    "max": 9,
    "first": {"name": "a"},
    "second": {"name": "b", "note": None},
}


@pytest.mark.parametrize(
    "rule",
    [
        "self.items.filter(i, i.on).all(i, i.name.size() > 1)",
        "self.items.filter(i, i.on)[0].name.size() == 3",
        "self.items.filter(i, i.a > 0).map(y, y.a).sum() == 3",
        "self.items.map(x, x.tags).all(ts, ts.all(t, t.size() < 10))",
        "self.items.map(x, [x.a, x.a]).all(p, p[0] <= p[1])",
        "self.items.map(x, x.on, x.name).all(n, n in self.names)",
        "self.items.all(x, self.items.exists_one(y, y.name == x.name))",
        "self.items.filter(i, has(i.ports)).all(i, i.ports.exists(p, p.port == 80))",
        "self.items.map(i, i.ports.filter(p, p.port > 1)).all(ps, ps[0].name.matches('^[a-z]+$'))",
        "self.items.filter(i, has(i.limits)).all(i, quantity(i.limits.cpu).isLessThan("
        "quantity('2')))",
        "self.items.map(i, i.limits).all(l, l.all(k, isQuantity(l[k])))",
        "self.items.map(i, i.labels).all(l, 'app' in l && l.app.startsWith('w'))",
        "self.items.map(i, {'n': i.name, 'a': i.a}).all(e, e.n != '')",
        "self.items.filter(i, i.on).filter(i, i.a == 2).all(i, i.tags.join(',') == 'x,y')",
        "self.items.filter(i, i.on).map(i, i.name) == self.names",
        "(has(self.absent) ? self.absent : []).all(x, x.name.size() > 0)",
        "(has(self.items) ? self.items : []).all(x, x.name.size() > 0)",
        "(has(self.absent) ? self.absent : self.items).map(x, x.name).all(n, n.size() == 3)",
        "[self.first, self.second].all(e, e.name.size() == 1 && !has(e.absent))",
        "(self.min > 1 ? self.first : self.second).name.startsWith('b')",
        "(self.items + self.items).filter(i, i.on).all(i, i.tags.size() == 2)",
        "!has(self.absent) || self.absent.filter(x, x.on).all(x, x.name == '')",
        "has(self.min) && has(self.max) && self.min <= self.max",
    ],
)
def test_ordinary_rules_cost_little(rule: str) -> None:
    assert bound(rule, ORDINARY) < 20_000
    assert Program(rule, result="bool").evaluate(ORDINARY) is True


@measures_time
def test_the_bounds_of_merged_values_do_not_grow_with_the_expression() -> None:
    rule = "[self.a, self.b]" + ".map(x, [x, self.a][0])" * 12 + ".all(x, x.size() >= 0)"
    start = time.thread_time()

    assert bound(rule, {"a": list(range(1_000)), "b": list(range(1_000))}) < CALL_LIMIT

    assert time.thread_time() - start < 0.5


def test_merged_values_are_all_bounded() -> None:
    few, many = ActualBound([1, 1]), ActualBound(["x" * 1_000, 1])

    assert union(few, many).size == union(many, few).size == 1_000
    assert union(ActualBound([]), many) is union(many, ActualBound([])) is many


def test_all_rules_of_an_object_share_a_budget() -> None:
    items = {**array("integer"), "x-kubernetes-validations": [{"rule": "self.all(x, x > 0)"}]}
    schema = Schema({"type": "object", "properties": {"rows": {"type": "array", "items": items}}})
    row = list(range(1, 4_000))
    rows = OBJECT_LIMIT // bound("self.all(x, x > 0)", row) + 1

    few = list(schema.validate({"rows": [row] * (rows // 2)}))
    many = [str(error) for error in schema.validate({"rows": [row] * rows + [[0]]})]

    assert few == []
    assert many == [
        f'rows[{rows - 1}]: Invalid value: "array": validation failed due to running out of cost'
        " budget, no further validation rules will be run"
    ]
    assert bound("self.all(x, x > 0)", row) < CALL_LIMIT


def test_expensive_rules_count_as_effort() -> None:
    rules = [{"rule": f"self.l.all(x, self.l.all(y, x < {n}))"} for n in range(20)]
    schema = Schema(
        {
            "type": "object",
            "properties": {"l": array("integer")},
            "x-kubernetes-validations": rules,
        }
    )

    assert schema.effort({"l": [1]}) < 1_000
    assert schema.effort({"l": [1] * 90}) > 2_000


@measures_time
@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "true" + ")" * 10_000,
        "self.a" + " + 1" * 3_000 + " > 0",
        "self" + ".a" * 5_000,
        " && ".join(["self.a > 0"] * 2_000),
        "[" * 5_000 + "]" * 5_000 + " == []",
    ],
)
def test_long_and_deep_expressions_are_refused_quickly(text: str) -> None:
    start = time.thread_time()

    with pytest.raises(InvalidExpression):
        Program(text, result="bool")

    assert time.thread_time() - start < 0.5


def test_only_the_fields_that_a_rule_reads_are_converted() -> None:
    program = Program("self.a.b > 1 && has(self.c) && oldSelf.d == 2", result="bool")

    assert program.reads == {"a": {"b": None}, "c": None}
    assert program.reads_old == {"d": None}
    assert Program("self.all(k, self[k] > 0)", result="bool").reads is None


@pytest.mark.parametrize(
    "keywords",
    [
        {"type": "string", "format": "duration"},
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "byte"},
        {"type": "number"},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"a": {}}},
    ],
)
@pytest.mark.parametrize("value", [[-(2**70)], {"metadata": 3}, 10**400, "99999h", "é", None])
def test_the_effort_of_values_that_have_another_type(keywords: dict[str, Any], value: Any) -> None:
    rules = [{"rule": "self == self && string(self) != ''"}]
    place = {**keywords, "x-kubernetes-validations": rules}

    assert Schema({"type": "object", "properties": {"x": place}}).effort({"x": value}) >= 0
