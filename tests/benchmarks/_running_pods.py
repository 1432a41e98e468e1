"""Pods as a cluster holds them: with an owner, tolerations, probes, and what a kubelet reports."""

from typing import Any

from tests.servers import Server

_LABELS = {"app": "web", "tier": "front", "pod-template-hash": "5d4f8c7b9"}


def replica_set() -> dict[str, Any]:
    """The owner of the pods: without it they would be collected as garbage."""
    template = {"metadata": {"labels": _LABELS}, "spec": _spec()}
    return {
        "metadata": {"name": "web", "labels": _LABELS},
        "spec": {"replicas": 1, "selector": {"matchLabels": _LABELS}, "template": template},
    }


def pod_to_create() -> dict[str, Any]:
    return {"metadata": {"name": "web", "labels": _LABELS}, "spec": _spec()}


def running_pod(owner: str) -> dict[str, Any]:
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web",
        "uid": owner,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "name": "pod-0",
        "labels": _LABELS,
        "annotations": {"example.io/checksum": "d41d8cd98f00b204e9800998ecf8427e"},
        "ownerReferences": [reference],
    }
    return {"metadata": metadata, "spec": _spec() | {"nodeName": "node-1"}}


def pod_with_status(server: Server, path: str) -> dict[str, Any]:
    """The first pod as a kubelet writes it."""
    pod: dict[str, Any] = server.request("GET", f"{path}/pod-0").json
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    moment = "2026-01-02T03:04:06Z"
    pod["status"] = pod["status"] | {
        "phase": "Running",
        "hostIP": "10.1.0.3",
        "podIP": "10.0.0.7",
        "podIPs": [{"ip": "10.0.0.7"}],
        "startTime": moment,
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": moment} for kind in kinds
        ],
        "containerStatuses": [
            {
                "name": name,
                "image": f"registry.example.io/{name}:1.2.3",
                "imageID": f"registry.example.io/{name}@sha256:{7:064x}",
                "containerID": f"containerd://{9:064x}",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": moment}},
            }
            for name in ("web", "sidecar")
        ],
    }
    return pod


def _spec() -> dict[str, Any]:
    return {
        "containers": [_container("web"), _container("sidecar")],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute"}
            | {"tolerationSeconds": 300}
            for key in ("not-ready", "unreachable")
        ],
        "volumes": [{"name": "config", "configMap": {"name": "web"}}],
    }


def _container(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.io/{name}:1.2.3",
        "args": ["--verbose", "--port=8080"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"name": name, "containerPort": 8080 if name == "web" else 8081}],
        "resources": {
            "limits": {"cpu": "500m", "memory": "128Mi"},
            "requests": {"cpu": "250m", "memory": "64Mi"},
        },
        "readinessProbe": {"httpGet": {"path": "/ready", "port": name}, "periodSeconds": 5},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/web", "readOnly": True}],
    }
