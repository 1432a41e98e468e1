"""FlowSchemas and PriorityLevelConfigurations: what is wrong with one, in Kubernetes' words."""

from typing import Any

import pytest

from apis.flowcontrol.bootstrap import (
    mandatory_levels,
    mandatory_schemas,
    suggested_levels,
    suggested_schemas,
)
from apis.flowcontrol.strategy import FlowSchemaStrategy, PriorityLevelStrategy
from apis.flowcontrol.v1 import FlowSchema, PriorityLevelConfiguration
from tests.apis.validating import decoded, messages

SCHEMAS, LEVELS = FlowSchemaStrategy(), PriorityLevelStrategy()
USER = {"kind": "User", "user": {"name": "ann"}}
ACCOUNT = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "*"}}
RULE = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
PATHS = {"verbs": ["get"], "nonResourceURLs": ["/", "/healthz", "/livez/*"]}
RULES = {"subjects": [USER], "resourceRules": [RULE]}
LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
    " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
VERBS = '"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"'


def schema(name: str = "team", **spec: Any) -> FlowSchema:
    spec = {"priorityLevelConfiguration": {"name": "team"}, "rules": [RULES], **spec}
    return decoded(FlowSchema, _document("FlowSchema", name, spec))


def level(name: str = "team", **spec: Any) -> PriorityLevelConfiguration:
    spec = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}, **spec}
    return decoded(PriorityLevelConfiguration, _document("PriorityLevelConfiguration", name, spec))


def queuing(**values: int) -> PriorityLevelConfiguration:
    return level(limited={"limitResponse": {"type": "Queue", "queuing": values}})


