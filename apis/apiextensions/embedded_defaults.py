"""Defaults of embedded resources: drop unknown fields of their metadata.

The fields of metadata are known to the server, not to the schema. Kubernetes therefore drops the
unknown ones from a default when the definition is written, and rejects other unknown fields.
"""

from collections.abc import Iterator

from apimachinery.model.model import deep_copy
from apimachinery.structural.pruning import prune_embedded_metadata
from apimachinery.structural.schema_node import parse_node
from apis.apiextensions.v1 import CustomResourceDefinition, JSONSchemaProps
from apis.apiextensions.validation.schema import schema_document


def prune_defaults(definition: CustomResourceDefinition) -> None:
    """Drop unknown metadata of embedded resources from all defaults of a definition."""
    for version in definition.spec.versions:
        schema = version.schema_.open_apiv3_schema if version.schema_ else None
        if schema is not None and _embeds(schema):
            _prune(schema)


def _prune(schema: JSONSchemaProps) -> None:
    if schema.default is not None and _embeds(schema):
        default = deep_copy(schema.default)
        prune_embedded_metadata(parse_node(schema_document(schema)), default)
        schema.default = default
    for part in _parts(schema):
        _prune(part)


def _embeds(schema: JSONSchemaProps) -> bool:
    return bool(schema.embedded_resource) or any(map(_embeds, _parts(schema)))


def _parts(schema: JSONSchemaProps) -> Iterator[JSONSchemaProps]:
    yield from schema.properties.values()
    for part in (schema.items, schema.additional_properties):
        if isinstance(part, JSONSchemaProps):
            yield part
