"""Deprecated fields: find the ones that a document sets, and the warnings about them.

A field is declared deprecated with `field(deprecated=…)`. It works as before; a client that sets it
gets a warning. Documents of kinds without deprecated fields, which are most, are not searched.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from apimachinery.fieldpath import Path
from apimachinery.model.class_fields import TypeInfo, fields_of, reachable_models

DeprecatedUses = dict[str, tuple[Any, str]]
"""Path -> the value that the document sets there, and the warning about it."""


def warning(path: str, text: str) -> str:
    """Return `spec.old: deprecated since v1; use spec.new` for "since v1; use spec.new"."""
    separator = " " if text.startswith(("since ", "in ")) else "; "
    return f"{path}: deprecated{separator}{text}"


def has_deprecated(cls: type[BaseModel]) -> bool:
    """Return whether the class, or one nested in it, has a deprecated field."""
    cached: bool | None = cls.__dict__.get("__has_deprecated_cache__")
    if cached is None:
        cached = any(
            field.markers.deprecated
            for model in reachable_models(cls)
            for field in fields_of(model)
        )
        type.__setattr__(cls, "__has_deprecated_cache__", cached)
    return cached


def deprecated_uses(document: Any, cls: type[BaseModel]) -> DeprecatedUses:
    """Return the deprecated fields that a document of *cls* sets to a value that is not empty."""
    if not has_deprecated(cls):
        return {}
    uses = _uses(document, TypeInfo("model", cls), Path())
    return {str(path): (value, warning(str(path), text)) for path, value, text in uses}


def _uses(value: Any, info: TypeInfo, path: Path) -> Iterator[tuple[Path, Any, str]]:
    if info.category == "model" and isinstance(value, dict):
        if has_deprecated(info.python):
            yield from _uses_in_fields(value, info.python, path)
    elif info.item is not None and info.item.model is not None:
        if isinstance(value, list):
            for position, item in enumerate(value):
                yield from _uses(item, info.item, path.index(position))
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from _uses(item, info.item, path.key(key))


def _uses_in_fields(
    document: dict[str, Any], cls: type[BaseModel], path: Path
) -> Iterator[tuple[Path, Any, str]]:
    for field in fields_of(cls):
        value = document.get(field.wire)
        if not value:
            continue
        field_path = path.member(field.wire)
        if field.markers.deprecated:
            yield field_path, value, field.markers.deprecated
        yield from _uses(value, field.type, field_path)
