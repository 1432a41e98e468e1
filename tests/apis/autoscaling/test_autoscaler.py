"""HorizontalPodAutoscalers: defaults, what is wrong with one, and how one is shown."""

from typing import Any

import pytest

from apis.autoscaling.install import AUTOSCALING
from apis.autoscaling.printers import AUTOSCALER_COLUMNS, targets
from apis.autoscaling.strategy import HorizontalPodAutoscalerStrategy
from apis.autoscaling.v2 import HorizontalPodAutoscaler
from tests.apis.validating import decoded, messages

STRATEGY = HorizontalPodAutoscalerStrategy()
TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
SMALL = {"maxReplicas": 3, "scaleTargetRef": TARGET}
TYPES = '"ContainerResource", "External", "Object", "Pods", "Resource"'


def read(spec: dict[str, Any], status: dict[str, Any] | None = None) -> HorizontalPodAutoscaler:
    document = {"metadata": {"name": "web"}, "spec": spec, "status": status or {}}
    return decoded(HorizontalPodAutoscaler, document)


def errors(spec: dict[str, Any]) -> list[str]:
    return messages(STRATEGY.validate(read({**SMALL, **spec})))


def metric(kind: str, **source: Any) -> dict[str, Any]:
    return {"type": kind, kind[0].lower() + kind[1:]: source}


def utilization(percent: int) -> dict[str, Any]:
    return {"type": "Utilization", "averageUtilization": percent}


def average(value: str) -> dict[str, Any]:
    return {"type": "AverageValue", "averageValue": value}


def test_the_smallest_autoscaler_gets_a_minimum_and_a_metric() -> None:
    spec = read(SMALL).spec.model_dump(by_alias=True, mode="json")

    assert spec == {
        "scaleTargetRef": TARGET,
        "minReplicas": 1,
        "maxReplicas": 3,
        "metrics": [metric("Resource", name="cpu", target=utilization(80))],
    }


def test_a_behavior_gets_the_rules_it_does_not_have() -> None:
    behavior = read({**SMALL, "behavior": {"scaleUp": {"selectPolicy": "Min"}}}).spec.behavior

    assert behavior is not None
    assert behavior.model_dump(by_alias=True, mode="json") == {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Min",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        },
        "scaleDown": {
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        },
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {"maxReplicas": 0},
            [
                "spec.maxReplicas: Invalid value: 0: must be greater than or equal to"
                " `minReplicas`",
                "spec.maxReplicas: Required value",
            ],
        ),
        (
            {"minReplicas": 4},
            ["spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"],
        ),
        (
            {"minReplicas": 0},
            [
                "spec.metrics: Forbidden: must specify at least one Object or External metric to"
                " support scaling to zero replicas",
            ],
        ),
        (
            {"minReplicas": -2, "maxReplicas": -1},
            [
                "spec.minReplicas: Invalid value: -2: must be greater than or equal to 0",
                "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
            ],
        ),
        (
            {"scaleTargetRef": {}},
            [
                "spec.scaleTargetRef.kind: Required value",
                "spec.scaleTargetRef.name: Required value",
                'spec.scaleTargetRef.apiVersion: Invalid value: "":'
                " apiVersion must specify API group",
            ],
        ),
        ({"scaleTargetRef": {"kind": "ReplicationController", "name": "web"}}, []),
        (
            {"scaleTargetRef": {"kind": "A/B", "name": "..", "apiVersion": "a/b/c"}},
            [
                "spec.scaleTargetRef.kind: Invalid value: \"A/B\": may not contain '/'",
                "spec.scaleTargetRef.name: Invalid value: \"..\": may not be '..'",
                'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c":'
                " unexpected GroupVersion string: a/b/c",
            ],
        ),
        (
            {"behavior": {"scaleUp": {"policies": [], "stabilizationWindowSeconds": -1}}},
            [
                "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1:"
                " must be greater than or equal to zero",
                "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
            ],
        ),
        (
            {
                "behavior": {
                    "scaleDown": {
                        "stabilizationWindowSeconds": 3601,
                        "selectPolicy": "Mean",
                        "tolerance": "-1",
                        "policies": [
                            {"type": "Containers", "value": 0, "periodSeconds": 0},
                            {"type": "Pods", "value": 1, "periodSeconds": 1801},
                        ],
                    }
                }
            },
            [
                f"spec.behavior.scaleDown.{error}"
                for error in (
                    "stabilizationWindowSeconds: Invalid value: 3601:"
                    " must be less than or equal to 3600",
                    'selectPolicy: Unsupported value: "Mean":'
                    ' supported values: "Disabled", "Max", "Min"',
                    'policies[0].type: Unsupported value: "Containers":'
                    ' supported values: "Percent", "Pods"',
                    "policies[0].value: Invalid value: 0: must be greater than zero",
                    "policies[0].periodSeconds: Invalid value: 0: must be greater than zero",
                    "policies[1].periodSeconds: Invalid value: 1801:"
                    " must be less than or equal to 1800",
                    'tolerance: Invalid value: "-1": must be greater than or equal to 0',
                )
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors(spec) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            {},
            [
                "type: Required value: must specify a metric source type",
                f'type: Unsupported value: "": supported values: {TYPES}',
            ],
        ),
        ({"type": "Cpu"}, [f'type: Unsupported value: "Cpu": supported values: {TYPES}']),
        (
            {"type": "Resource"},
            ["resource: Required value: must populate information for the given metric source"],
        ),
        (
            metric("Resource", name="", target={"type": "Cpu", "averageUtilization": 0}),
            [
                "resource.name: Required value: must specify a resource name",
                'resource.target.type: Invalid value: "Cpu":'
                " must be either Utilization, Value, or AverageValue",
                "resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
            ],
        ),
        (
            metric("Resource", name="cpu", target={"type": "Value"}),
            [
                "resource.target.averageUtilization: Required value:"
                " must set either a target raw value or a target utilization"
            ],
        ),
        (
            metric("Resource", name="cpu", target={**utilization(5), "averageValue": "0"}),
            [
                'resource.target.averageValue: Invalid value: "0": must be positive',
                "resource.target.averageValue: Forbidden:"
                " may not set both a target raw value and a target utilization",
            ],
        ),
        (
            metric("Pods", metric={}, target={}),
            [
                "pods.metric.name: Required value: must specify a metric name",
                "pods.target.type: Required value: must specify a metric target type",
                'pods.target.type: Invalid value: "":'
                " must be either Utilization, Value, or AverageValue",
                "pods.target.averageValue: Required value:"
                " must specify a positive target averageValue",
            ],
        ),
        (
            metric("Object", describedObject={}, metric={"name": "a/b"}, target={"type": "Value"}),
            [
                "object.describedObject.kind: Required value",
                "object.describedObject.name: Required value",
                "object.metric.name: Invalid value: \"a/b\": may not contain '/'",
                "object.target.averageValue: Required value:"
                " must set either a target value or averageValue",
            ],
        ),
        (
            metric("External", metric={"name": "a"}, target={**average("1"), "value": "1"}),
            [
                "external.target.value: Forbidden:"
                " may not set both a target value for metric and a per-pod target"
            ],
        ),
        (
            metric("External", metric={"name": "a"}, target={"type": "Value"}),
            [
                "external.target.averageValue: Required value:"
                " must set either a target value for metric or a per-pod target"
            ],
        ),
        (
            metric("ContainerResource", name="gpu", container="", target=average("1")),
            [
                'containerResource.name: Invalid value: "gpu":'
                " must be a standard resource type or fully qualified",
                'containerResource.name: Invalid value: "gpu":'
                " must be a standard resource for containers",
                "containerResource.container: Required value: must specify a container",
            ],
        ),
        (
            {
                **metric("Pods", metric={"name": "a"}, target=average("1")),
                "resource": {"name": "cpu", "target": utilization(5)},
            },
            ["resource: Forbidden: must populate the given metric source only"],
        ),
    ],
)
def test_rules_of_metrics(wrong: dict[str, Any], expected: list[str]) -> None:
    assert errors({"metrics": [wrong]}) == [f"spec.metrics[0].{error}" for error in expected]


