# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""An operator written with kopf that admits Gadgets: it completes them, and rejects some.

Run by `kopf run`, which creates the webhook configurations by itself.
"""

import os
from pathlib import Path
from typing import Any

import kopf


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    folder = Path(os.environ["CERTIFICATES"])
    settings.posting.level = 30
    settings.admission.managed = "auto.kopf.dev"
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1",
        host="127.0.0.1",
        certfile=folder / "serving.crt",
        pkeyfile=folder / "serving.key",
        cafile=folder / "ca.crt",
    )


@kopf.on.mutate("gadgets.example.io", "v1", "gadgets", operation="CREATE")
def complete(
    spec: kopf.Spec, patch: kopf.Patch, warnings: list[str], dryrun: bool, **_: Any
) -> None:
    if "replicas" not in spec or spec["replicas"] == 1:
        patch.spec["replicas"] = 3
        warnings.append("three replicas are better than one")
    patch.metadata.labels["admitted"] = "dry" if dryrun else "yes"


@kopf.on.validate("gadgets.example.io", "v1", "gadgets", operation="UPDATE")
def keep_model(old: Any, new: Any, **_: Any) -> None:
    model = old["spec"]["model"]
    if new["spec"]["model"] != model:
        raise kopf.AdmissionError(f"the model is {model} forever", code=409)


@kopf.on.validate("gadgets.example.io", "v1", "gadgets", operation="DELETE")
def keep_treasures(labels: kopf.Labels, name: str, **_: Any) -> None:
    if labels.get("treasure") == "yes":
        raise kopf.AdmissionError(f"{name} is a treasure")
