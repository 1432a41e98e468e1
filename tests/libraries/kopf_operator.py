# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""An operator written with kopf: it answers every Gadget with a ConfigMap and a status.

Run by `kopf run`. What it does is seen on the server only; the test waits there.
"""

from typing import Any

import kopf
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException


@kopf.on.startup()
def connect(settings: kopf.OperatorSettings, **_: Any) -> None:
    config.load_kube_config()
    settings.posting.level = 30


@kopf.on.create("gadgets.example.io", "v1", "gadgets")
def created(name: str, namespace: str, spec: kopf.Spec, body: kopf.Body, **_: Any) -> None:
    config_map = {"metadata": {"name": f"{name}-made"}, "data": {"model": spec["model"]}}
    kopf.adopt(config_map, owner=body)
    client.CoreV1Api().create_namespaced_config_map(namespace, config_map)


@kopf.on.update("gadgets.example.io", "v1", "gadgets", field="spec.model")
def model_changed(name: str, namespace: str, new: str, patch: kopf.Patch, **_: Any) -> None:
    client.CoreV1Api().patch_namespaced_config_map(
        f"{name}-made", namespace, {"data": {"model": new}}
    )
    patch.status["readyReplicas"] = 1


@kopf.on.delete("gadgets.example.io", "v1", "gadgets")
def deleted(name: str, namespace: str, **_: Any) -> None:
    try:
        client.CoreV1Api().delete_namespaced_config_map(f"{name}-made", namespace)
    except ApiException as error:
        if error.status != 404:
            raise