def _document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"rules": []},
        {"matchingPrecedence": 2},
        {"matchingPrecedence": 10000, "distinguisherMethod": {"type": "ByNamespace"}},
        {"rules": [{"subjects": [ACCOUNT], "nonResourceRules": [PATHS]}]},
        {"rules": [{"subjects": [USER], "resourceRules": [RULE | {"namespaces": ["a", "b"]}]}]},
        {
            "rules": [
                {
                    "subjects": [{"kind": "Group", "group": {"name": "*"}}],
                    "resourceRules": [RULE | {"namespaces": [], "clusterScope": True}],
                }
            ]
        },
    ],
)
def test_valid_schemas(spec: dict[str, Any]) -> None:
    assert messages(SCHEMAS.validate(schema(**spec))) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"matchingPrecedence": -1},
            ["spec.matchingPrecedence: Invalid value: -1: must be a positive value"],
        ),
        (
            {"matchingPrecedence": 10001},
            ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
        ),
        (
            {"matchingPrecedence": 1},
            [
                "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may"
                " have matchingPrecedence 1"
            ],
        ),
        (
            {"distinguisherMethod": {"type": "ByAge"}},
            [
                'spec.distinguisherMethod.type: Unsupported value: {"Type":"ByAge"}: supported'
                ' values: "ByNamespace", "ByUser"'
            ],
        ),
        (
            {"priorityLevelConfiguration": {}},
            [
                "spec.priorityLevelConfiguration.name: Required value: must reference a priority"
                " level"
            ],
        ),
        (
            {"rules": [{}]},
            [
                "spec.rules[0].subjects: Required value: subjects must contain at least one value",
                "spec.rules[0]: Required value: at least one of resourceRules and"
                " nonResourceRules has to be non-empty",
            ],
        ),
    ],
)
def test_invalid_schemas(spec: dict[str, Any], expected: list[str]) -> None:
    found = schema(**spec)

    assert messages(SCHEMAS.validate(found)) == expected
    assert messages(SCHEMAS.validate_update(found, schema())) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (
            {"kind": "Robot"},
            [
                'kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount",'
                ' "User"'
            ],
        ),
        ({"kind": "User"}, ["user: Required value: user is required when subject kind is 'User'"]),
        (
            {"kind": "Group"},
            ["group: Required value: group is required when subject kind is 'Group'"],
        ),
        ({"kind": "Group", "group": {}}, ["group.name: Required value"]),
        (
            {"kind": "ServiceAccount", "user": {"name": "a"}, "group": {"name": "b"}},
            [
                "serviceAccount: Required value: serviceAccount is required when subject kind is"
                " 'ServiceAccount'",
                "user: Forbidden: user is forbidden when subject kind is not 'User'",
                "group: Forbidden: group is forbidden when subject kind is not 'Group'",
            ],
        ),
        (
            {"kind": "ServiceAccount", "serviceAccount": {}},
            [
                "serviceAccount.name: Required value",
                "serviceAccount.namespace: Required value: must specify namespace for service"
                " account",
            ],
        ),
    ],
)
def test_subjects(subject: dict[str, Any], expected: list[str]) -> None:
    found = schema(rules=[RULES | {"subjects": [subject]}])

    where = "spec.rules[0].subjects[0]."
    assert messages(SCHEMAS.validate(found)) == [where + message for message in expected]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            {"verbs": [], "apiGroups": [], "resources": [], "namespaces": []},
            [
                "verbs: Required value: verbs must contain at least one value",
                "apiGroups: Required value: resource rules must supply at least one api group",
                "resources: Required value: resource rules must supply at least one resource",
                "namespaces: Required value: resource rules that are not cluster scoped must"
                " supply at least one namespace",
            ],
        ),
        (
            {
                "verbs": ["*", "get"],
                "apiGroups": ["*", "a"],
                "resources": ["*", "b"],
                "namespaces": ["*", "c"],
            },
            [
                'verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other'
                " verbs",
                'apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other'
                " api groups",
                'resources: Invalid value: ["*","b"]: if \'*\' is present, must not specify other'
                " resources",
                'namespaces: Invalid value: ["*","c"]: if \'*\' is present, must not specify other'
                " namespaces",
            ],
        ),
        (
            {"verbs": ["feed"]},
            [f'verbs: Unsupported value: ["feed"]: supported values: {VERBS}'],
        ),
        (
            {"namespaces": ["-a"]},
            [
                "namespaces[0]: Invalid value: \"-a\": each member of this list must be '*' or a"
                f" DNS-1123 label; {LABEL_RULE}"
            ],
        ),
    ],
)
def test_resource_rules(rule: dict[str, Any], expected: list[str]) -> None:
    found = schema(rules=[RULES | {"resourceRules": [RULE | rule]}])

    where = "spec.rules[0].resourceRules[0]."
    assert messages(SCHEMAS.validate(found)) == [where + message for message in expected]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", "must not be empty"),
        ("healthz", "must start with slash"),
        ("/a b", "must not contain white-space"),
        ("/a//b", "must not contain double slash"),
        ("/a/*/b", "wildcard can only do suffix matching"),
        ("/a*", "wildcard can only do suffix matching"),
    ],
)
def test_paths(url: str, expected: str) -> None:
    rules = [{"subjects": [USER], "nonResourceRules": [PATHS | {"nonResourceURLs": [url]}]}]

    (found,) = messages(SCHEMAS.validate(schema(rules=rules)))

    where = "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]"
    assert found == f'{where}: Invalid value: "{url}": {expected}'


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"type": "Odd"},
            [
                'spec.type: Unsupported value: "Odd": supported values: "Exempt", "Limited"',
                "spec.limited: Forbidden",
            ],
        ),
        (
            {"type": "Exempt", "limited": None},
            [
                "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is"
                " 'exempt'"
            ],
        ),
        (
            {"limited": None, "exempt": {}},
            [
                "spec.exempt: Forbidden",
                "spec.limited: Required value",
            ],
        ),
        (
            {
                "limited": {
                    "nominalConcurrencyShares": -1,
                    "lendablePercent": 101,
                    "borrowingLimitPercent": -1,
                    "limitResponse": {"type": "Wait"},
                }
            },
            [
                "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative"
                " integer",
                'spec.limited.limitResponse.type: Unsupported value: "Wait": supported values:'
                ' "Queue", "Reject"',
                "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100,"
                " inclusive",
                "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a"
                " non-negative integer",
            ],
        ),
        (
            {"limited": {"limitResponse": {"type": "Reject", "queuing": {}}}},
            ["spec.limited.limitResponse.queuing: Forbidden"],
        ),
        (
            {"limited": {"limitResponse": {"type": "Queue"}}},
            ["spec.limited.limitResponse.queuing: Required value"],
        ),
    ],
)
def test_invalid_levels(spec: dict[str, Any], expected: list[str]) -> None:
    found = level(**spec)

    assert messages(LEVELS.validate(found)) == expected
    assert messages(LEVELS.validate_update(found, level())) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"queues": 1, "handSize": 1}, []),
        (
            {"queues": -1, "handSize": -1, "queueLengthLimit": -1},
            [
                "queueLengthLimit: Invalid value: -1: must be positive",
                "queues: Invalid value: -1: must be positive",
                "handSize: Invalid value: -1: must be positive",
            ],
        ),
        (
            {"queues": 4, "handSize": 5},
            ["handSize: Invalid value: 5: should not be greater than queues (4)"],
        ),
        (
            {"queues": 512, "handSize": 8},
            [
                "handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8"
                " should not be greater than 60"
            ],
        ),
        (
            {"queues": 10_000_001, "handSize": 1},
            ["queues: Invalid value: 10000001: must not be greater than 10000000"],
        ),
    ],
)
def test_queues(values: dict[str, int], expected: list[str]) -> None:
    where = "spec.limited.limitResponse.queuing."

    assert messages(LEVELS.validate(queuing(**values))) == [where + text for text in expected]


