"""DaemonSets and ControllerRevisions: defaults, what is wrong with one, and what may change."""

from typing import Any

import pytest

from apis.apps.strategy import ControllerRevisionStrategy, DaemonSetStrategy
from apis.apps.v1 import ControllerRevision, DaemonSet
from tests.apis.apps.templates import (
    DEFAULTED_TEMPLATE,
    MISMATCH,
    NOT_NEGATIVE,
    PERCENT,
    SELECTOR,
    template,
    workload,
)
from tests.apis.validating import decoded, messages

STRATEGY = DaemonSetStrategy()
REVISIONS = ControllerRevisionStrategy()
COUNTER = "deprecated.daemonset.template.generation"


def read(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> DaemonSet:
    return decoded(DaemonSet, workload(spec, status))


def revision(**fields: Any) -> ControllerRevision:
    return decoded(ControllerRevision, {"metadata": {"name": "web-1"}, **fields})


def test_the_smallest_daemon_set_gets_its_defaults() -> None:
    assert read().spec.model_dump(by_alias=True, mode="json") == {
        "selector": SELECTOR,
        "template": DEFAULTED_TEMPLATE,
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
        },
        "revisionHistoryLimit": 10,
    }


def test_an_annotation_counts_the_changes_of_the_template() -> None:
    created = read()
    STRATEGY.prepare_for_create(created)
    unchanged, changed = read(), read({"template": template(nodeName="n")})
    unchanged.metadata.annotations[COUNTER] = "77"
    STRATEGY.prepare_for_update(unchanged, created)
    STRATEGY.prepare_for_update(changed, created)

    assert created.metadata.annotations == {COUNTER: "1"}
    assert unchanged.metadata.annotations == {COUNTER: "1"}
    assert changed.metadata.annotations == {COUNTER: "2"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"updateStrategy": {"type": "OnDelete"}}, []),
        ({"updateStrategy": {"rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}}}, []),
        (
            {"selector": None},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}'],
        ),
        (
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"],
        ),
        (
            {"template": template(restartPolicy="Never", activeDeadlineSeconds=1)},
            [
                'spec.template.spec.restartPolicy: Unsupported value: "Never":'
                ' supported values: "Always"',
                "spec.template.spec.activeDeadlineSeconds: Forbidden:"
                " activeDeadlineSeconds in DaemonSet is not Supported",
            ],
        ),
        (
            {"minReadySeconds": -1, "revisionHistoryLimit": -2},
            [
                f"spec.minReadySeconds: Invalid value: -1: {NOT_NEGATIVE}",
                f"spec.revisionHistoryLimit: Invalid value: -2: {NOT_NEGATIVE}",
            ],
        ),
        (
            {"updateStrategy": {"type": "Fast"}},
            [
                'spec.updateStrategy: Unsupported value: {"Type":"Fast","RollingUpdate":null}:'
                ' supported values: "RollingUpdate", "OnDelete"'
            ],
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"maxSurge": 1}}},
            [
                "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1:"
                " may not be set when maxUnavailable is non-zero"
            ],
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "0%"}}},
            [
                "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value:"
                " cannot be 0 when maxSurge is 0"
            ],
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "x", "maxSurge": "101%"}}},
            [
                f'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": {PERCENT}',
                'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%":'
                " must not be greater than 100%",
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(STRATEGY.validate(read(spec))) == expected


def test_a_selector_cannot_be_changed() -> None:
    other = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}

    assert messages(STRATEGY.validate_update(read({"selector": other}), read())) == [
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}:'
        " field is immutable"
    ]


def test_rules_of_a_status() -> None:
    status = {"numberReady": -1, "collisionCount": 1}

    found = STRATEGY.validate_status_update(read({}, status), read({}, {"collisionCount": 2}))

    assert messages(found) == [
        f"status.numberReady: Invalid value: -1: {NOT_NEGATIVE}",
        "status.collisionCount: Invalid value: 1: cannot be decremented",
    ]


def test_rules_of_revisions() -> None:
    assert messages(REVISIONS.validate(revision(data={"a": 1}, revision=1))) == []
    assert messages(REVISIONS.validate(revision(revision=-1))) == [
        f"revision: Invalid value: -1: {NOT_NEGATIVE}",
        "data: Required value: data is mandatory",
    ]


def test_the_data_of_a_revision_cannot_be_changed() -> None:
    old, new = revision(data={"a": 1}, revision=1), revision(data={"a": 2}, revision=2)

    assert messages(REVISIONS.validate_update(revision(data={"a": 1}, revision=2), old)) == []
    assert messages(REVISIONS.validate_update(new, old)) == [
        'data: Invalid value: {"a":2}: field is immutable'
    ]
