"""Validation of printer columns and selectable fields."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, duplicate, invalid, required, too_many
from apis.apiextensions.v1 import (
    CustomResourceColumnDefinition,
    CustomResourceDefinitionVersion,
    JSONSchemaProps,
)
from apis.apiextensions.v1.definition import COLUMN_TYPES
from apis.apiextensions.validation.subresources import validate_simple_path

_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
MAX_SELECTABLE: Final = 8


def validate_columns(columns: Sequence[CustomResourceColumnDefinition], path: Path) -> FieldErrors:
    for position, column in enumerate(columns):
        yield from _validate_column(column, path.index(position))


def _validate_column(column: CustomResourceColumnDefinition, path: Path) -> FieldErrors:
    if not column.name:
        yield required(path.child("name"))
    supported = f"must be one of {','.join(COLUMN_TYPES)}"
    if not column.type:
        yield required(path.child("type"), supported)
    elif column.type not in COLUMN_TYPES:
        yield invalid(path.child("type"), column.type, supported)
    if column.format and column.format not in _FORMATS:
        rule = f"must be one of {','.join(_FORMATS)}"
        yield invalid(path.child("format"), column.format, rule)
    here, text = path.child("JSONPath"), column.json_path
    if not text:
        yield required(here)
    else:
        yield from validate_simple_path(text, here)


def validate_selectable(version: CustomResourceDefinitionVersion, path: Path) -> FieldErrors:
    schema = version.schema_.open_apiv3_schema if version.schema_ else None
    seen: set[str] = set()
    for position, selectable in enumerate(version.selectable_fields):
        here, text = path.index(position).child("jsonPath"), selectable.json_path
        if not text:
            yield required(here)
            continue
        problem, field_schema = _path_problem(text), _schema_at(schema, text)
        if problem or field_schema is None:
            problem = problem or "does not refer to a valid field"
            yield invalid(here, text, f"is an invalid path: {problem}")
            continue
        if text.startswith(".metadata"):
            yield invalid(here, text, "must not point to fields in metadata")
        if field_schema.type not in ("string", "boolean", "integer"):
            rule = (
                "must point to a field of type string, boolean or integer. Enum string fields and"
                " strings with formats are allowed."
            )
            yield invalid(here, text, rule)
        if text in seen:
            yield duplicate(here, text)
        seen.add(text)
    if len(seen) > MAX_SELECTABLE:
        yield too_many(path, len(seen), MAX_SELECTABLE)


def _path_problem(path: str) -> str:
    """Return what is wrong with the notation of a path, empty if it consists of names."""
    if path[0] not in ".[":
        return f"expected [ or . but got: {path.split('.')[0].split('[')[0]}"
    return "array notation is not allowed" if "[" in path else ""


def _schema_at(schema: JSONSchemaProps | None, path: str) -> JSONSchemaProps | None:
    if not path.startswith("."):
        return None
    for name in path[1:].split("."):
        schema = schema.properties.get(name) if schema else None
    return schema
