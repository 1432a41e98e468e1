"""Evaluation: what expressions cost, their limits, and values of hostile sizes."""

import time
from typing import Any

import pytest

from apimachinery.cel.interpreter.authorization import (
    AuthorizationAnswer,
    AuthorizationCheck,
    AuthorizerValue,
    ResourceCheck,
    Unanswered,
)
from apimachinery.cel.interpreter.objects import JSONPatchValue, ObjectValue, to_json
from apimachinery.cel.interpreter.planned_expression import EvaluationOutcome, PlannedExpression
from apimachinery.cel.interpreter.values import CELError
from tests.pauses import machine_factor, measures_time

EXCEEDED = "operation cancelled: actual cost limit exceeded"


def evaluated(text: str, **variables: Any) -> EvaluationOutcome:
    return PlannedExpression(text, variables).evaluate(variables)


def value(text: str, **variables: Any) -> Any:
    outcome = evaluated(text, **variables)
    assert outcome.error is None
    return outcome.value


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("1 + 2", 1),
        ("object", 1),
        ("object.a.b", 3),
        ("has(object.a.b)", 2),
        ("object.text.startsWith('aaaaaaaaaaa')", 4),
        ("object.text + object.text", 2 * 2 + 20),
        ("object.items.all(x, x >= 0)", 2 + 10 * 5 + 1),
        ("object.text.matches('[a-z]+')", 2 + 11 * 2),
        ("['a', 'b'].join(',')", 1),
        ("{'a': 1}", 30),
    ],
)
def test_costs_are_those_of_kubernetes(text: str, cost: int) -> None:
    subject = {"a": {"b": 1}, "text": "a" * 100, "items": list(range(10))}

    assert evaluated(text, object=subject).cost == cost


HOSTILE = [
    # a gigabyte out of a few characters
    "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1].map(x, object.text).map(x, x + x)"
    ".map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x)",
    "object.text.replace('a', object.text)",
    "object.items.map(x, object.text).join(object.text)",
    "object.items.map(x, '%s'.format([object.items]))",
    "object.items.map(x, object.items).flatten().map(x, object.items).flatten()",
    "lists.range(9999999)",
    # many comparisons that count as one
    "object.items.all(x, object.items.map(y, y) == object.items.map(y, y))",
    "object.items.all(x, [object.items] == [object.items.map(y, y)])",
    "sets.contains(object.items, object.items)",
    "object.items.map(x, [x]).distinct()",
    "object.items.all(x, !(object.items in [object.items.map(y, y + 1)]))",
    "object.items.all(x, object.items.all(y, x + y >= 0))",
    "object.text.matches('(a?){500}(a?){500}' + object.text)",
    "object.items.all(x, object.items + object.items != [])",
    "object.items.sortBy(x, object.text + string(x))",
]


@measures_time
@pytest.mark.parametrize("text", HOSTILE)
def test_no_expression_outgrows_its_limit(text: str) -> None:
    subject = {"text": "a" * 100_000, "items": list(range(5_000))}

    started = time.process_time()
    outcome = evaluated(text, object=subject)
    seconds = time.process_time() - started

    assert outcome.error == EXCEEDED
    assert seconds < 2 * machine_factor()


def test_an_expression_that_is_nested_too_deeply_has_no_value() -> None:
    nested: Any = []
    for _ in range(5_000):
        nested = [nested]

    outcome = evaluated("object == [object]", object=nested)

    assert outcome.error == "the value is nested too deeply"


def test_loops_go_on_after_an_error_that_may_not_matter() -> None:
    assert value("[0, 1].exists(x, 1 / x == 1)") is True
    assert value("[0, 1].all(x, 1 / x == 5)") is False
    assert evaluated("[0, 1].all(x, 1 / x == 1)").error == "division by zero"


