"""Annotations of a property's schema: description, default, deprecation and merge markers.

The description is the text that `kubectl explain` prints for a field.
"""

import inspect
import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from apimachinery.fieldpath import IMMUTABLE
from apimachinery.meta.types import ListMeta, ObjectMeta, TypeMeta
from apimachinery.model.class_fields import ModelField, TypeInfo
from apimachinery.model.markers import NO_MARKERS, Markers
from apimachinery.model.wire_rules import never
from apimachinery.openapi.dialect import Dialect, Schema
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.scalar_schemas import enum_values, named_scalar
from apimachinery.scalars.quantity import Quantity

_STANDARD: Final = {
    # Clients look for the first words of these three, which are those of Kubernetes.
    "api_version": "APIVersion defines the group and version of this document, such as apps/v1."
    " Servers convert between the versions they serve and reject all others.",
    "kind": "Kind is a string value that names what this document describes, in CamelCase. It"
    " cannot be changed, and may be left out where the URL of the request implies it.",
}
_METADATA: Final[tuple[tuple[type[BaseModel], str], ...]] = (
    (ObjectMeta, "Standard object's metadata: name, labels, annotations, owners and so on."),
    (ListMeta, "Standard list metadata."),
)
_PLAIN: Final = (str, int, float, bool)
_ZERO: Final = Quantity("0")
_UNCHANGED: Final = "self == oldSelf"
_OWN_LINE: Final = re.compile(r"\s|[-*] ")


def property_annotations(cls: type[BaseModel], field: ModelField, dialect: Dialect) -> Schema:
    """Return the schema keys of a field of *cls* other than its type."""
    annotations: Schema = {}
    description = _description(cls, field)
    if description:
        annotations["description"] = description
    if dialect.has_defaults:
        default = _default(cls, field)
        if default is not None:
            annotations["default"] = default
    if field.markers.deprecated and dialect.has_deprecation:
        annotations["deprecated"] = True
    annotations.update(_markers(field.markers))
    if field.markers.immutable and dialect.has_validations:
        annotations["x-kubernetes-validations"] = [{"message": IMMUTABLE, "rule": _UNCHANGED}]
    return annotations


def is_required(field: ModelField) -> bool:
    """Return whether a field is always present: without default, or written even if empty.

    Kubernetes publishes the latter (a Go field without `omitempty`) as required, unless the field
    says otherwise.
    """
    if field.markers.required is not None:
        return field.markers.required
    return field.required or (field.info.exclude_if is never and not field.default)


def published_values(markers: Markers) -> list[str]:
    """Return the values that the schema of a field lists as its `enum`; empty if it has none."""
    is_published = bool(markers.enum) if markers.publish_enum is None else markers.publish_enum
    return sorted(markers.enum or markers.known) if is_published else []


def reflow(text: str) -> str:
    """Put each paragraph of a docstring on one line; list items and indented lines stay apart."""
    if "\n" not in text:
        return text.strip()
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(_join_lines(paragraph.split("\n")) for paragraph in paragraphs).strip()


def _join_lines(lines: Iterable[str]) -> str:
    joined = ""
    for line in lines:
        joined += f"\n{line}" if _OWN_LINE.match(line) else f" {line}"
    return joined[1:]


def _description(cls: type[BaseModel], field: ModelField) -> str:
    text = field.doc
    if issubclass(cls, TypeMeta):
        inherited = TypeMeta.__pydantic_fields__.get(field.name)
        if inherited is not None and inherited.description == text:
            text = _STANDARD[field.name]
        elif field.name == "metadata" and not text:
            text = next((doc for meta, doc in _METADATA if field.type.python is meta), "")
    deprecated = field.markers.deprecated
    parts = reflow(text), f"Deprecated: {deprecated}" if deprecated else ""
    return "\n\n".join(part for part in (*parts, _possible_values(field)) if part)


def _possible_values(field: ModelField) -> str:
    declared = field.markers.enum or field.markers.known
    values = sorted(declared) or enum_values(_innermost(field.type).python) or ()
    if not values:
        return ""
    lines = (f' - `"{value}"`' if isinstance(value, str) else f" - `{value}`" for value in values)
    return "\n".join(("Possible enum values:", *lines))


def _innermost(info: TypeInfo) -> TypeInfo:
    return info if info.item is None else _innermost(info.item)


def _default(cls: type[BaseModel], field: ModelField) -> Any:
    """Return the default of a field as JSON, or None if it is not published.

    An empty default is published if the field is always written, as Kubernetes does for a Go field
    without `omitempty`; elsewhere it means unset.
    """
    if field.markers.published_default is not None:
        return field.markers.published_default
    factory = field.info.default_factory
    # Calling a factory is slow; these always return an empty container.
    if field.required or factory in (list, dict):
        return None
    if field.type.category == "model" and factory is field.type.python:
        return {}
    value = field.default
    if isinstance(value, BaseModel):
        return {} if _equals_default(value) else _to_json(cls, field, value)
    if value and value != _ZERO:
        return _to_json(cls, field, value)
    return value if _is_written_empty(field) else None


def _is_written_empty(field: ModelField) -> bool:
    """Return whether a plain scalar is written even if it is empty."""
    is_plain = type(field.default) in _PLAIN and named_scalar(field.type) is None
    return is_plain and field.info.exclude_if is never


def _equals_default(value: BaseModel) -> bool:
    try:
        return value == type(value)()
    except ValidationError:
        return False


def _to_json(cls: type[BaseModel], field: ModelField, value: Any) -> Any:
    holder = cls.model_construct(**{field.name: value})
    try:
        dumped = holder.model_dump(mode="json", by_alias=True, include={field.name}, warnings=False)
    except PydanticSerializationError as error:
        place = f"{cls.__qualname__}.{field.name}"
        raise UnpublishableType(place, f"its default is not JSON: {error}") from None
    return dumped.get(field.wire)


def _markers(markers: Markers) -> Schema:
    if markers is NO_MARKERS:
        return {}
    extensions = {
        "x-kubernetes-list-map-keys": list(markers.list_map_keys),
        "x-kubernetes-list-type": markers.list_type,
        "x-kubernetes-map-type": markers.map_type,
        "x-kubernetes-patch-merge-key": markers.patch_merge_key,
        "x-kubernetes-patch-strategy": ",".join(markers.patch_strategy),
    }
    return {key: value for key, value in extensions.items() if value}
