"""Admission policies and bindings: their defaults, what is wrong with one, how one is shown."""

from typing import Any

import pytest

from apis.admissionregistration import printers, strategy
from apis.admissionregistration.v1 import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from tests.apis.admissionregistration.documents import (
    DEFAULTED_MATCH,
    DEFAULTED_RULE,
    RULE,
    binding,
    mutating_policy,
    policy,
)
from tests.apis.validating import decoded, messages

VALIDATING = strategy.ValidatingPolicyStrategy()
MUTATING = strategy.MutatingPolicyStrategy()
BINDING = strategy.ValidatingPolicyBindingStrategy()
MUTATING_BINDING = strategy.MutatingPolicyBindingStrategy()


def validating(**changes: Any) -> ValidatingAdmissionPolicy:
    return decoded(ValidatingAdmissionPolicy, policy(**changes))


def mutating(**changes: Any) -> MutatingAdmissionPolicy:
    return decoded(MutatingAdmissionPolicy, mutating_policy(**changes))


def bound(**spec: Any) -> ValidatingAdmissionPolicyBinding:
    return decoded(ValidatingAdmissionPolicyBinding, binding(**spec))


def failure(text: str, line: int, column: int, problem: str) -> str:
    """The message about an expression that does not compile."""
    source = text.split("\n")[line - 1]
    return (
        f"compilation failed: ERROR: <input>:{line}:{column}: {problem}"
        f"\n | {source}\n | {'.' * (column - 1)}^"
    )


def test_a_minimal_policy_gets_its_defaults() -> None:
    assert validating().spec.model_dump(by_alias=True, mode="json") == {
        "failurePolicy": "Fail",
        "matchConstraints": {**DEFAULTED_MATCH, "resourceRules": [DEFAULTED_RULE]},
        "validations": [{"expression": "true"}],
    }
    assert mutating().spec.failure_policy == "Fail"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"failurePolicy": "Retry"}, ['failurePolicy: Unsupported value: "Retry"']),
        ({"matchConstraints": None}, ["matchConstraints: Required value"]),
        ({"matchConstraints": {}}, ["matchConstraints.resourceRules: Required value"]),
        (
            {"matchConstraints": {"resourceRules": [{**RULE, "resourceNames": ["a", "a", "b/c"]}]}},
            [
                'matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
                'matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not'
                " contain '/'",
            ],
        ),
        (
            {"paramKind": {}},
            ["paramKind.apiVersion: Required value", "paramKind.kind: Required value"],
        ),
        (
            {"paramKind": {"apiVersion": "a/b/c", "kind": "ConfigMap"}},
            ['paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
        ),
        (
            {"paramKind": {"apiVersion": "a/", "kind": "ConfigMap"}},
            ['paramKind.apiVersion: Invalid value: "a/": version must be specified'],
        ),
        (
            {"variables": [{"name": "in", "expression": "1"}, {"name": "", "expression": " "}]},
            [
                'variables[0].name: Invalid value: "in": must be a valid CEL identifier',
                "variables[1].name: Required value: name is not specified",
                "variables[1].expression: Required value: expression is not specified",
            ],
        ),
    ],
)
def test_rules_of_all_policies(changes: dict[str, Any], expected: list[str]) -> None:
    supported = ': supported values: "Fail", "Ignore"' if "failurePolicy" in changes else ""
    texts = [f"spec.{text}{supported}" for text in expected]

    assert messages(VALIDATING.validate(validating(**changes))) == texts
    assert messages(MUTATING.validate(mutating(**changes))) == texts


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"validations": []},
            [
                f"{field}: Required value: validations or auditAnnotations must contain at least"
                " one item"
                for field in ("validations", "auditAnnotations")
            ],
        ),
        (
            {"validations": [{"expression": " ", "message": "a\nb", "reason": "Odd"}]},
            [
                "validations[0].expression: Required value: expression is not specified",
                'validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
                'validations[0].reason: Unsupported value: "Odd": supported values: "Forbidden",'
                ' "Invalid", "RequestEntityTooLarge"',
            ],
        ),
        (
            {"validations": [{"expression": "true", "messageExpression": "1", "message": " "}]},
            [
                'validations[0].messageExpression: Invalid value: "1": must evaluate to string but'
                " got int",
                'validations[0].message: Invalid value: " ": must be non-empty if specified',
            ],
        ),
        (
            {
                "auditAnnotations": [
                    {"key": "a", "valueExpression": "null"},
                    {"key": "a", "valueExpression": "1"},
                    {"key": "b"},
                    {"key": "c", "valueExpression": f"'{'x' * 5120}'"},
                ]
            },
            [
                'auditAnnotations[1].valueExpression: Invalid value: "1": must evaluate to one of'
                " [string null_type] but got int",
                'auditAnnotations[1].key: Duplicate value: "a"',
                "auditAnnotations[2].valueExpression: Required value: valueExpression is not"
                " specified",
                "auditAnnotations[3].valueExpression: Required value: must not exceed 5120 bytes"
                " in length",
            ],
        ),
    ],
)
def test_rules_of_validating_policies(changes: dict[str, Any], expected: list[str]) -> None:
    errors = messages(VALIDATING.validate(validating(**changes)))

    assert errors == [f"spec.{text}" for text in expected]


