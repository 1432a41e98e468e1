"""StatefulSets: defaults, what is wrong with one, and what may change."""

from typing import Any

import pytest

from apis.apps.strategy import StatefulSetStrategy
from apis.apps.v1 import StatefulSet
from tests.apis.apps.templates import (
    DEFAULTED_TEMPLATE,
    MISMATCH,
    NOT_NEGATIVE,
    SELECTOR,
    TOO_MANY,
    template,
    workload,
)
from tests.apis.validating import decoded, messages

STRATEGY = StatefulSetStrategy()
CLAIM: dict[str, Any] = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


def read(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> StatefulSet:
    return decoded(StatefulSet, workload(spec, status))


def test_the_smallest_stateful_set_gets_its_defaults() -> None:
    assert read().spec.model_dump(by_alias=True, mode="json") == {
        "replicas": 1,
        "selector": SELECTOR,
        "template": DEFAULTED_TEMPLATE,
        "serviceName": "",
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"partition": 0, "maxUnavailable": 1},
        },
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }


def test_claims_get_their_defaults() -> None:
    (claim,) = read({"volumeClaimTemplates": [CLAIM]}).spec.volume_claim_templates

    assert claim.model_dump(by_alias=True, mode="json") == {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": {"name": "data"},
        "spec": {**CLAIM["spec"], "volumeMode": "Filesystem"},
        "status": {"phase": "Pending"},
    }


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"type": "OnDelete"}, {"type": "OnDelete"}),
        ({"type": "RollingUpdate"}, {"type": "RollingUpdate"}),
        (
            {"type": "RollingUpdate", "rollingUpdate": {}},
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}},
        ),
    ],
)
def test_a_strategy_with_a_type_gets_no_settings(
    strategy: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = read({"updateStrategy": strategy}).spec.update_strategy

    assert found.model_dump(by_alias=True, mode="json") == expected


def test_names_are_host_names() -> None:
    assert STRATEGY.name_errors("web") == []
    assert STRATEGY.name_errors("web.shop") == ["must not contain dots"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {"volumeClaimTemplates": [CLAIM], "template": template(hostname="-", subdomain="_")},
            [],
        ),
        (
            {
                "volumeClaimTemplates": [CLAIM],
                "template": template(
                    containers=[
                        {
                            "name": "web",
                            "image": "web",
                            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                        }
                    ]
                ),
            },
            [],
        ),
        (
            {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
            [
                "spec.volumeClaimTemplates[0].spec.accessModes: Required value:"
                " at least 1 access mode is required",
                "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
            ],
        ),
        (
            {"podManagementPolicy": "Random"},
            [
                'spec.podManagementPolicy: Invalid value: "Random":'
                " must be 'OrderedReady' or 'Parallel'"
            ],
        ),
        (
            {"updateStrategy": {"type": "Fast"}},
            [
                'spec.updateStrategy: Invalid value: {"Type":"Fast","RollingUpdate":null}:'
                " must be 'RollingUpdate' or 'OnDelete'"
            ],
        ),
        (
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 2}}},
            [
                "spec.updateStrategy.rollingUpdate: Invalid value:"
                ' {"Partition":2,"MaxUnavailable":null}:'
                " only allowed for updateStrategy 'RollingUpdate'"
            ],
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"partition": -1, "maxUnavailable": 0}}},
            [
                f"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: {NOT_NEGATIVE}",
                "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0",
            ],
        ),
        (
            {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Keep"}},
            [
                "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value:"
                ' "Keep": supported values: "Retain", "Delete"'
            ],
        ),
        (
            {"replicas": -1, "minReadySeconds": -2, "ordinals": {"start": -3}},
            [
                f"spec.{name}: Invalid value: {value}: {NOT_NEGATIVE}"
                for name, value in (
                    ("replicas", -1),
                    ("minReadySeconds", -2),
                    ("ordinals.start", -3),
                )
            ],
        ),
        (
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
        ),
        (
            {"selector": None},
            [
                "spec.selector: Required value",
                f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}',
            ],
        ),
        (
            {"template": template(restartPolicy="Never", activeDeadlineSeconds=1)},
            [
                'spec.template.spec.restartPolicy: Unsupported value: "Never":'
                ' supported values: "Always"',
                "spec.template.spec.activeDeadlineSeconds: Forbidden:"
                " activeDeadlineSeconds in StatefulSet is not Supported",
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(STRATEGY.validate(read(spec))) == expected


def test_a_service_name_is_a_dns_label() -> None:
    (error,) = messages(STRATEGY.validate(read({"serviceName": "A.b"})))

    assert error.startswith('spec.serviceName: Invalid value: "A.b": a lowercase RFC 1123 label')


@pytest.mark.parametrize(
    "spec",
    [
        {"replicas": 3},
        {"template": template(nodeName="n")},
        {"updateStrategy": {"type": "OnDelete"}},
        {"revisionHistoryLimit": 1},
        {"minReadySeconds": 5},
        {"ordinals": {"start": 1}},
        {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}},
    ],
)
def test_what_may_change(spec: dict[str, Any]) -> None:
    assert messages(STRATEGY.validate_update(read(spec), read())) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}},
            'spec.selector: Invalid value: {"matchExpressions":[{"key":"app",'
            '"operator":"Exists"}]}: field is immutable',
        ),
        ({"serviceName": "other"}, 'spec.serviceName: Invalid value: "other": field is immutable'),
        (
            {"podManagementPolicy": "Parallel"},
            'spec.podManagementPolicy: Invalid value: "Parallel": field is immutable',
        ),
        (
            {"volumeClaimTemplates": [CLAIM]},
            'spec.volumeClaimTemplates: Invalid value: [{"name":"data","Spec":{"AccessModes":'
            '["ReadWriteOnce"],"Selector":null,"Resources":{"Limits":null,"Requests":'
            '{"storage":"1Gi"}},"VolumeName":"","StorageClassName":null,',
        ),
    ],
)
def test_what_may_not_change(spec: dict[str, Any], expected: str) -> None:
    (error,) = messages(STRATEGY.validate_update(read(spec), read()))

    assert error.startswith(expected)
    assert error.endswith("field is immutable")


def test_rules_of_a_status() -> None:
    status = {
        "replicas": 1,
        "readyReplicas": 2,
        "currentReplicas": 3,
        "updatedReplicas": -1,
        "availableReplicas": 4,
    }

    found = STRATEGY.validate_status_update(read({}, status), read({}, {"collisionCount": 1}))

    assert messages(found) == [
        f"status.updatedReplicas: Invalid value: -1: {NOT_NEGATIVE}",
        f"status.readyReplicas: Invalid value: 2: {TOO_MANY}",
        f"status.currentReplicas: Invalid value: 3: {TOO_MANY}",
        f"status.availableReplicas: Invalid value: 4: {TOO_MANY}",
        "status.availableReplicas: Invalid value: 4: cannot be greater than status.readyReplicas",
        "status.collisionCount: Invalid value: 0: cannot be decremented",
    ]


def test_an_unlimited_history_is_warned_about() -> None:
    assert list(STRATEGY.warnings(read({"revisionHistoryLimit": -1}))) == [
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >="
        " 0 is recommended"
    ]
    assert list(STRATEGY.warnings(read())) == []
