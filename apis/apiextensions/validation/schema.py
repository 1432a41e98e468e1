"""Validation of a version's schema, beyond being structural."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.model.model import deep_copy
from apimachinery.structural.defaulting import DefaultsTooLarge
from apimachinery.structural.schema_node import META_FIELDS
from apimachinery.structural.structural_rules import validate_structural
from apimachinery.structural.structural_schema import Schema
from apis.apiextensions.v1 import JSONSchemaProps
from apis.apiextensions.v1.schema import JSONSchemaPropsArray
from apis.apiextensions.validation.rules import validate_rules, validate_texts
from apis.apiextensions.validation.shown_values import shown

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_AT_ROOT: Final = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum"),
    *("ExclusiveMinimum", "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems"),
    *("UniqueItems", "MultipleOf", "Required", "Items", "Properties", "ExternalDocs", "Example"),
    *("XPreserveUnknownFields", "XValidations"),
)
"""Go names of the fields that the root may have if the status subresource is enabled."""
_NOT_AT_ROOT: Final = (
    *("default", "enum", "max_properties", "min_properties", "all_of", "one_of", "any_of", "not_"),
    *("additional_properties", "pattern_properties", "dependencies", "additional_items"),
    *("definitions", "nullable", "embedded_resource", "int_or_string", "list_map_keys"),
    *("list_type", "map_type", "id", "schema_", "ref"),
)


def schema_document(schema: JSONSchemaProps) -> dict[str, Any]:
    """Return a schema as the JSON document that `apimachinery.structural` compiles."""
    document: dict[str, Any] = schema.model_dump(mode="json", by_alias=True)
    return document


def validate_schema(
    schema: JSONSchemaProps, path: Path, *, has_status: bool, check_costs: bool = True
) -> FieldErrors:
    """Validate the schema of a version.

    The costs of rules are not checked in a schema that is stored already.
    """
    at_root = list(_validate_root(schema, path, has_status=has_status))
    yield from at_root
    errors = list(_validate(schema, path, _Place(is_root=True)))
    if _has_unsupported_keywords(schema):
        # Kubernetes cannot tell whether such a schema is structural; `$schema` has no other error.
        yield from errors
        if not at_root and not errors:
            yield invalid(path, "", "OpenAPIV3Schema 'schema' is not supported")
        return
    document = schema_document(schema)
    problems = list(validate_structural(document, path))
    if not problems:
        problems = list(_validate_defaults(document, path, root=True))
    yield from problems
    yield from errors
    if not problems:
        failed = frozenset(error.field for error in errors)
        yield from validate_rules(document, path, failed, check_costs=check_costs)


def _has_unsupported_keywords(schema: JSONSchemaProps) -> bool:
    """Return whether a schema has a keyword, at any depth, that structural schemas cannot have."""
    if (
        isinstance(schema, JSONSchemaPropsArray)
        or any((schema.id, schema.schema_, schema.ref, schema.pattern_properties))
        or any((schema.dependencies, schema.definitions, schema.additional_items is not None))
        or schema.preserve_unknown_fields is False
    ):
        return True
    additional = schema.additional_properties
    below = [*schema.properties.values(), *schema.all_of, *schema.any_of, *schema.one_of]
    below += [part for part in (schema.items, schema.not_) if part is not None]
    below += [additional] if isinstance(additional, JSONSchemaProps) else []
    return any(map(_has_unsupported_keywords, below))


def _validate_root(schema: JSONSchemaProps, path: Path, *, has_status: bool) -> FieldErrors:
    if has_status:
        yield from _validate_root_keywords(schema, path)
    if schema.nullable:
        yield forbidden(path.child("nullable"), "nullable cannot be true at the root")


def _validate_root_keywords(schema: JSONSchemaProps, path: Path) -> FieldErrors:
    if schema.type not in ("", "object"):
        rule = (
            'only "object" is allowed as the type at the root of the schema if the status'
            " subresource is enabled"
        )
        yield invalid(path.child("type"), schema.type, rule)
    if any(getattr(schema, name) for name in _NOT_AT_ROOT):
        rule = (
            f"only [{' '.join(_AT_ROOT)}] fields are allowed at the root of the schema if the"
            " status subresource is enabled"
        )
        yield invalid(path, shown(schema), rule)


@dataclass(frozen=True, slots=True)
class _Place:
    """The restrictions that apply at one place of a schema."""

    is_root: bool = False
    in_metadata: bool = False
    no_defaults: str = ""
    """Where defaults are forbidden, for the message; empty where they are allowed."""

    def of_property(self, name: str, schema: JSONSchemaProps) -> "_Place":
        below = replace(self, is_root=False)
        if (self.is_root or schema.embedded_resource) and name in META_FIELDS:
            below = replace(below, in_metadata=True)
            if self.is_root:
                below = replace(below, no_defaults=f"in top-level {name}")
        return below


def _validate(schema: JSONSchemaProps, path: Path, place: _Place) -> FieldErrors:
    yield from _validate_keywords(schema, path, place)
    yield from _validate_additional(schema, path, place)
    for part, here, below in _parts(schema, path, place):
        yield from _validate(part, here, below)
    if schema.preserve_unknown_fields is False:
        here = path.child("x-kubernetes-preserve-unknown-fields")
        yield invalid(here, False, "must be true or undefined")
    yield from _validate_map_type(schema, path)
    yield from _validate_list_type(schema, path)
    for position, rule in enumerate(schema.validations):
        here = path.child("x-kubernetes-validations").index(position)
        yield from validate_texts(rule, schema, here)


def _parts(
    schema: JSONSchemaProps, path: Path, place: _Place
) -> Iterator[tuple[JSONSchemaProps, Path, _Place]]:
    below = replace(place, is_root=False)
    for name, part in schema.properties.items():
        yield part, path.child("properties").key(name), place.of_property(name, schema)
    if schema.not_ is not None:
        yield schema.not_, path.child("not"), below
    for wire, parts in (
        ("allOf", schema.all_of),
        ("oneOf", schema.one_of),
        ("anyOf", schema.any_of),
    ):
        for position, part in enumerate(parts):
            yield part, path.child(wire).index(position), below
    for name, part in schema.definitions.items():
        yield part, path.child("definitions").key(name), below
    for name, part in schema.dependencies.items():
        if isinstance(part, dict):
            dependency = JSONSchemaProps.model_validate(part, by_alias=True, by_name=False)
            yield dependency, path.child("dependencies").key(name), below
    for part, here in _item_schemas(schema.items, path.child("items")):
        yield part, here, below


def _item_schemas(
    items: JSONSchemaProps | None, path: Path
) -> Iterator[tuple[JSONSchemaProps, Path]]:
    if isinstance(items, JSONSchemaPropsArray):
        for position, part in enumerate(items.schemas):
            yield part, path.index(position)
    elif items is not None:
        yield items, path


def _validate_keywords(schema: JSONSchemaProps, path: Path, place: _Place) -> FieldErrors:
    if schema.type == "null":
        rule = "type cannot be set to null, use nullable as an alternative"
        yield forbidden(path.child("type"), rule)
    if schema.type and schema.type not in _TYPES:
        yield not_supported(path.child("type"), schema.type, _TYPES)
    if schema.default is not None and place.no_defaults:
        yield forbidden(path.child("default"), f"must not be set {place.no_defaults}")
    for wire, value in (
        ("id", schema.id),
        ("additionalItems", schema.additional_items is not None),
        ("patternProperties", schema.pattern_properties),
        ("definitions", schema.definitions),
        ("dependencies", "dependencies" in schema.model_fields_set),
        ("$ref", schema.ref is not None),
    ):
        if value:
            yield forbidden(path.child(wire), f"{wire} is not supported")
    if isinstance(schema.items, JSONSchemaPropsArray):
        yield forbidden(path.child("items"), "items must be a schema object and not an array")
    if place.in_metadata and schema.embedded_resource:
        here = path.child("x-kubernetes-embedded-resource")
        yield forbidden(here, "must not be used inside of resource meta")
    if schema.unique_items:
        rule = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(path.child("uniqueItems"), rule)


def _validate_additional(schema: JSONSchemaProps, path: Path, place: _Place) -> FieldErrors:
    additional, here = schema.additional_properties, path.child("additionalProperties")
    if additional is None:
        return
    if schema.properties and additional is not True:
        yield forbidden(here, "additionalProperties and properties are mutual exclusive")
    if isinstance(additional, JSONSchemaProps):
        below = replace(place, is_root=False)
        if place.in_metadata:
            why = "inside additionalProperties applying to object metadata"
            below = replace(below, no_defaults=why)
        yield from _validate(additional, here, below)


def _validate_map_type(schema: JSONSchemaProps, path: Path) -> FieldErrors:
    if schema.map_type is None:
        return
    if schema.type != "object":
        rule = "must be object if x-kubernetes-map-type is specified"
        yield _invalid_type(schema.type, path, rule)
    if schema.map_type not in ("atomic", "granular"):
        here = path.child("x-kubernetes-map-type")
        yield not_supported(here, schema.map_type, ("atomic", "granular"))


def _validate_list_type(schema: JSONSchemaProps, path: Path) -> FieldErrors:
    kind, here = schema.list_type, path.child("x-kubernetes-list-type")
    items = None if isinstance(schema.items, JSONSchemaPropsArray) else schema.items
    if kind is not None and schema.type != "array":
        rule = "must be array if x-kubernetes-list-type is specified"
        yield _invalid_type(schema.type, path, rule)
    elif kind == "set" and items is not None:
        yield from _validate_set_items(items, path.child("items"))
    if kind not in (None, "atomic", "set", "map"):
        yield not_supported(here, kind, ("atomic", "set", "map"))
    if schema.list_map_keys and kind != "map":
        rule = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield required(here, rule) if kind is None else invalid(here, kind, rule)
    if kind in ("set", "map") and items is not None and items.nullable:
        rule = f"cannot be nullable when x-kubernetes-list-type is {kind}"
        yield forbidden(path.child("items", "nullable"), rule)
    if kind == "map":
        yield from _validate_map_list(schema, path)


def _invalid_type(kind: str, path: Path, rule: str) -> Any:
    here = path.child("type")
    return invalid(here, kind, rule) if kind else required(here, rule)


def _validate_set_items(items: JSONSchemaProps, path: Path) -> FieldErrors:
    rule = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if items.type == "array" and items.list_type not in (None, "atomic"):
        yield invalid(path.child("x-kubernetes-list-type"), items.list_type, rule)
    if items.type == "object" and items.map_type != "atomic":
        # As in Kubernetes, the value is that of the other keyword.
        yield invalid(path.child("x-kubernetes-map-type"), items.list_type, rule)


def _validate_map_list(schema: JSONSchemaProps, path: Path) -> FieldErrors:
    items, keys_path = schema.items, path.child("x-kubernetes-list-map-keys")
    if not schema.list_map_keys:
        yield required(keys_path, "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        rule = "must have a schema if x-kubernetes-list-type is map"
        yield required(path.child("items"), rule)
        return
    if isinstance(items, JSONSchemaPropsArray):
        rule = "must only have a single schema if x-kubernetes-list-type is map"
        yield invalid(path.child("items"), shown(items), rule)
        return
    if items.type != "object":
        rule = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(path.child("items", "type"), items.type, rule)
        return
    for position, key in enumerate(schema.list_map_keys):
        if key in schema.list_map_keys[:position]:
            yield invalid(keys_path, schema.list_map_keys, "must not contain duplicate entries")
        if key not in items.properties:
            rule = "entries must all be names of item properties"
            yield invalid(keys_path, schema.list_map_keys, rule)
        else:
            yield from _validate_key(items, key, path.child("items", "properties").key(key))


def _validate_key(items: JSONSchemaProps, key: str, path: Path) -> FieldErrors:
    schema = items.properties[key]
    if schema.type in ("array", "object"):
        rule = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield invalid(path.child("type"), items.type, rule)
    prefix = "this property is in x-kubernetes-list-map-keys, so it"
    if key not in items.required and schema.default is None:
        rule = f"{prefix} must have a default or be a required property"
        yield required(path.child("default"), rule)
    if schema.nullable:
        yield forbidden(path.child("nullable"), f"{prefix} cannot be nullable")


def _validate_defaults(schema: dict[str, Any], path: Path, *, root: bool = False) -> FieldErrors:
    """Validate that each default is itself valid."""
    for name, part in (schema.get("properties") or {}).items():
        if not (root and name in META_FIELDS):
            yield from _validate_defaults(part, path.child("properties").key(name))
    if isinstance(schema.get("items"), dict):
        yield from _validate_defaults(schema["items"], path.child("items"))
    if schema.get("default") is None:
        return
    if root:
        schema = schema | {"x-kubernetes-embedded-resource": True}
    compiled, value = Schema(schema, root=False), deep_copy(schema["default"])
    if compiled.prune(value):
        yield invalid(path.child("default"), schema["default"], "must not have unknown fields")
    try:
        compiled.default(value)
    except DefaultsTooLarge as error:
        yield forbidden(path.child("default"), f"with the defaults within it: {error}")
        return
    yield from compiled.validate_at(value, path.child("default"))
