"""The pods that the checks are tested with, and what Kubernetes says about each of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

_FOLDER: Final = Path(__file__).parent

DEMANDS: Final = (
    *(f"baseline:{version}" for version in ("v1.0", "v1.30", "v1.33", "v1.36", "latest")),
    *(f"restricted:{version}" for version in ("v1.7", "v1.19", "v1.24", "v1.34", "latest")),
)
"""The levels and versions that Kubernetes was asked about."""


def pods() -> Mapping[str, dict[str, Any]]:
    """Return each pod by its name."""
    documents = yaml.safe_load((_FOLDER / "pods.yaml").read_text())
    return {name: _pod(name, parts) for name, parts in documents.items()}


def expectations() -> Iterator[tuple[str, str, str]]:
    """Yield a pod, a demand, and why the demand is not met, empty if it is."""
    recorded = yaml.safe_load((_FOLDER / "recorded.yaml").read_text())
    for name, answers in recorded.items():
        said = {demand: answer["says"] for answer in answers for demand in answer["demands"]}
        for demand in DEMANDS:
            yield name, demand, said.get(demand, "")


def _pod(name: str, parts: dict[str, Any]) -> dict[str, Any]:
    container = {"name": "c", "image": "i", **parts.get("container", {})}
    spec = {**parts.get("spec", {}), "containers": [container]}
    if "init" in parts:
        spec["initContainers"] = [{"name": "i", "image": "i", **parts["init"]}]
    metadata = {"name": name, "annotations": parts.get("annotations", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
