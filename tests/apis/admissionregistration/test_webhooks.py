"""Webhook configurations: their defaults, what is wrong with one, and what an update may keep."""

from typing import Any

import pytest

from apis.admissionregistration.printers import WEBHOOK_COLUMNS
from apis.admissionregistration.strategy import WebhookConfigurationStrategy
from apis.admissionregistration.v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from tests.apis.admissionregistration.documents import (
    DEFAULTED_MATCH,
    DEFAULTED_RULE,
    RULE,
    configuration,
    webhook,
)
from tests.apis.validating import decoded, messages

VALIDATING = WebhookConfigurationStrategy[ValidatingWebhookConfiguration]()
MUTATING = WebhookConfigurationStrategy[MutatingWebhookConfiguration]()
FORM = "desired format: https://host[/path]"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
HOOK = "webhooks[0]"
REQUIREMENT = {"key": "a", "operator": "In", "values": ["not a value"]}


def validating(*webhooks: dict[str, Any]) -> ValidatingWebhookConfiguration:
    return decoded(ValidatingWebhookConfiguration, configuration(*webhooks))


def mutating(*webhooks: dict[str, Any]) -> MutatingWebhookConfiguration:
    return decoded(MutatingWebhookConfiguration, configuration(*webhooks))


def test_a_minimal_webhook_gets_its_defaults() -> None:
    service = {"service": {"namespace": "n", "name": "s"}}

    read = mutating(webhook(rules=[RULE], clientConfig=service))

    assert read.webhooks[0].model_dump(by_alias=True, mode="json") == {
        **webhook(),
        **DEFAULTED_MATCH,
        "clientConfig": {"service": {"namespace": "n", "name": "s", "port": 443}},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "rules": [DEFAULTED_RULE],
        "timeoutSeconds": 10,
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        (
            {"name": ""},
            [f"{HOOK}.name: Required value"],
        ),
        (
            {"name": "images"},
            [
                f'{HOOK}.name: Invalid value: "images": should be a domain with at least three'
                " segments separated by dots"
            ],
        ),
        (
            {"sideEffects": None, "admissionReviewVersions": []},
            [
                f"{HOOK}.sideEffects: Required value: must specify one of None, NoneOnDryRun",
                f"{HOOK}.admissionReviewVersions: Required value: must specify one of v1, v1beta1",
            ],
        ),
        (
            {"sideEffects": "Some", "admissionReviewVersions": ["v2", "v2"]},
            [
                f'{HOOK}.sideEffects: Unsupported value: "Some": supported values: "None",'
                ' "NoneOnDryRun"',
                f'{HOOK}.admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
                f'{HOOK}.admissionReviewVersions: Invalid value: ["v2","v2"]: must include at'
                " least one of v1, v1beta1",
            ],
        ),
        (
            {"failurePolicy": "Retry", "matchPolicy": "Some", "timeoutSeconds": 31},
            [
                f'{HOOK}.failurePolicy: Unsupported value: "Retry": supported values: "Fail",'
                ' "Ignore"',
                f'{HOOK}.matchPolicy: Unsupported value: "Some": supported values: "Equivalent",'
                ' "Exact"',
                f"{HOOK}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1"
                " and 30 seconds",
            ],
        ),
        (
            {"clientConfig": {}},
            [
                f"{HOOK}.clientConfig: Required value: exactly one of url or service is required",
            ],
        ),
        (
            {"clientConfig": {"url": "http://u:p@/?q=1#f"}},
            [
                f"{HOOK}.clientConfig.url: Invalid value: \"http\": 'https' is the only allowed"
                f" URL scheme; {FORM}",
                f'{HOOK}.clientConfig.url: Invalid value: "": host must be specified; {FORM}',
                f'{HOOK}.clientConfig.url: Invalid value: "u:p": user information is not permitted'
                " in the URL",
                f'{HOOK}.clientConfig.url: Invalid value: "f": fragments are not permitted in the'
                " URL",
                f'{HOOK}.clientConfig.url: Invalid value: "q=1": query parameters are not'
                " permitted in the URL",
            ],
        ),
        (
            {"clientConfig": {"url": "https://x:y/"}},
            [
                f"{HOOK}.clientConfig.url: Required value: url must be a valid URL: parse"
                f' "https://x:y/": invalid port ":y" after host; {FORM}',
            ],
        ),
        (
            {"clientConfig": {"service": {"name": "s", "path": "a/B", "port": 70000}}},
            [
                f"{HOOK}.clientConfig.service.name: Required value",
                f"{HOOK}.clientConfig.service.port: Invalid value: 70000: port is not valid: must"
                " be between 1 and 65535, inclusive",
                f"{HOOK}.clientConfig.service.path: Invalid value: \"a/B\": must start with a '/'",
                f'{HOOK}.clientConfig.service.path: Invalid value: "a/B": segment[0] may not be'
                " empty",
                f'{HOOK}.clientConfig.service.path: Invalid value: "a/B": segment[1]: {SUBDOMAIN}',
            ],
        ),
        (
            {
                "rules": [
                    {
                        "operations": ["*", "READ"],
                        "apiGroups": ["*", "apps"],
                        "resources": ["a/*", "a/b", "*", "c"],
                        "scope": "Node",
                    }
                ]
            },
            [
                f'{HOOK}.rules[0].operations: Invalid value: ["*","READ"]: if \'*\' is present,'
                " must not specify other operations",
                f'{HOOK}.rules[0].operations[1]: Unsupported value: "READ": supported values: "*",'
                ' "CONNECT", "CREATE", "DELETE", "UPDATE"',
                f'{HOOK}.rules[0].apiGroups: Invalid value: ["*","apps"]: if \'*\' is present, must'
                " not specify other API groups",
                f"{HOOK}.rules[0].apiVersions: Required value",
                f"{HOOK}.rules[0].resources[1]: Invalid value: \"a/b\": if 'a/*' is present, must"
                " not specify a/b",
                f'{HOOK}.rules[0].resources: Invalid value: ["a/*","a/b","*","c"]: if \'*\' is'
                " present, must not specify other resources without subresources",
                f'{HOOK}.rules[0].scope: Unsupported value: "Node": supported values: "*",'
                ' "Cluster", "Namespaced"',
            ],
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "1"}, {"name": "a"}]},
            [
                f'{HOOK}.matchConditions[0].expression: Invalid value: "1": must evaluate to bool'
                " but got int",
                f"{HOOK}.matchConditions[1].expression: Required value",
                f'{HOOK}.matchConditions[1].name: Duplicate value: "a"',
            ],
        ),
        (
            {"matchConditions": [{"name": f"c{i}", "expression": "true"} for i in range(65)]},
            [f"{HOOK}.matchConditions: Too many: 65: must have at most 64 items"],
        ),
    ],
)
def test_rules(changes: dict[str, Any], expected: list[str]) -> None:
    assert messages(VALIDATING.validate(validating(webhook(**changes)))) == expected
    assert messages(MUTATING.validate(mutating(webhook(**changes)))) == expected


