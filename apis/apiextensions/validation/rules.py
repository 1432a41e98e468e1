"""What makes the rules of a schema in CEL wrong."""

from collections.abc import Mapping
from typing import Any

from apimachinery.fieldpath import FieldErrors, Path, forbidden


def validate_rules(schema: Mapping[str, Any], path: Path) -> FieldErrors:
    if schema.get("x-kubernetes-validations"):
        yield forbidden(path.child("x-kubernetes-validations"), "is not supported by this server")
    for name, part in (schema.get("properties") or {}).items():
        yield from validate_rules(part, path.child("properties").key(name))
    for wire in ("items", "additionalProperties"):
        if isinstance(schema.get(wire), Mapping):
            yield from validate_rules(schema[wire], path.child(wire))
