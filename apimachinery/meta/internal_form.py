"""Internal form: how error messages of Kubernetes show a value of a built-in kind.

Kubernetes validates internal types, whose fields have the names of Go and are never omitted. Only
the types that all groups share have the names of the wire.
"""

import re
from typing import Any, Final

from apimachinery.fieldpath import NULL, GoStruct
from apimachinery.meta import types
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model

_INITIALISMS: Final = frozenset(
    (
        *("api", "aws", "csi", "dns", "fc", "fs", "gce", "grpc", "http", "id", "ip", "iscsi"),
        *("nfs", "pid", "rbd", "se", "tcp", "tls", "tty", "ttl", "uid", "url"),
    )
)
_RENAMED: Final = {
    "cephfs": "CephFS",
    "serviceAccount": "DeprecatedServiceAccount",
}


def internal_form(value: Any) -> Any:
    """Return a value as a message shows it; an unset value, empty map or list is null."""
    if value is None or (isinstance(value, dict | list) and not value):
        return NULL
    return _nested(value)


def list_form(owner: Model, name: str) -> Any:
    """Return a list field as a message shows it: null if empty and not in the document."""
    value = getattr(owner, name)
    return value if value or name in owner.model_fields_set else NULL


def _nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_nested(item) for item in value] or None
    if isinstance(value, dict):
        return {key: _nested(item) for key, item in value.items()} or None
    if not isinstance(value, Model) or type(value).__module__ == types.__name__:
        return value
    form = GoStruct()
    for field in fields_of(type(value)):
        item = getattr(value, field.name)
        if isinstance(item, types.ObjectMeta):
            # Go embeds the metadata: its fields are those of the object.
            form.update(item.model_dump(by_alias=True, mode="json"))
        elif field.name not in ("kind", "api_version") or not isinstance(value, types.TypeMeta):
            form[_go_name(field.wire)] = _nested(item)
    return form


def _go_name(wire: str) -> str:
    """Return the Go name of a field: an initialism at its beginning is in capitals."""
    if wire in _RENAMED:
        return _RENAMED[wire]
    first = re.match("[a-z0-9]*", wire)
    word = first[0] if first else ""
    return (word.upper() if word in _INITIALISMS else word.capitalize()) + wire[len(word) :]
