"""Walks through autoscaling: `kubectl autoscale`, and one autoscaler in two versions."""

import json

from tests.kubectl.runner import Kubectl, one_version

QUEUE = """
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: worker}
    spec:
      scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}
      maxReplicas: 10
      metrics:
      - type: External
        external: {metric: {name: queue}, target: {type: Value, value: 30}}
"""
OLD = "horizontalpodautoscalers.v1.autoscaling/worker"


@one_version
def test_a_deployment_is_autoscaled(kubectl: Kubectl) -> None:
    kubectl.output("create", "deployment", "web", "--image=web:1")

    kubectl.replays("""
        $ kubectl autoscale deployment web --min=2 --max=5 --cpu-percent=70
        horizontalpodautoscaler.autoscaling/web autoscaled
        $ kubectl get hpa
        NAME   REFERENCE        TARGETS              MINPODS   MAXPODS   REPLICAS   AGE
        web    Deployment/web   cpu: <unknown>/70%   2         5         0          AGE
        $ kubectl patch hpa web --type=merge -p '{"spec":{"maxReplicas":1}}'
        The HorizontalPodAutoscaler "web" is invalid: spec.maxReplicas: Invalid value: 1: must be greater than or equal to `minReplicas`
        (exit 1)
        $ kubectl delete hpa web
        horizontalpodautoscaler.autoscaling "web" deleted
    """)  # noqa: E501


@one_version
def test_an_autoscaler_of_v2_is_changed_as_v1(kubectl: Kubectl) -> None:
    """The metric that v1 has no field for is in an annotation, and survives."""
    kubectl.write("queue.yaml", QUEUE)
    kubectl.output("apply", "--server-side", "-f", "queue.yaml")

    old = json.loads(kubectl.output("get", OLD, "-o", "json"))
    kubectl.output("patch", OLD, "--type=merge", "-p", '{"spec":{"maxReplicas":20}}')
    new = json.loads(kubectl.output("get", "hpa", "worker", "-o", "json"))

    assert old["metadata"]["annotations"] == {
        "autoscaling.alpha.kubernetes.io/metrics": (
            '[{"type":"External","external":{"metricName":"queue","targetValue":"30"}}]'
        )
    }
    assert new["apiVersion"] == "autoscaling/v2"
    assert new["spec"]["maxReplicas"] == 20
    assert new["spec"]["metrics"] == [
        {
            "type": "External",
            "external": {
                "metric": {"name": "queue"},
                "target": {"type": "Value", "value": "30"},
            },
        }
    ]
    assert "annotations" not in new["metadata"]
