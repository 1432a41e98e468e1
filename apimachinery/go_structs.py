"""Go structs: a Model in a message as Kubernetes shows its internal types, by Go's field names."""

from typing import Any, Final

from apimachinery.fieldpath import GoStruct
from apimachinery.meta.types import ObjectMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model

_NAMES: Final = {"apiGroups": "APIGroups", "cel": "CEL"}


def go_struct(model: Model) -> GoStruct:
    """Return a model with the Go names of its fields, and null for what is unset."""
    shown = GoStruct()
    for field in fields_of(type(model)):
        value = getattr(model, field.name)
        # The embedded metadata of a template shows only what is set.
        if not isinstance(value, ObjectMeta):
            name = _NAMES.get(field.wire) or field.wire[:1].upper() + field.wire[1:]
            shown[name] = _shown(value)
    return shown


def _shown(value: Any) -> Any:
    if isinstance(value, Model):
        return go_struct(value)
    if isinstance(value, list):
        return [_shown(item) for item in value] or None
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()} or None
    return value