@pytest.mark.parametrize(
    "text",
    [
        "has(object.spec) && object.spec.replicas <= 5",
        "object.spec.containers.all(c, c.image.startsWith('registry/'))",
        "request.userInfo.groups.exists(g, g == 'admins')",
        "namespaceObject.metadata.labels['a'] == 'b'",
        "authorizer.group('').resource('pods').check('get').allowed()",
        "authorizer.requestResource.check('approve').allowed()",
        "quantity('1').isLessThan(quantity('2')) && semver('1.0.0').major() > 0",
        "cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))",
        "object.?spec.?replicas.orValue(1) > 1.5",
        "variables.limit > 3 && variables.labels.app.startsWith('a')",
        "  true\n",
    ],
)
def test_expressions_of_policies(text: str) -> None:
    variables = [
        {"name": "half", "expression": "2"},
        {"name": "limit", "expression": "variables.half * 2"},
        {"name": "labels", "expression": "{'app': 'a'}"},
    ]
    changes = {"variables": variables, "validations": [{"expression": text}]}

    assert messages(VALIDATING.validate(validating(**changes))) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("object.spec", "must evaluate to bool but got dyn"),
        ("request.userInfo.groups", "must evaluate to bool but got list(string)"),
        ("quantity('1')", "must evaluate to bool but got kubernetes.Quantity"),
        ("request.verb == 'x'", (1, 8, "undefined field 'verb'")),
        ("params.x == 1", (1, 1, "undeclared reference to 'params' (in container '')")),
        ("variables.y == 1", (1, 10, "undefined field 'y'")),
        (
            "variables.x == 'a'",
            (1, 13, "found no matching overload for '_==_' applied to '(int, string)'"),
        ),
        (
            "authorizer.group(1)",
            (
                *(1, 17),
                "found no matching overload for 'group' applied to"
                " 'kubernetes.authorization.Authorizer.(int)'",
            ),
        ),
        ("true ||\n foo", (2, 2, "undeclared reference to 'foo' (in container '')")),
        (
            "request.name.first == 1",
            (1, 13, "type 'string' does not support field selection"),
        ),
        ("Object{} == 1", (1, 7, "undeclared reference to 'Object' (in container '')")),
    ],
)
def test_expressions_that_do_not_compile(text: str, problem: Any) -> None:
    detail = problem if isinstance(problem, str) else failure(text, *problem)
    variables = [{"name": "x", "expression": "1"}]
    changes = {"variables": variables, "validations": [{"expression": text}]}

    (error,) = VALIDATING.validate(validating(**changes))

    assert (error.bad_value, error.detail) == (text, detail)


def test_only_policies_with_parameters_see_them() -> None:
    changes = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConditions": [{"name": "a", "expression": "params.data.a == 'b'"}],
        "validations": [{"expression": "params.a == 1", "messageExpression": "'no ' + params.a"}],
    }

    assert messages(VALIDATING.validate(validating(**changes))) == []


def test_messages_do_not_see_the_authorizer() -> None:
    text = "string(authorizer.path('/').check('get').allowed())"
    changes = {"validations": [{"expression": "true", "messageExpression": text}]}

    (error,) = VALIDATING.validate(validating(**changes))

    assert "undeclared reference to 'authorizer'" in error.detail


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("ApplyConfiguration", "Object{spec: Object.spec{replicas: 1}}", ""),
        (
            "ApplyConfiguration",
            "has(object.x) ? Object{} : Object{spec: Object.spec{list: [Object.spec.list{a: 1}]}}",
            "",
        ),
        ("ApplyConfiguration", "{'a': 1}", "must evaluate to Object but got map(string, int)"),
        (
            "ApplyConfiguration",
            "Object.spec{replicas: 1}",
            "must evaluate to Object but got Object.spec",
        ),
        ("JSONPatch", "[JSONPatch{op: 'add', path: '/a', value: Object.a{b: 1}}]", ""),
        ("JSONPatch", "[]", "must evaluate to list(JSONPatch) but got list(dyn)"),
        (
            "JSONPatch",
            "[JSONPatch{op: 'remove', path: '/' + jsonpatch.escapeKey('a/b')}]",
            "",
        ),
    ],
)
def test_mutations(kind: str, text: str, problem: str) -> None:
    field = kind[:1].lower() + kind[1:] if kind == "ApplyConfiguration" else "jsonPatch"
    changes = {"mutations": [{"patchType": kind, field: {"expression": text}}]}

    errors = [error.detail for error in MUTATING.validate(mutating(**changes))]

    assert errors == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"mutations": [], "reinvocationPolicy": ""},
            [
                "mutations: Required value: mutations must contain at least one item",
                "reinvocationPolicy: Required value",
            ],
        ),
        (
            {"reinvocationPolicy": "Always", "mutations": [{}, {"patchType": "Merge"}]},
            [
                "mutations[0].patchType: Required value",
                'mutations[1].patchType: Unsupported value: "Merge": supported values:'
                ' "ApplyConfiguration", "JSONPatch"',
                'reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded",'
                ' "Never"',
            ],
        ),
        (
            {"mutations": [{"patchType": "JSONPatch", "applyConfiguration": {}}]},
            [
                "mutations[0].jsonPatch: Required value: must be specified when patchType is"
                " JSONPatch",
                'mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not'
                " be specified when patchType is JSONPatch",
            ],
        ),
        (
            {"matchConstraints": {"resourceRules": [{**RULE, "operations": ["DELETE"]}]}},
            [
                'matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported'
                ' values: "*", "CONNECT", "CREATE", "UPDATE"'
            ],
        ),
    ],
)
def test_rules_of_mutating_policies(changes: dict[str, Any], expected: list[str]) -> None:
    errors = messages(MUTATING.validate(mutating(**changes)))

    assert errors == [f"spec.{text}" for text in expected]


