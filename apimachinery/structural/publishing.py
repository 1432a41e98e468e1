"""Structural schemas as OpenAPI publishes them.

Version 3 can say all that a schema says. Version 2 is read by clients that refuse what they do not
know, so whatever it has no word for is left open instead.
"""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.openapi.dialect import Dialect, Schema
from apimachinery.structural.node import JSONSchema

_NOT_IN_V2: Final = frozenset(
    ("default", "nullable", "oneOf", "anyOf", "allOf", "not", "x-kubernetes-validations")
)
_OPEN: Final = frozenset(("type", "items", "properties", "additionalProperties", "required"))
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"


def published_schema(schema: JSONSchema, dialect: Dialect) -> Schema:
    """A schema in the words of a version of OpenAPI."""
    if dialect.has_one_of:
        return _copy(schema)
    return _in_v2(schema)


def _copy(schema: JSONSchema) -> Schema:
    return {key: schema[key] for key in sorted(schema)}


def _in_v2(schema: JSONSchema) -> Schema:
    found = {key: value for key, value in schema.items() if key not in _NOT_IN_V2}
    if schema.get(_PRESERVE) or schema.get("nullable"):
        found = {key: value for key, value in found.items() if key not in _OPEN}
        if schema.get(_PRESERVE) and schema.get("type"):
            found["type"] = schema["type"]
    if schema.get("x-kubernetes-int-or-string"):
        found.pop("type", None)
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), Mapping):
            found[key] = _in_v2(found[key])
        elif found.get(key) is False:
            del found[key]
    if "properties" in found:
        parts: Mapping[str, Any] = found["properties"]
        found["properties"] = {name: _in_v2(part) for name, part in parts.items()}
    return {key: found[key] for key in sorted(found)}
