"""Warnings about the schemas of a definition: what Kubernetes accepts, but does not do."""

from collections.abc import Iterator
from typing import Any

from apimachinery.structural.formats import format_check
from apis.apiextensions.v1 import CustomResourceDefinition, JSONSchemaProps


def schema_warnings(
    new: CustomResourceDefinition, old: CustomResourceDefinition | None
) -> list[str]:
    """Return the warnings about formats and sets that *old* does not have."""
    known = set(_warnings(old)) if old is not None else set()
    return [text for text in dict.fromkeys(_warnings(new)) if text not in known]


def _warnings(definition: CustomResourceDefinition) -> list[str]:
    schemas = [
        part
        for version in definition.spec.versions
        if version.schema_ is not None and version.schema_.open_apiv3_schema is not None
        for part in _all_parts(version.schema_.open_apiv3_schema)
    ]
    formats = [
        f'unrecognized format "{schema.format}"'
        for schema in schemas
        if schema.format and not _is_known(schema.type, schema.format)
    ]
    sets = {
        f'x-kubernetes-list-type: set for items of type "{schema.items.type}" is not supported by'
        " server-side apply or CEL validation rules"
        for schema in schemas
        if schema.list_type == "set"
        and isinstance(schema.items, JSONSchemaProps)
        and schema.items.type in ("object", "array")
    }
    return [*formats, *sorted(sets)]


def _is_known(type_: str, name: str) -> bool:
    match type_:
        case "" | "string":
            return format_check(name) is not None
        case "integer":
            return name in ("int32", "int64")
        case "number":
            return name in ("float", "double")
        case _:
            return False


def _all_parts(schema: JSONSchemaProps) -> Iterator[JSONSchemaProps]:
    yield schema
    for part in _parts(schema):
        if isinstance(part, JSONSchemaProps):
            yield from _all_parts(part)


def _parts(schema: JSONSchemaProps) -> Iterator[Any]:
    yield schema.items
    yield from (*schema.all_of, *schema.one_of, *schema.any_of)
    yield schema.not_
    yield from schema.properties.values()
    yield schema.additional_properties
