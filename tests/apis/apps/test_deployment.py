"""Deployments and ReplicaSets: defaults, what is wrong with one, and what may change."""

from typing import Any

import pytest

from apis.apps.strategy import DeploymentStrategy, ReplicaSetStrategy
from apis.apps.v1 import Deployment, ReplicaSet
from tests.apis.apps.templates import (
    DEFAULTED_TEMPLATE,
    MISMATCH,
    NOT_NEGATIVE,
    PERCENT,
    SELECTOR,
    TOO_MANY,
    template,
    workload,
)
from tests.apis.validating import decoded, messages

STRATEGY = DeploymentStrategy()
REPLICA_SETS = ReplicaSetStrategy()


def read(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Deployment:
    return decoded(Deployment, workload(spec, status))


def read_set(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> ReplicaSet:
    return decoded(ReplicaSet, workload(spec, status))


def errors(**spec: Any) -> list[str]:
    return messages(STRATEGY.validate(read(spec)))


def test_the_smallest_deployment_gets_its_defaults() -> None:
    assert read().spec.model_dump(by_alias=True, mode="json") == {
        "replicas": 1,
        "selector": SELECTOR,
        "template": DEFAULTED_TEMPLATE,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }


def test_the_smallest_replica_set_gets_its_defaults() -> None:
    assert read_set().spec.model_dump(by_alias=True, mode="json") == {
        "replicas": 1,
        "selector": SELECTOR,
        "template": DEFAULTED_TEMPLATE,
    }


def test_a_deployment_that_recreates_pods_has_no_rolling_update() -> None:
    strategy = read({"strategy": {"type": "Recreate"}}).spec.strategy

    assert strategy.rolling_update is None


def test_zero_replicas_stay() -> None:
    assert read({"replicas": 0}).spec.replicas == 0


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}, []),
        ({"replicas": -1}, [f"spec.replicas: Invalid value: -1: {NOT_NEGATIVE}"]),
        (
            {"selector": None},
            [
                "spec.selector: Required value",
                f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}',
            ],
        ),
        (
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
        ),
        (
            {"selector": {"matchLabels": {"app": "shop"}}},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}'],
        ),
        (
            {"template": {"spec": template()["spec"]}},
            [f"spec.template.metadata.labels: Invalid value: null: {MISMATCH}"],
        ),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            [
                "spec.selector.matchExpressions[0].values: Required value:"
                " must be specified when `operator` is 'In' or 'NotIn'",
                'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"In"}]}:'
                " invalid label selector",
            ],
        ),
        (
            {"template": template(restartPolicy="Never", activeDeadlineSeconds=5)},
            [
                'spec.template.spec.restartPolicy: Unsupported value: "Never":'
                ' supported values: "Always"',
                "spec.template.spec.activeDeadlineSeconds: Forbidden:"
                " activeDeadlineSeconds in ReplicaSet is not Supported",
            ],
        ),
        (
            {"template": template(containers=[])},
            ["spec.template.spec.containers: Required value"],
        ),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            [
                "spec.strategy.rollingUpdate: Forbidden:"
                " may not be specified when strategy `type` is 'Recreate'"
            ],
        ),
        (
            {"strategy": {"type": "Fast", "rollingUpdate": {"maxSurge": 1}}},
            [
                'spec.strategy: Unsupported value: {"Type":"Fast",'
                '"RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}:'
                ' supported values: "Recreate", "RollingUpdate"'
            ],
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}},
            [
                'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%":'
                " may not be 0 when `maxSurge` is 0"
            ],
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": "half", "maxUnavailable": "101%"}}},
            [
                f'spec.strategy.rollingUpdate.maxSurge: Invalid value: "half": {PERCENT}',
                'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%":'
                " must not be greater than 100%",
            ],
        ),
        (
            {"progressDeadlineSeconds": 5, "minReadySeconds": 5},
            [
                "spec.progressDeadlineSeconds: Invalid value: 5:"
                " must be greater than minReadySeconds"
            ],
        ),
        (
            {"minReadySeconds": -1, "revisionHistoryLimit": -2},
            [
                f"spec.minReadySeconds: Invalid value: -1: {NOT_NEGATIVE}",
                f"spec.revisionHistoryLimit: Invalid value: -2: {NOT_NEGATIVE}",
            ],
        ),
    ],
)
def test_rules_of_deployments(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors(**spec) == expected


def test_a_selector_cannot_be_changed() -> None:
    other = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    expected = [
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}:'
        " field is immutable"
    ]

    assert messages(STRATEGY.validate_update(read({"selector": other}), read())) == expected
    changed = read_set({"selector": other})
    assert messages(REPLICA_SETS.validate_update(changed, read_set())) == expected


def test_the_generation_counts_changes_of_annotations() -> None:
    """Replica sets copy the annotations of their deployment."""
    before, after = read(), read()
    after.metadata.annotations["a"] = "b"

    assert STRATEGY.desired_state(before) != STRATEGY.desired_state(after)
    assert REPLICA_SETS.desired_state(read_set()) == read_set().spec


def test_rules_of_a_deployment_status() -> None:
    status = {
        "replicas": 1,
        "updatedReplicas": -1,
        "readyReplicas": 2,
        "availableReplicas": 3,
        "collisionCount": 1,
    }

    found = STRATEGY.validate_status_update(read({}, status), read({}, {"collisionCount": 2}))

    assert messages(found) == [
        f"status.updatedReplicas: Invalid value: -1: {NOT_NEGATIVE}",
        f"status.readyReplicas: Invalid value: 2: {TOO_MANY}",
        f"status.availableReplicas: Invalid value: 3: {TOO_MANY}",
        "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
        "status.collisionCount: Invalid value: 1: cannot be decremented",
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {"replicas": -1, "minReadySeconds": -2},
            [
                f"spec.replicas: Invalid value: -1: {NOT_NEGATIVE}",
                f"spec.minReadySeconds: Invalid value: -2: {NOT_NEGATIVE}",
            ],
        ),
        (
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
        ),
        (
            {"selector": {"matchLabels": {"app": "shop"}}},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}'],
        ),
        (
            {"template": template(restartPolicy="OnFailure")},
            [
                'spec.template.spec.restartPolicy: Unsupported value: "OnFailure":'
                ' supported values: "Always"'
            ],
        ),
    ],
)
def test_rules_of_replica_sets(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(REPLICA_SETS.validate(read_set(spec))) == expected


def test_rules_of_a_replica_set_status() -> None:
    status = {"replicas": 1, "fullyLabeledReplicas": 2, "readyReplicas": -1}

    found = REPLICA_SETS.validate_status_update(read_set({}, status), read_set())

    assert messages(found) == [
        f"status.readyReplicas: Invalid value: -1: {NOT_NEGATIVE}",
        f"status.fullyLabeledReplicas: Invalid value: 2: {TOO_MANY}",
        "status.availableReplicas: Invalid value: 0: cannot be greater than readyReplicas",
    ]


def test_a_name_that_is_no_host_name_is_warned_about() -> None:
    deployment = read()
    deployment.metadata.name = "web.shop"

    (warning,) = STRATEGY.warnings(deployment)

    assert warning == (
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising"
        " behavior; a DNS label is recommended: [must not contain dots]"
    )
    assert list(STRATEGY.warnings(deployment, deployment)) == []
