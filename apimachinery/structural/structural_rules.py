"""Validate that a schema is structural: every node has a type, and nothing contradicts it.

The `openAPIV3Schema` of a definition must pass these rules before it is compiled. Messages and
paths are those of Kubernetes, because people search for them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required
from apimachinery.structural.patterns import InvalidPattern, compile_pattern
from apimachinery.structural.schema_node import JSONSchema

Level = Literal["root", "item", "field"]

_NOT_EMPTY: Final[Mapping[Level, str]] = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_IS_INT_OR_STRING: Final = "x-kubernetes-int-or-string"


def validate_structural(schema: JSONSchema, path: Path) -> FieldErrors:
    """Yield every violation of the rules of structural schemas, sorted by message."""
    errors = [
        *_check_invariants(schema, "root", path),
        *_check_completeness(schema, schema, path, path),
    ]
    yield from sorted(errors, key=str)


def _check_invariants(schema: JSONSchema, level: Level, path: Path) -> FieldErrors:
    yield from _check_children(schema, level, path)
    yield from _check_extensions(schema, path)
    yield from _check_value_validations(schema, path, exempt=_int_or_string_keyword(schema))
    yield from _check_type(schema, level, path)
    yield from _check_resource(schema, level, path)


def _check_children(schema: JSONSchema, level: Level, path: Path) -> FieldErrors:
    items, additional = schema.get("items"), schema.get("additionalProperties")
    if schema.get("type") == "array" and items is None:
        yield required(path.child("items"), "must be specified")
    if isinstance(items, Mapping):
        yield from _check_invariants(items, "item", path.child("items"))
    for name, part in (schema.get("properties") or {}).items():
        yield from _check_invariants(part, "field", path.child("properties").key(name))
    if additional is not None and level == "root":
        yield forbidden(path.child("additionalProperties"), "must not be used at the root")
    if isinstance(additional, Mapping):
        yield from _check_invariants(additional, "field", path.child("additionalProperties"))


def _check_extensions(schema: JSONSchema, path: Path) -> FieldErrors:
    if not schema.get(_IS_INT_OR_STRING):
        return
    for name in (_PRESERVE, _EMBEDDED):
        if schema.get(name):
            rule = "must be false if x-kubernetes-int-or-string is true"
            yield invalid(path.child(name), True, rule)


def _check_type(schema: JSONSchema, level: Level, path: Path) -> FieldErrors:
    kind, here = schema.get("type", ""), path.child("type")
    if schema.get(_EMBEDDED) and kind != "object":
        rule = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(here, kind, rule) if kind else required(here, rule)
    elif not kind and not schema.get(_IS_INT_OR_STRING) and not schema.get(_PRESERVE):
        yield required(here, _NOT_EMPTY[level])
    if level == "root" and kind not in ("", "object"):
        yield invalid(here, kind, "must be object at the root")


def _check_resource(schema: JSONSchema, level: Level, path: Path) -> FieldErrors:
    """Check that apiVersion, kind and metadata of a resource are restricted but not redefined."""
    properties = schema.get("properties") or {}
    embedded = schema.get(_EMBEDDED)
    if embedded and schema.get("additionalProperties") is not None:
        rule = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(path.child("additionalProperties"), rule)
    if embedded or level == "root":
        for name in ("kind", "apiVersion"):
            kind = properties.get(name, {"type": "string"}).get("type", "")
            if kind != "string":
                here = path.child("properties").key(name).child("type")
                yield invalid(here, kind, "must be string")
        yield from _check_metadata(properties.get("metadata"), level, path)
    if embedded and not schema.get(_PRESERVE) and not properties:
        yield required(
            path.child("properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without"
            " x-kubernetes-preserve-unknown-fields",
        )


def _check_metadata(schema: JSONSchema | None, level: Level, path: Path) -> FieldErrors:
    if schema is None:
        return
    here = path.child("properties").key("metadata")
    if schema.get("type", "") != "object":
        yield invalid(here.child("type"), schema.get("type", ""), "must be object")
    if level != "root":
        return
    other_keywords = {key for key, value in schema.items() if value} - {
        "type",
        "default",
        "properties",
    }
    if other_keywords or not set(schema.get("properties") or ()) <= {"name", "generateName"}:
        yield forbidden(
            here,
            "must not specify anything other than name and generateName, but metadata is"
            " implicitly specified",
        )


def _int_or_string_keyword(schema: JSONSchema) -> str:
    """Return the keyword of the int-or-string idiom, whose alternatives may declare types."""
    if _as_dicts(schema.get("anyOf")) == _INT_OR_STRING:
        return "anyOf"
    first: JSONSchema = next(iter(schema.get("allOf") or ()), {})
    return "allOf" if _as_dicts(first.get("anyOf")) == _INT_OR_STRING else ""


def _as_dicts(parts: Any) -> list[Any]:
    return [dict(part) for part in parts or ()]


def _check_value_validations(schema: JSONSchema, path: Path, *, exempt: str = "") -> FieldErrors:
    for keyword in ("anyOf", "allOf", "oneOf"):
        for position, part in enumerate(schema.get(keyword) or ()):
            if keyword == "anyOf" and exempt == "anyOf":
                continue
            inner = "anyOf" if keyword == "allOf" == exempt and position == 0 else ""
            yield from _check_nested(part, path.child(keyword).index(position), exempt=inner)
    if schema.get("not") is not None:
        yield from _check_nested(schema["not"], path.child("not"))
    if pattern := schema.get("pattern"):
        try:
            compile_pattern(pattern)
        except InvalidPattern as error:
            rule = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(path.child("pattern"), pattern, rule)


def _check_nested(schema: JSONSchema, path: Path, *, exempt: str = "") -> FieldErrors:
    """Check a schema inside `anyOf` and the like, which may hold value validations only."""
    yield from _check_value_validations(schema, path, exempt=exempt)
    if isinstance(schema.get("items"), Mapping):
        yield from _check_nested(schema["items"], path.child("items"))
    properties = schema.get("properties") or {}
    for name, part in properties.items():
        yield from _check_nested(part, path.child("properties").key(name))
    for keyword, required_state in _NOT_NESTED.items():
        value = schema.get(keyword)
        if value is not None and (value or (required_state == "undefined" and value is not False)):
            yield forbidden(path.child(keyword), f"must be {required_state} to be structural")
    if "metadata" in properties:
        here = path.child("properties").key("metadata")
        yield forbidden(here, "must not be specified in a nested context")


_NOT_NESTED: Final[Mapping[str, str]] = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    _PRESERVE: "false",
    _EMBEDDED: "false",
    _IS_INT_OR_STRING: "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}


def _check_completeness(
    values: JSONSchema, schema: JSONSchema | None, place: Path, path: Path
) -> FieldErrors:
    """Check that the skeleton declares every field that alternatives refer to."""
    for part, here in _alternatives(values, path):
        yield from _check_nested_completeness(part, schema, place, here)


def _check_nested_completeness(
    values: JSONSchema, schema: JSONSchema | None, place: Path, path: Path
) -> FieldErrors:
    if schema is None:
        yield required(place, f"because it is defined in {path}")
        return
    yield from _check_completeness(values, schema, place, path)
    if isinstance(values.get("items"), Mapping):
        items = schema.get("items")
        yield from _check_nested_completeness(
            values["items"], items, place.child("items"), path.child("items")
        )
    declared = schema.get("properties") or {}
    for name, part in (values.get("properties") or {}).items():
        yield from _check_nested_completeness(
            part,
            declared.get(name),
            place.child("properties").key(name),
            path.child("properties").key(name),
        )


def _alternatives(schema: JSONSchema, path: Path) -> Iterator[tuple[JSONSchema, Path]]:
    if schema.get("not") is not None:
        yield schema["not"], path.child("not")
    for keyword in ("allOf", "anyOf", "oneOf"):
        for position, part in enumerate(schema.get(keyword) or ()):
            yield part, path.child(keyword).index(position)
