"""Short ways to build pods, and to name their errors, for the tables of broken pods.

Errors are given without the path of the part that a table is about; an error elsewhere keeps its
whole path, after a `^`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import (
    validate_object_meta,
    validate_object_meta_update,
)
from apis.core.v1.pod import Pod
from apis.core.validation.pod import validate_pod
from tests.apis.validating import decoded, messages

Fields: TypeAlias = dict[str, Any]
Case: TypeAlias = tuple[Fields, list[str]]

_VOLUMES = [
    {"name": "data", "emptyDir": {}},
    {"name": "block", "persistentVolumeClaim": {"claimName": "a"}},
]


def pod(spec: Fields, metadata: Fields | None = None, status: Fields | None = None) -> Pod:
    """A pod as the server reads it, with a container unless *spec* has others."""
    document = {
        "metadata": {"name": "p", "namespace": "default", **(metadata or {})},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
        "status": status or {},
    }
    return decoded(Pod, document)


def pod_errors(new: Pod) -> list[str]:
    """The errors of a new pod, metadata first, as the server reports them."""
    metadata = messages(validate_object_meta(new.metadata, namespaced=True))
    return list(dict.fromkeys(metadata + messages(validate_pod(new))))


def spec_errors(spec: Fields, **metadata: Any) -> list[str]:
    return relative(pod_errors(pod(spec, metadata)), "spec.")


def container_errors(fields: Fields) -> list[str]:
    container = {"name": "c", "image": "i", **fields}
    broken = pod({"containers": [container], "volumes": _VOLUMES})
    return relative(pod_errors(broken), "spec.containers[0].")


def volume_errors(fields: Fields) -> list[str]:
    broken = pod({"serviceAccountName": "sa", "volumes": [{"name": "v", **fields}]})
    return relative(pod_errors(broken), "spec.volumes[0].")


def relative(errors: list[str], prefix: str) -> list[str]:
    return [
        error.removeprefix(prefix) if error.startswith(prefix) else f"^{error}" for error in errors
    ]


def changed(
    changes: Fields, spec: Fields, metadata: Fields | None = None, status: Fields | None = None
) -> tuple[Pod, Pod]:
    """A stored pod, and the same pod after *changes* to its document; None removes a field."""
    metadata = {"resourceVersion": "1", **(metadata or {})}
    old = {
        "metadata": metadata,
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
        "status": status or {},
    }
    new = _merged(old, changes)
    return (
        pod(old["spec"], old["metadata"], old["status"]),
        pod(new["spec"], new["metadata"], new["status"]),
    )


def update_errors(validate: Callable[[Pod, Pod], FieldErrors], new: Pod, old: Pod) -> list[str]:
    """The errors of an update, metadata first, as the server reports them."""
    metadata = messages(validate_object_meta_update(new.metadata, old.metadata))
    return list(dict.fromkeys(metadata + messages(validate(new, old))))


def _merged(document: Fields, changes: Fields) -> Fields:
    merged = dict(document)
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = _merged(merged[name], value)
        else:
            merged[name] = value
    return {name: value for name, value in merged.items() if value is not None}