def test_an_authorizer_is_asked_between_two_evaluations() -> None:
    answers: dict[AuthorizationCheck, AuthorizationAnswer] = {}
    program = PlannedExpression(
        "authorizer.group('apps').resource('deployments').namespace('a').name('b')"
        ".subresource('scale').check('update').allowed()",
        {"authorizer"},
    )
    variables = {"authorizer": AuthorizerValue(AuthorizationCheck(), answers)}
    wanted = AuthorizationCheck(
        group="apps",
        resource="deployments",
        namespace="a",
        name="b",
        subresource="scale",
        verb="update",
    )

    with pytest.raises(Unanswered) as asked:
        program.evaluate(variables)
    answers[asked.value.check] = AuthorizationAnswer(True)

    assert asked.value.check == wanted
    assert program.evaluate(variables).value is True


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (
            "authorizer.path('/metrics').check('get')",
            AuthorizationCheck(path="/metrics", verb="get"),
        ),
        (
            "authorizer.serviceAccount('ns', 'sa').path('/a').check('get')",
            AuthorizationCheck(account=("ns", "sa"), path="/a", verb="get"),
        ),
        (
            "authorizer.requestResource.labelSelector('a=b').check('list')",
            AuthorizationCheck(resource="pods", label_selector="a=b", verb="list"),
        ),
    ],
)
def test_checks_name_what_is_asked(text: str, check: AuthorizationCheck) -> None:
    variables = {
        "authorizer": AuthorizerValue(AuthorizationCheck(), {}),
        "authorizer.requestResource": ResourceCheck(AuthorizationCheck(resource="pods"), {}),
    }

    with pytest.raises(Unanswered) as asked:
        PlannedExpression(text, variables).evaluate(variables)

    assert asked.value.check == check


def test_three_checks_are_too_many_for_one_expression() -> None:
    answers = {
        AuthorizationCheck(path=f"/{name}", verb="get"): AuthorizationAnswer(True) for name in "abc"
    }
    checks = [f"authorizer.path('/{name}').check('get').allowed()" for name in "abc"]
    authorizer = AuthorizerValue(AuthorizationCheck(), answers)

    assert evaluated(" && ".join(checks[:2]), authorizer=authorizer).value is True
    assert evaluated(" && ".join(checks), authorizer=authorizer).error == EXCEEDED


def test_constructed_objects_become_documents() -> None:
    made = value(
        "Object{metadata: Object.metadata{labels: {'a': string(1)}},"
        " spec: Object.spec{replicas: 2, ?paused: optional.none(), parts: [{'b': 1.5}]}}"
    )

    assert isinstance(made, ObjectValue)
    assert made.mismatched_types() == []
    assert to_json(made) == {
        "metadata": {"labels": {"a": "1"}},
        "spec": {"replicas": 2, "parts": [{"b": 1.5}]},
    }


def test_types_of_constructed_objects_must_be_named_like_their_fields() -> None:
    made = value("Object{spec: Object.status{replicas: 2}}")

    assert made.mismatched_types() == [
        'unexpected type name "Object.status", expected "Object.spec", which matches field name'
        " path from root Object type"
    ]


def test_operations_of_a_json_patch_have_fields() -> None:
    made = value("[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/~'), value: [1]}]")

    assert isinstance(made[0], JSONPatchValue)
    assert made[0].fields == {"op": "add", "path": "/a/b~1~0", "value": [1]}
    assert evaluated("JSONPatch{op: dyn(1)}").error == (
        "unexpected type int for JSONPatchType 'op' field"
    )


def test_values_that_are_no_json_have_no_document() -> None:
    with pytest.raises(CELError, match="type conversion error from 'Quantity'"):
        to_json(value("quantity('1')"))
    with pytest.raises(CELError, match="not string"):
        to_json(value("{1: 2}"))


def test_unknown_names_are_refused_when_an_expression_is_planned() -> None:
    with pytest.raises(CELError, match="undeclared reference to 'nothing'"):
        PlannedExpression("nothing", ())
    with pytest.raises(CELError, match="undeclared reference to 'missing'"):
        PlannedExpression("missing(1)", ())


@pytest.mark.parametrize(
    "text",
    [
        "optional.unwrap(object.items)",
        "object.items.unwrapOpt()",
        "double(object.huge) > 0.0",
        "quantity('1').add(object.huge).isInteger()",
    ],
)
def test_values_that_a_function_cannot_take_are_errors_of_the_expression(text: str) -> None:
    outcome = evaluated(text, object={"items": [1], "huge": 10**400})

    assert outcome.error
    assert outcome.value is None