def test_only_mutating_webhooks_are_called_again() -> None:
    unknown = webhook(reinvocationPolicy="Always")

    assert messages(VALIDATING.validate(validating(unknown))) == []
    assert messages(MUTATING.validate(mutating(unknown))) == [
        f'{HOOK}.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded",'
        ' "Never"'
    ]


def test_names_are_unique() -> None:
    assert messages(VALIDATING.validate(validating(webhook(), webhook()))) == [
        'webhooks[1].name: Duplicate value: "images.example.com"'
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"sideEffects": "Some"},
        {"admissionReviewVersions": ["v2"]},
        {"objectSelector": {"matchExpressions": [REQUIREMENT]}},
        {"matchConditions": [{"name": "a", "expression": "params"}]},
    ],
)
def test_an_update_may_keep_what_older_releases_accepted(changes: dict[str, Any]) -> None:
    stored = validating(webhook(**changes))
    changed = validating(webhook(**changes, timeoutSeconds=3))

    assert messages(VALIDATING.validate(changed)) != []
    assert messages(VALIDATING.validate_update(changed, stored)) == []


def test_the_generation_counts_changes_of_webhooks() -> None:
    assert VALIDATING.desired_state(validating(webhook())) == validating(webhook()).webhooks


def test_names_of_static_configuration_are_warned_about() -> None:
    document = configuration()
    document["metadata"]["name"] = "images.static.k8s.io"

    assert list(VALIDATING.warnings(decoded(ValidatingWebhookConfiguration, document))) == [
        'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based'
        " configurations and cannot be managed via the API"
    ]


def test_objects_with_many_expressions_are_refused() -> None:
    conditions = [{"name": f"c{i}", "expression": "true"} for i in range(60)]
    hooks = [webhook(name=f"h{i}.example.com", matchConditions=conditions) for i in range(17)]

    assert messages(VALIDATING.validate(validating(*hooks))) == [
        "webhooks: Forbidden: must not have more than 1000 CEL expressions"
    ]
    assert VALIDATING.effort(validating(*hooks)) > 100_000


def test_columns() -> None:
    assert [column.cell(validating(webhook())) for column in WEBHOOK_COLUMNS] == [1]