def test_rules_of_a_status() -> None:
    status = {
        "currentReplicas": -1,
        "desiredReplicas": -2,
        "conditions": [{"type": "A", "status": "True", "observedGeneration": -3}],
    }

    found = messages(STRATEGY.validate_status_update(read(SMALL, status), read(SMALL)))

    assert found == [
        f"status.{name}: Invalid value: {value}: must be greater than or equal to 0"
        for name, value in (
            ("conditions[0].observedGeneration", -3),
            ("currentReplicas", -1),
            ("desiredReplicas", -2),
        )
    ]


def test_columns() -> None:
    autoscaler = read(SMALL, {"currentReplicas": 2})

    assert [column.name for column in AUTOSCALER_COLUMNS] == [
        "Reference",
        "Targets",
        "MinPods",
        "MaxPods",
        "Replicas",
    ]
    assert [column.cell(autoscaler) for column in AUTOSCALER_COLUMNS] == [
        "Deployment/web",
        "cpu: <unknown>/80%",
        "1",
        3,
        2,
    ]


def current(kind: str, **value: Any) -> dict[str, Any]:
    return metric(kind, current=value)


@pytest.mark.parametrize(
    ("wanted", "found", "cell"),
    [
        (
            metric("Resource", name="cpu", target=utilization(50)),
            current("Resource", averageUtilization=20),
            "cpu: 20%/50%",
        ),
        (
            metric("Resource", name="memory", target=average("1Gi")),
            current("Resource", averageValue="512Mi"),
            "memory: 512Mi/1Gi",
        ),
        (metric("Resource", name="cpu", target={}), None, "cpu: <unknown>/<auto>"),
        (
            metric("ContainerResource", name="cpu", target=utilization(50)),
            current("ContainerResource", averageUtilization=7),
            "cpu: 7%/50%",
        ),
        (metric("Pods", target=average("1k")), current("Pods", averageValue="2k"), "2k/1k"),
        (metric("Object", target={"value": "10"}), current("Object", value="5"), "5/10"),
        (
            metric("Object", target=average("10")),
            current("Object", value="5"),
            "<unknown>/10 (avg)",
        ),
        (metric("External", target={"value": "10"}), None, "<unknown>/10"),
        (
            metric("External", target=average("10")),
            current("External", averageValue="4"),
            "4/10 (avg)",
        ),
        ({"type": "Cpu"}, None, "<unknown type>"),
    ],
)
def test_targets(wanted: dict[str, Any], found: dict[str, Any] | None, cell: str) -> None:
    status = {"currentMetrics": [found]} if found else {}

    assert targets(read({**SMALL, "metrics": [wanted]}, status)) == cell


def test_only_two_targets_are_shown() -> None:
    cpu = metric("Resource", name="cpu", target=utilization(50))
    one = "cpu: <unknown>/50%"

    assert targets(read({**SMALL, "metrics": [cpu, cpu]})) == f"{one}, {one}"
    assert targets(read({**SMALL, "metrics": [cpu] * 4})) == f"{one}, {one} + 2 more..."


def test_names_are_those_of_kubernetes() -> None:
    (resource,) = AUTOSCALING.resources

    assert AUTOSCALING.versions == ("v2", "v1")
    assert (resource.short_names, resource.categories) == (("hpa",), ("all",))
