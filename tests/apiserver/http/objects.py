"""Objects that tests send, each with only what matters."""

from typing import Any

GADGETS = "/apis/gadgets.example.io/v1/namespaces/default/gadgets"
BETA = "/apis/gadgets.example.io/v1beta1/namespaces/default/gadgets"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

JSON_PATCH = "json-patch+json"
STRATEGIC = "strategic-merge-patch+json"


def gadget(name: str = "lamp", *, labels: dict[str, str] | None = None, **spec: Any) -> Any:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"metadata": metadata, "spec": {"model": "a1", **spec}}


def applied(name: str = "lamp", **spec: Any) -> Any:
    kind = {"apiVersion": "gadgets.example.io/v1", "kind": "Gadget"}
    return {**kind, "metadata": {"name": name}, "spec": spec}
