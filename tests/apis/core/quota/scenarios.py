"""What quotas say about objects: each with what is refused, as Kubernetes says it, or is counted.

A scenario is a quota, an object, and either the message (without "... is forbidden: ") or what the
quota says is used after the object is created.
"""

from dataclasses import dataclass, field
from typing import Any

RESOURCE_API = "/apis/resource.k8s.io/v1"


@dataclass(frozen=True)
class Scenario:
    """A quota and an object."""

    resource: str
    document: dict[str, Any]
    hard: dict[str, str]
    spec: dict[str, Any] = field(default_factory=dict)
    api: str = "/api/v1"
    refused: str = ""
    used: dict[str, str] = field(default_factory=dict)


def container(name: str = "a", *, limits: Any = None, **requests: str) -> dict[str, Any]:
    amounts = {key.replace("__", "/").replace("_", "-"): value for key, value in requests.items()}
    resources = {"requests": amounts, "limits": limits or {}}
    return {"name": name, "image": "i", "resources": resources}


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    spec = {"containers": list(containers) or [container()], **spec}
    spec.setdefault("automountServiceAccountToken", False)
    return {"metadata": {"name": "p"}, "spec": spec}


def service(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], **spec}}


def claim(storage: str, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": storage}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": "c"}, "spec": spec}


def device_claim(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "d"}, "spec": {"devices": {"requests": list(requests)}}}


def selector(scope: str, operator: str = "Exists", *values: str) -> dict[str, Any]:
    expression = {"scopeName": scope, "operator": operator}
    if values:
        expression["values"] = list(values)  # type: ignore[assignment]
    return {"scopeSelector": {"matchExpressions": [expression]}}


SIDECAR = {**container("s", cpu="100m"), "restartPolicy": "Always"}
AFFINITY = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "k",
                "namespaces": ["other"],
                "labelSelector": {"matchLabels": {"a": "b"}},
            }
        ]
    }
}