def test_an_update_validates_match_conditions_only_if_they_change() -> None:
    conditions = {"matchConditions": [{"name": "a", "expression": "params"}]}
    stored = validating(**conditions)

    assert messages(VALIDATING.validate(stored)) != []
    assert messages(VALIDATING.validate_update(validating(**conditions), stored)) == []
    assert messages(MUTATING.validate_update(mutating(**conditions), mutating(**conditions))) == []
    assert messages(VALIDATING.validate_update(stored, validating())) != []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"validationActions": ["Deny"]}, []),
        ({"policyName": ""}, ["policyName: Required value", "validationActions: Required value"]),
        (
            {"validationActions": ["Deny", "Warn", "Deny", "Log"]},
            [
                'validationActions[2]: Duplicate value: "Deny"',
                'validationActions[3]: Unsupported value: "Log": supported values: "Audit",'
                ' "Deny", "Warn"',
                'validationActions: Invalid value: ["Deny","Warn","Deny","Log"]: must not contain'
                " both Deny and Warn (repeating the same validation failure information in the API"
                " response and headers serves no purpose)",
            ],
        ),
        (
            {"validationActions": ["Audit"], "paramRef": {}},
            [
                "paramRef: Required value: one of name or selector must be specified",
                "paramRef.parameterNotFoundAction: Required value",
            ],
        ),
        (
            {
                "validationActions": ["Audit"],
                "paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Skip"},
            },
            [
                "paramRef.name: Forbidden: name and selector are mutually exclusive",
                "paramRef.selector: Forbidden: name and selector are mutually exclusive",
                'paramRef.parameterNotFoundAction: Unsupported value: "Skip": supported values:'
                ' "Deny", "Allow"',
            ],
        ),
    ],
)
def test_rules_of_bindings(spec: dict[str, Any], expected: list[str]) -> None:
    texts = [f"spec.{text}" for text in expected]
    mutating_binding = decoded(MutatingAdmissionPolicyBinding, binding(**spec))

    assert messages(BINDING.validate(bound(**spec))) == texts
    assert messages(MUTATING_BINDING.validate(mutating_binding)) == [
        text for text in texts if "validationActions" not in text
    ]


def test_rules_of_a_status() -> None:
    document = policy()
    document["status"] = {
        "typeChecking": {"expressionWarnings": [{"fieldRef": " ", "warning": ""}]},
        "conditions": [],
    }
    changed = decoded(ValidatingAdmissionPolicy, document)

    assert messages(VALIDATING.validate_status_update(changed, validating())) == [
        "status.typeChecking.expressionWarnings[0].warning: Required value",
        "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
    ]


def test_columns() -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    by_name = {"name": "a", "parameterNotFoundAction": "Deny"}
    by_labels = {"selector": {"matchLabels": {"a": "b"}}}

    def cells(columns: Any, obj: Any) -> list[Any]:
        return [column.cell(obj) for column in columns]

    assert cells(printers.VALIDATING_POLICY_COLUMNS, validating()) == [1, "<unset>"]
    assert cells(printers.MUTATING_POLICY_COLUMNS, mutating(paramKind=kind)) == [1, "v1/ConfigMap"]
    assert cells(printers.BINDING_COLUMNS, bound()) == ["replicas", "<unset>"]
    assert cells(printers.BINDING_COLUMNS, bound(paramRef=by_name)) == ["replicas", "*/a"]
    assert cells(printers.BINDING_COLUMNS, bound(paramRef=by_labels)) == [
        "replicas",
        "&LabelSelector{MatchLabels:map[string]string{a: b,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}",
    ]
