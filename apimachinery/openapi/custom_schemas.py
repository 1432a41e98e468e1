"""Schemas of custom kinds as OpenAPI publishes them.

OpenAPI v3 can express a structural schema completely. OpenAPI v2 cannot, and its clients reject
fields that they do not find in a schema: where v2 lacks a keyword, the schema is left open.
"""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.openapi.dialect import Dialect, Schema

_NOT_IN_V2: Final = frozenset(
    ("default", "nullable", "oneOf", "anyOf", "allOf", "not", "x-kubernetes-validations")
)
_OPEN: Final = frozenset(("type", "items", "properties", "additionalProperties", "required"))
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"


def custom_schema(schema: Mapping[str, Any], dialect: Dialect) -> Schema:
    """Return a structural schema in a dialect of OpenAPI, with sorted keys."""
    if dialect.has_one_of:
        return _sorted(schema)
    return _in_v2(schema)


def _in_v2(schema: Mapping[str, Any]) -> Schema:
    published = {key: value for key, value in schema.items() if key not in _NOT_IN_V2}
    if schema.get(_PRESERVE) or schema.get("nullable"):
        published = {key: value for key, value in published.items() if key not in _OPEN}
        if schema.get(_PRESERVE) and schema.get("type"):
            published["type"] = schema["type"]
    if schema.get("x-kubernetes-int-or-string"):
        published.pop("type", None)
    for key in ("items", "additionalProperties"):
        if isinstance(published.get(key), Mapping):
            published[key] = _in_v2(published[key])
        elif published.get(key) is False:
            del published[key]
    if "properties" in published:
        properties: Mapping[str, Any] = published["properties"]
        published["properties"] = {name: _in_v2(part) for name, part in properties.items()}
    return _sorted(published)


def _sorted(schema: Mapping[str, Any]) -> Schema:
    return {key: schema[key] for key in sorted(schema)}
