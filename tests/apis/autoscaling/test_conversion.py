"""autoscaling/v1 and v2 are views of one object: what v1 has no field for is in annotations."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from apimachinery.model.semantic_equality import differences
from apimachinery.schema import GroupVersion
from apimachinery.testing import assert_roundtrip, objects
from apis.autoscaling import GROUP, v1, v2
from apis.autoscaling.register import add_to_scheme
from tests.apis.autoscaling.canonical import CANONICAL
from tests.apis.groups import full_scheme
from tests.apis.validating import decoded

SCHEME = full_scheme()
V1 = GroupVersion(GROUP, "v1")
PREFIX = "autoscaling.alpha.kubernetes.io/"
QUEUE = {
    "type": "External",
    "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "30"}},
}
QUEUE_TEXT = '[{"type":"External","external":{"metricName":"queue","targetValue":"30"}}]'


def internal(spec: dict[str, Any], status: dict[str, Any] | None = None) -> Any:
    """An autoscaler as a server reads it from v2."""
    document = {"metadata": {"name": "web"}, "spec": spec, "status": status or {}}
    return decoded(v2.HorizontalPodAutoscaler, document)


def as_v1(autoscaler: v2.HorizontalPodAutoscaler) -> v1.HorizontalPodAutoscaler:
    found = SCHEME.convert_to_version(autoscaler.deep_copy(), V1)
    assert isinstance(found, v1.HorizontalPodAutoscaler)
    return found


def from_v1(
    spec: dict[str, Any], annotations: dict[str, str] | None = None, **status: Any
) -> v2.HorizontalPodAutoscaler:
    document = {
        "metadata": {"name": "web", "annotations": annotations or {}},
        "spec": spec,
        "status": status,
    }
    old = v1.HorizontalPodAutoscaler.model_validate_json(json.dumps(document))
    SCHEME.default(old)
    return SCHEME.convert(old, v2.HorizontalPodAutoscaler)


def shown(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json")


def test_nothing_is_lost_between_the_versions() -> None:
    assert_roundtrip(add_to_scheme, examples=40, strategies=CANONICAL)


def test_what_v1_does_not_touch_stays() -> None:
    """A client of v1 reads an autoscaler of v2, changes its limit, and writes it back."""

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(autoscaler=objects(v2.HorizontalPodAutoscaler, CANONICAL))
    def check(autoscaler: v2.HorizontalPodAutoscaler) -> None:
        read = json.loads(as_v1(autoscaler).model_dump_json())
        read["spec"]["maxReplicas"] = 7
        written = v1.HorizontalPodAutoscaler.model_validate_json(json.dumps(read))

        result = SCHEME.convert(written, v2.HorizontalPodAutoscaler)

        expected = autoscaler.deep_copy()
        expected.spec.max_replicas = 7
        for name in list(expected.metadata.annotations):
            if name.startswith(PREFIX):
                del expected.metadata.annotations[name]
        result.kind = expected.kind = result.api_version = expected.api_version = ""
        assert list(differences(expected, result)) == []

    check()


def test_cpu_utilization_is_a_field_of_v1() -> None:
    old = as_v1(internal({"maxReplicas": 3}))

    assert shown(old.spec) == {
        "scaleTargetRef": {"kind": "", "name": ""},
        "minReplicas": 1,
        "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 80,
    }
    assert old.metadata.annotations == {}


def test_other_metrics_are_an_annotation_of_v1() -> None:
    cpu = {
        "type": "Resource",
        "resource": {
            "name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 50},
        },
    }
    autoscaler = internal({"maxReplicas": 3, "metrics": [cpu, QUEUE]})

    old = as_v1(autoscaler)

    assert old.metadata.annotations == {f"{PREFIX}metrics": QUEUE_TEXT}
    assert old.spec.target_cpu_utilization_percentage == 50
    # As in Kubernetes, the metric with a field of its own becomes the last.
    assert SCHEME.convert(old, v2.HorizontalPodAutoscaler).spec.metrics == list(
        reversed(autoscaler.spec.metrics)
    )


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (
            {
                "type": "Object",
                "object": {
                    "describedObject": {"kind": "Service", "name": "web", "apiVersion": "v1"},
                    "metric": {"name": "hits", "selector": {"matchLabels": {"a": "b"}}},
                    "target": {"type": "AverageValue", "averageValue": "1500m"},
                },
            },
            '[{"type":"Object","object":{"target":{"kind":"Service","name":"web","apiVersion":"v1"}'
            ',"metricName":"hits","targetValue":"0","selector":{"matchLabels":{"a":"b"}},'
            '"averageValue":"1500m"}}]',
        ),
        (
            {
                "type": "Pods",
                "pods": {
                    "metric": {"name": "hits"},
                    "target": {"type": "AverageValue", "averageValue": "1k"},
                },
            },
            '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"1k"}}]',
        ),
        (
            {
                "type": "Resource",
                "resource": {
                    "name": "memory",
                    "target": {"type": "Utilization", "averageUtilization": 60},
                },
            },
            '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":60}}]',
        ),
        (
            {
                "type": "ContainerResource",
                "containerResource": {
                    "name": "cpu",
                    "container": "app",
                    "target": {"type": "AverageValue", "averageValue": "100m"},
                },
            },
            '[{"type":"ContainerResource","containerResource":{"name":"cpu",'
            '"targetAverageValue":"100m","container":"app"}}]',
        ),
    ],
)
def test_the_texts_are_those_of_kubernetes(metric: dict[str, Any], text: str) -> None:
    autoscaler = internal({"maxReplicas": 3, "metrics": [metric]})

    old = as_v1(autoscaler)

    assert old.metadata.annotations == {f"{PREFIX}metrics": text}
    assert old.spec.target_cpu_utilization_percentage is None
    assert SCHEME.convert(old, v2.HorizontalPodAutoscaler).spec == autoscaler.spec


def test_behavior_is_an_annotation_with_the_names_of_internal_fields() -> None:
    autoscaler = internal({"maxReplicas": 3, "behavior": {"scaleDown": {"selectPolicy": "Min"}}})

    annotations = as_v1(autoscaler).metadata.annotations

    assert annotations == {
        f"{PREFIX}behavior": '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max",'
        '"Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},'
        '{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},'
        '"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Min",'
        '"Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}'
    }


def test_a_status_is_kept_in_annotations() -> None:
    current = {"averageUtilization": 40, "averageValue": "400m"}
    status: dict[str, Any] = {
        "desiredReplicas": 2,
        "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": current}}],
        "conditions": [
            {
                "type": "AbleToScale",
                "status": "True",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
                "message": "1 < 2 & 2 > 1",
            },
            {"type": "ScalingActive", "status": "True"},
        ],
    }

    old = as_v1(internal({"maxReplicas": 3}, status))

    assert shown(old.status) == {
        "currentReplicas": 0,
        "desiredReplicas": 2,
        "currentCPUUtilizationPercentage": 40,
    }
    assert old.metadata.annotations == {
        f"{PREFIX}current-metrics": '[{"type":"Resource","resource":{"name":"cpu",'
        '"currentAverageUtilization":40,"currentAverageValue":"400m"}}]',
        f"{PREFIX}conditions": '[{"type":"AbleToScale","status":"True",'
        '"lastTransitionTime":"2026-01-01T00:00:00Z",'
        '"message":"1 \\u003c 2 \\u0026 2 \\u003e 1"},'
        '{"type":"ScalingActive","status":"True","lastTransitionTime":null}]',
    }
    read = shown(SCHEME.convert(old, v2.HorizontalPodAutoscaler).status)
    status["conditions"][1]["lastTransitionTime"] = None
    assert read == status


def test_current_cpu_utilization_of_v1_becomes_a_metric() -> None:
    status = from_v1({"maxReplicas": 3}, currentCPUUtilizationPercentage=30).status

    assert shown(status)["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 30}}}
    ]


def test_an_autoscaler_of_v1_without_metrics_gets_the_default() -> None:
    spec = from_v1({"maxReplicas": 3}).spec

    assert shown(spec)["metrics"] == [
        {
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80},
            },
        }
    ]
    assert spec.min_replicas == 1


def test_annotated_metrics_of_v1_replace_the_default() -> None:
    spec = from_v1({"maxReplicas": 3}, {f"{PREFIX}metrics": QUEUE_TEXT}).spec

    assert shown(spec)["metrics"] == [QUEUE]


def test_annotated_behavior_has_names_in_any_case_and_gets_defaults() -> None:
    text = '{"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 2}]}}'

    behavior = from_v1({"maxReplicas": 3}, {f"{PREFIX}behavior": text}).spec.behavior

    assert shown(behavior) == {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": 1, "periodSeconds": 2}],
        },
        "scaleDown": {
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        },
    }


@pytest.mark.parametrize("text", ["", "x", "{", "5", '{"a": 1}', '[{"type": 5}]', "[" * 100_000])
def test_annotations_that_cannot_be_read_are_dropped(text: str) -> None:
    names = ("metrics", "current-metrics", "conditions", "behavior")

    found = from_v1({"maxReplicas": 3}, {"a": "b"} | {PREFIX + name: text for name in names})

    assert found.metadata.annotations == {"a": "b"}
    assert found.spec == from_v1({"maxReplicas": 3}).spec
    assert found.status == from_v1({"maxReplicas": 3}).status


def test_v2_has_no_such_annotations() -> None:
    annotations = {f"{PREFIX}metrics": QUEUE_TEXT, f"{PREFIX}scale-up-tolerance": "1", "a": "b"}
    document = {"metadata": {"name": "web", "annotations": annotations}, "spec": {}}

    assert decoded(v2.HorizontalPodAutoscaler, document).metadata.annotations == {"a": "b"}
