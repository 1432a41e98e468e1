"""Values of definitions in error messages: Kubernetes shows the structs of its internal types.

These have Go's names, and a field for each form of a value that JSON writes without a wrapper.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from apimachinery.fieldpath import GoStruct
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model
from apis.apiextensions.v1 import CustomResourceDefinitionVersion, JSONSchemaProps
from apis.apiextensions.v1.schema import JSONSchemaPropsArray

_GO_NAMES: Final = {
    "id": "ID",
    "json_path": "JSONPath",
    "open_apiv3_schema": "OpenAPIV3Schema",
    "url": "URL",
}
_FIRST: Final = ("id", "schema_", "ref", "description", "type", "nullable")
"""The fields before `nullable`, which other forms of a schema have later."""
_PLAIN: Final = frozenset(("default", "enum", "example"))
"""Fields that hold JSON, whose values are shown as they are."""
_ONCE: Final = ("schema_", "subresources", "additional_printer_columns", "selectable_fields")
"""Fields of versions that the internal type has only once if they are equal in all versions."""


def shown(value: Any) -> Any:
    """Return a value of a definition as Kubernetes shows it; an empty list or map is null."""
    if isinstance(value, JSONSchemaPropsArray):
        return GoStruct(Schema=None, JSONSchemas=shown(value.schemas))
    if isinstance(value, Model):
        names = {f.name: _go_name(f.name, f.wire) for f in fields_of(type(value))}
        ordered = sorted(names, key=_position) if isinstance(value, JSONSchemaProps) else names
        return GoStruct({names[name]: _field(value, name) for name in ordered})
    if isinstance(value, Mapping):
        return {key: shown(part) for key, part in value.items()} or None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shown(part) for part in value] or None
    return value


def shown_versions(versions: Sequence[CustomResourceDefinitionVersion]) -> list[Any]:
    """Return versions as Kubernetes shows them: without the fields that all of them share."""
    equal = {
        name
        for name in _ONCE
        if all(getattr(version, name) == getattr(versions[0], name) for version in versions)
    }
    names = {_go_name(name, name) for name in equal}
    return [
        GoStruct({name: None if name in names else part for name, part in shown(version).items()})
        for version in versions
    ]


def _field(model: Model, name: str) -> Any:
    value = getattr(model, name)
    if name in _PLAIN:
        return None if value == [] else value
    if not isinstance(model, JSONSchemaProps) or value is None:
        return shown(value)
    if name == "items":
        is_array = isinstance(value, JSONSchemaPropsArray)
        return shown(value) if is_array else GoStruct(Schema=shown(value), JSONSchemas=None)
    if name in ("additional_properties", "additional_items"):
        schema = value if isinstance(value, JSONSchemaProps) else None
        return GoStruct(Allows=value is not False, Schema=shown(schema))
    return shown(value)


def _position(name: str) -> bool:
    """Return a key by which the first fields of a schema are sorted as in Kubernetes' type."""
    return name not in _FIRST


def _go_name(name: str, wire: str) -> str:
    prefix = "X" if wire.startswith("x-kubernetes-") else ""
    words = name.rstrip("_").split("_")
    return prefix + _GO_NAMES.get(name, "".join(word.capitalize() for word in words))
