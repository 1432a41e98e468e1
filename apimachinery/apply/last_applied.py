"""The last-applied annotation: migrate from client-side to server-side apply without conflicts.

Client-side `kubectl apply` keeps the last applied configuration in an annotation and owns its
fields by update. When kubectl later applies server-side, it may take over the fields that still
have the values of that annotation.
"""

from typing import Any, Final

import orjson

from apimachinery.apply.apply_errors import ApplyError
from apimachinery.apply.compare import compare
from apimachinery.apply.fieldset import EMPTY, FieldSet
from apimachinery.apply.typed_values import field_set_of
from apimachinery.model.type_shape import Shape

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
KUBECTL: Final = "kubectl"
"""The only field manager for which the annotation is considered."""


def allowed_conflicts(live: dict[str, Any], shape: Shape, version: str) -> FieldSet:
    """Return the fields that were last applied client-side and have not changed since.

    The set is empty if the annotation is missing, malformed or of another version.
    """
    last = _last_applied(live)
    if last is None or last.get("apiVersion") != version:
        return EMPTY
    try:
        fields = field_set_of(last, shape)
        changes = compare(last, live, shape)
    except ApplyError:
        return EMPTY
    return fields - changes.modified - changes.added - changes.removed


def _last_applied(live: dict[str, Any]) -> dict[str, Any] | None:
    metadata = live.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(LAST_APPLIED) if isinstance(annotations, dict) else None
    if not isinstance(text, str):
        return None
    try:
        last = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return last if isinstance(last, dict) else None
