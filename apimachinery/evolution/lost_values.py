"""Lost values: the values of a document for which a class has no field."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from apimachinery.evolution.document_paths import Document
from apimachinery.evolution.field_tree import TreeField
from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.decoding import union_model


def lost_fields(
    document: Document,
    cls: type[BaseModel],
    fields: Mapping[str, TreeField] | None = None,
    *,
    ignore_defaults: bool = False,
) -> tuple[str, ...]:
    """Return the paths of the values that *cls* does not declare, without indexes and map keys.

    A null, and an object in which nothing is set, is no value; *fields*, those of the document,
    tell objects from maps. With *ignore_defaults* their defaults are no values either. `$shape` is
    not a field.
    """
    declared = fields or {}
    lost: dict[str, None] = {}
    for path, value in _lost(document, TypeInfo("model", cls), ""):
        is_default = ignore_defaults and path in declared and declared[path].default == value
        if not is_default and _is_set(value, path, declared):
            lost[path] = None
    return tuple(lost)


def _lost(value: Any, info: TypeInfo, path: str) -> Iterator[tuple[str, Any]]:
    if info.category == "model" and isinstance(value, dict):
        yield from _lost_of_object(value, info.python, path)
    elif info.item is not None and info.item.model is not None:
        elements = value.values() if isinstance(value, dict) else value
        for element in elements if isinstance(value, dict | list) else ():
            yield from _lost(element, info.item, path)
    elif isinstance(value, dict) and (model := union_model(info)) is not None:
        yield from _lost(value, model, path)


def _lost_of_object(value: Document, cls: type[BaseModel], path: str) -> Iterator[tuple[str, Any]]:
    fields = {field.wire: field for field in fields_of(cls)}
    keeps_unknown = cls.model_config.get("extra") == "allow"
    for name, item in value.items():
        field_path = f"{path}.{name}" if path else name
        if name in fields:
            yield from _lost(item, fields[name].type, field_path)
        elif not keeps_unknown and not name.startswith("$"):
            yield field_path, item


def _is_set(value: Any, path: str, fields: Mapping[str, TreeField]) -> bool:
    field = fields.get(path)
    if isinstance(value, dict) and field is not None and "ref" in field.type:
        return any(_is_set(item, f"{path}.{name}", fields) for name, item in value.items())
    return value is not None and value != {} and value != []