SCENARIOS: dict[str, Scenario] = {
    "no container may lack what is limited": Scenario(
        "pods",
        pod(container("b"), container("a", cpu="1"), initContainers=[container("c", cpu="1")]),
        {"requests.cpu": "1", "limits.cpu": "2", "memory": "1Gi"},
        refused=(
            "failed quota: q: must specify limits.cpu for: a,b,c; memory for: a,b,c;"
            " requests.cpu for: b"
        ),
    ),
    "pod-level resources replace those of containers": Scenario(
        "pods",
        pod(container("b"), resources={"requests": {"cpu": "200m"}, "limits": {"cpu": "1"}}),
        {"requests.cpu": "1", "limits.cpu": "2"},
        used={"requests.cpu": "200m", "limits.cpu": "1"},
    ),
    "several bounds are exceeded together": Scenario(
        "pods",
        pod(container(cpu="2", memory="3Gi"), container("b", cpu="500m", memory="1Gi")),
        {"requests.cpu": "1", "memory": "2Gi", "pods": "5"},
        refused=(
            "exceeded quota: q, requested: memory=4Gi,requests.cpu=2500m,"
            " used: memory=0,requests.cpu=0, limited: memory=2Gi,requests.cpu=1"
        ),
    ),
    "init containers and sidecars": Scenario(
        "pods",
        pod(
            container(cpu="1"),
            initContainers=[SIDECAR, container("i", cpu="1500m")],
        ),
        {"requests.cpu": "10", "cpu": "10", "count/pods": "2"},
        used={"requests.cpu": "1600m", "cpu": "1600m", "count/pods": "1"},
    ),
    "ephemeral storage and huge pages": Scenario(
        "pods",
        pod(
            container(
                ephemeral_storage="1Gi",
                hugepages_2Mi="4Mi",
                cpu="1",
                limits={"hugepages-2Mi": "4Mi", "ephemeral-storage": "2Gi"},
            )
        ),
        {
            "ephemeral-storage": "5Gi",
            "requests.ephemeral-storage": "5Gi",
            "limits.ephemeral-storage": "5Gi",
            "hugepages-2Mi": "8Mi",
            "requests.hugepages-2Mi": "8Mi",
        },
        used={
            "ephemeral-storage": "1Gi",
            "requests.ephemeral-storage": "1Gi",
            "limits.ephemeral-storage": "2Gi",
            "hugepages-2Mi": "4Mi",
            "requests.hugepages-2Mi": "4Mi",
        },
    ),
    "extended resources": Scenario(
        "pods",
        pod(container(example_com__gpu="3", limits={"example-com/gpu": "3"})),
        {"requests.example-com/gpu": "2"},
        refused=(
            "exceeded quota: q, requested: requests.example-com/gpu=3,"
            " used: requests.example-com/gpu=0, limited: requests.example-com/gpu=2"
        ),
    ),
    "a scope of pods with a deadline": Scenario(
        "pods",
        pod(activeDeadlineSeconds=5),
        {"pods": "0"},
        {"scopes": ["Terminating"]},
        refused="exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0",
    ),
    "a scope of pods without a deadline": Scenario(
        "pods",
        pod(activeDeadlineSeconds=5),
        {"pods": "0"},
        {"scopes": ["NotTerminating"]},
        used={"pods": "0"},
    ),
    "a scope of pods without requests": Scenario(
        "pods",
        pod(),
        {"pods": "0"},
        {"scopes": ["BestEffort"]},
        refused="exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0",
    ),
    "a scope of pods with requests": Scenario(
        "pods",
        pod(container(cpu="1")),
        {"cpu": "500m"},
        {"scopes": ["NotBestEffort"]},
        refused="exceeded quota: q, requested: cpu=1, used: cpu=0, limited: cpu=500m",
    ),
    "a scope of pods with affinity to other namespaces": Scenario(
        "pods",
        pod(affinity=AFFINITY),
        {"pods": "0"},
        {"scopes": ["CrossNamespacePodAffinity"]},
        refused="exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0",
    ),
    "a scope of a priority class": Scenario(
        "pods",
        pod(priorityClassName="system-node-critical"),
        {"pods": "0"},
        selector("PriorityClass", "In", "system-node-critical"),
        refused="exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0",
    ),
    "a scope of other priority classes": Scenario(
        "pods",
        pod(priorityClassName="system-node-critical"),
        {"pods": "0"},
        selector("PriorityClass", "NotIn", "system-node-critical"),
        used={"pods": "0"},
    ),
    "no priority class is not in others": Scenario(
        "pods",
        pod(),
        {"pods": "0"},
        selector("PriorityClass", "NotIn", "high"),
        refused="exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0",
    ),
    "any priority class": Scenario(
        "pods",
        pod(),
        {"pods": "0"},
        selector("PriorityClass"),
        used={"pods": "0"},
    ),
    "node ports": Scenario(
        "services",
        service(type="NodePort", ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]),
        {"services.nodeports": "1", "services": "3"},
        refused=(
            "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0,"
            " limited: services.nodeports=1"
        ),
    ),
    "load balancers": Scenario(
        "services",
        service(type="LoadBalancer", ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]),
        {"services.nodeports": "5", "services.loadbalancers": "1", "count/services": "1"},
        used={"services.nodeports": "2", "services.loadbalancers": "1", "count/services": "1"},
    ),
    "load balancers without node ports": Scenario(
        "services",
        service(type="LoadBalancer", allocateLoadBalancerNodePorts=False),
        {"services.nodeports": "5", "services.loadbalancers": "1"},
        used={"services.nodeports": "0", "services.loadbalancers": "1"},
    ),
    "storage": Scenario(
        "persistentvolumeclaims",
        claim("3Gi"),
        {"requests.storage": "2Gi", "persistentvolumeclaims": "3"},
        refused=(
            "exceeded quota: q, requested: requests.storage=3Gi, used: requests.storage=0,"
            " limited: requests.storage=2Gi"
        ),
    ),
    "storage of a class": Scenario(
        "persistentvolumeclaims",
        claim("1536Mi", storageClassName="gold"),
        {
            "gold.storageclass.storage.k8s.io/requests.storage": "2Gi",
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "2",
            "iron.storageclass.storage.k8s.io/requests.storage": "0",
            "requests.storage": "4Gi",
        },
        used={
            "gold.storageclass.storage.k8s.io/requests.storage": "1536Mi",
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
            "iron.storageclass.storage.k8s.io/requests.storage": "0",
            "requests.storage": "1536Mi",
        },
    ),
    "claims of an attributes class": Scenario(
        "persistentvolumeclaims",
        claim("1Gi", volumeAttributesClassName="fast"),
        {"requests.storage": "0"},
        selector("VolumeAttributesClass", "In", "fast"),
        refused=(
            "exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=0,"
            " limited: requests.storage=0"
        ),
    ),
    "devices": Scenario(
        "resourceclaims",
        device_claim(
            {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}},
            {
                "name": "b",
                "firstAvailable": [
                    {"name": "x", "deviceClassName": "gpu", "count": 3},
                    {"name": "y", "deviceClassName": "fpga", "allocationMode": "All"},
                    {"name": "z", "deviceClassName": "gpu", "count": 1},
                ],
            },
        ),
        {
            "gpu.deviceclass.resource.k8s.io/devices": "4",
            "fpga.deviceclass.resource.k8s.io/devices": "100",
        },
        api=RESOURCE_API,
        refused=(
            "exceeded quota: q, requested: gpu.deviceclass.resource.k8s.io/devices=5,"
            " used: gpu.deviceclass.resource.k8s.io/devices=0,"
            " limited: gpu.deviceclass.resource.k8s.io/devices=4"
        ),
    ),
    "devices of all kinds": Scenario(
        "resourceclaims",
        device_claim(
            {"name": "a", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
        ),
        {
            "gpu.deviceclass.resource.k8s.io/devices": "40",
            "count/resourceclaims.resource.k8s.io": "1",
        },
        api=RESOURCE_API,
        used={
            "gpu.deviceclass.resource.k8s.io/devices": "32",
            "count/resourceclaims.resource.k8s.io": "1",
        },
    ),
    "old names and counts": Scenario(
        "secrets",
        {"metadata": {"name": "x"}},
        {"secrets": "1", "count/secrets": "0"},
        refused=(
            "exceeded quota: q, requested: count/secrets=1, used: count/secrets=0,"
            " limited: count/secrets=0"
        ),
    ),
    "resources of other groups": Scenario(
        "configmaps",
        {"metadata": {"name": "x"}},
        {"count/deployments.apps": "0", "configmaps": "2"},
        used={"count/deployments.apps": "0", "configmaps": "1"},
    ),
    "events are not counted": Scenario(
        "events",
        {
            "metadata": {"name": "x"},
            "involvedObject": {"kind": "Pod", "name": "x", "namespace": "@"},
        },
        {"count/events": "0"},
    ),
}
