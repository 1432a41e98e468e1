"""What is written around the type of a property: description, default and merge markers."""

import inspect
import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from apimachinery.meta.types import ListMeta, ObjectMeta, TypeMeta
from apimachinery.model.class_fields import ModelField, TypeInfo
from apimachinery.model.model import NO_MARKERS, Markers
from apimachinery.model.wire_rules import never
from apimachinery.openapi.dialect import Dialect, Schema
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.scalar_schemas import closed_set

_STANDARD: Final = {
    "api_version": "The group and version that this document is written in, such as apps/v1."
    " Servers convert between the versions they know and refuse the others.",
    "kind": "The kind of object that this document describes, in CamelCase. It cannot be changed;"
    " where the URL of a request tells it, it may be left out.",
}
_METADATA: Final[tuple[tuple[type[BaseModel], str], ...]] = (
    (ObjectMeta, "Name, labels, owners and what else every object has."),
    (ListMeta, "What every list has beside its items."),
)
_OWN_LINE: Final = re.compile(r"\s|[-*] ")


def around(cls: type[BaseModel], field: ModelField, dialect: Dialect) -> Schema:
    """The keys beside the type of a field of *cls*."""
    found: Schema = {}
    description = _description(cls, field)
    if description:
        found["description"] = description
    if dialect.has_defaults:
        default = _default(cls, field)
        if default is not None:
            found["default"] = default
    if field.markers.deprecated and dialect.has_deprecation:
        found["deprecated"] = True
    found.update(_markers(field.markers))
    return found


def is_required(field: ModelField) -> bool:
    """Whether a field is always there: it has no default, or its author has it written if empty.

    The latter is what Kubernetes calls required: a Go field without `omitempty`.
    """
    return field.required or (field.info.exclude_if is never and not field.default)


def reflowed(text: str) -> str:
    """A docstring with each paragraph on one line; lists and indented lines keep theirs."""
    if "\n" not in text:
        return text.strip()
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(_one_line(paragraph.split("\n")) for paragraph in paragraphs).strip()


def _one_line(lines: Iterable[str]) -> str:
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
            text = next((known for meta, known in _METADATA if field.type.python is meta), "")
    deprecated = field.markers.deprecated
    parts = reflowed(text), f"Deprecated: {deprecated}" if deprecated else ""
    return "\n\n".join(part for part in (*parts, _possible_values(field)) if part)


def _possible_values(field: ModelField) -> str:
    values = sorted(field.markers.enum) or closed_set(_innermost(field.type).python) or ()
    if not values:
        return ""
    lines = (f' - `"{value}"`' if isinstance(value, str) else f" - `{value}`" for value in values)
    return "\n".join(("Possible enum values:", *lines))


def _innermost(info: TypeInfo) -> TypeInfo:
    return info if info.item is None else _innermost(info.item)


def _default(cls: type[BaseModel], field: ModelField) -> Any:
    """The value of an absent field as JSON, or None if it is empty, which says nothing."""
    factory = field.info.default_factory
    # Calling a factory is slow, and what these make is known.
    if field.required or factory in (list, dict):
        return None
    if field.type.category == "model" and factory is field.type.python:
        return {}
    value = field.default
    if isinstance(value, BaseModel):
        return {} if _is_fresh(value) else _as_json(cls, field, value)
    return _as_json(cls, field, value) if value else None


def _is_fresh(value: BaseModel) -> bool:
    try:
        return value == type(value)()
    except ValidationError:
        return False


def _as_json(cls: type[BaseModel], field: ModelField, value: Any) -> Any:
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
    found = {
        "x-kubernetes-list-map-keys": list(markers.list_map_keys),
        "x-kubernetes-list-type": markers.list_type,
        "x-kubernetes-map-type": markers.map_type,
        "x-kubernetes-patch-merge-key": markers.patch_merge_key,
        "x-kubernetes-patch-strategy": ",".join(markers.patch_strategy),
    }
    return {key: value for key, value in found.items() if value}
