"""A pod-sized kind of about 1.6 KB in JSON: not the real Pod, but as wide and as deep."""

from typing import Any

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme

VERSION = GroupVersion("bench.example.io", "v1")


class Port(Model):
    name: str = ""
    container_port: int
    protocol: str = "TCP"


class Probe(Model):
    path: str = ""
    port: IntOrString
    period_seconds: int = 10
    timeout_seconds: int = 1


class EnvVar(Model):
    name: str
    value: str = ""


class Resources(Model):
    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)


class Container(Model):
    name: str
    image: str = ""
    command: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    env: list[EnvVar] = field(
        default_factory=list,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )
    ports: list[Port] = field(default_factory=list, list_map_keys=("containerPort", "protocol"))
    resources: Resources = field(default_factory=Resources)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    image_pull_policy: str = ""


class PodSpec(Model):
    containers: list[Container] = field(
        list_map_keys=("name",), patch_strategy="merge", patch_merge_key="name"
    )
    node_selector: dict[str, str] = field(default_factory=dict)
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    service_account_name: str = ""
    node_name: str = ""


class PodStatus(Model):
    phase: str = ""
    conditions: list[Condition] = field(default_factory=list, list_map_keys=("type",))
    pod_ip: str = field("", wire="podIP")


class Pod(Object):
    spec: PodSpec
    status: PodStatus = field(default_factory=PodStatus)


class PodSpecV1(PodSpec):
    """Another class of the same shape, as a version's would be."""


class PodStatusV1(PodStatus):
    """Another class of the same shape."""


class PodV1(Object, kind="Pod"):
    spec: PodSpecV1
    status: PodStatusV1 = field(default_factory=PodStatusV1)


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(VERSION.group, INTERNAL), Pod)
    scheme.add(VERSION, PodV1)
    scheme.add_same(PodV1, Pod)


def _container(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.io/{name}:1.2.3",
        "args": ["--verbose", "--port=8080"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {
            "limits": {"cpu": "500m", "memory": "128Mi"},
            "requests": {"cpu": "250m", "memory": "64Mi"},
        },
        "livenessProbe": {"path": "/healthz", "port": 8080, "periodSeconds": 5},
        "imagePullPolicy": "IfNotPresent",
    }


def pod_document(name: str = "web-0") -> dict[str, Any]:
    return {
        "kind": "Pod",
        "apiVersion": str(VERSION),
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": "6b2d3f0e-5f1c-4a8e-9b0a-0d6f5a3c2b1a",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app": "web", "tier": "front", "pod-template-hash": "5d4f8c7b9"},
            "annotations": {"example.io/checksum": "d41d8cd98f00b204e9800998ecf8427e"},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": "web",
                    "uid": "u-1",
                    "controller": True,
                }
            ],
        },
        "spec": {
            "containers": [_container("web"), _container("sidecar")],
            "nodeSelector": {"disk": "ssd"},
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "serviceAccountName": "default",
            "nodeName": "node-1",
        },
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.7",
            "conditions": [
                {
                    "type": kind,
                    "status": "True",
                    "lastTransitionTime": "2026-01-02T03:04:06Z",
                    "reason": "Ok",
                    "message": "",
                }
                for kind in ("Ready", "Initialized")
            ],
        },
    }