def test_an_annotation_of_an_older_version_is_forbidden() -> None:
    found = level()
    found.metadata.annotations["flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"] = ""

    assert messages(LEVELS.validate(found)) == [
        "metadata.annotations: Forbidden: annotation"
        " 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden"
    ]


def test_conditions_have_types_of_their_own() -> None:
    found = schema()
    kind = type(found.status).model_fields["conditions"].annotation.__args__[0]  # type: ignore[union-attr]
    found.status.conditions = [kind(type="Dangling"), kind(type="Dangling"), kind()]

    assert messages(SCHEMAS.validate_status_update(found, schema())) == [
        'status.conditions[1].type: Duplicate value: "Dangling"',
        "status.conditions[2].type: Required value",
    ]


def test_bootstrap_objects_are_valid() -> None:
    for found in (*mandatory_schemas(), *suggested_schemas()):
        assert messages(SCHEMAS.validate(found)) == []
    for configuration in (*mandatory_levels(), *suggested_levels()):
        assert messages(LEVELS.validate(configuration)) == []


def test_specs_of_mandatory_objects_are_fixed() -> None:
    (exempt, catch_all), (catch_all_level, exempt_level) = mandatory_schemas(), mandatory_levels()
    exempt.spec.matching_precedence = 5
    catch_all.spec.rules = []
    assert catch_all_level.spec.limited and exempt_level.spec.exempt
    catch_all_level.spec.limited.nominal_concurrency_shares = 6
    exempt_level.spec.exempt.nominal_concurrency_shares = 6

    found = [*SCHEMAS.validate(exempt), *SCHEMAS.validate(catch_all)]

    rules = ["spec of 'exempt' must equal the fixed value"]
    rules += ["spec of 'catch-all' must equal the fixed value"]
    assert [(error.field, error.detail) for error in found] == [("spec", rule) for rule in rules]
    (error,) = LEVELS.validate(catch_all_level)
    assert error.detail == rules[1]
    assert messages(LEVELS.validate(exempt_level)) == []


def test_the_exempt_level_stays_exempt() -> None:
    found = [error.detail for error in LEVELS.validate(level("exempt"))]

    assert found == [
        "must be 'Exempt' if and only if `name` is 'exempt'",
        "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
    ]
