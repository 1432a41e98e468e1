"""Deprecated fields: which of them a document sets, and what is said about it.

A field that should not be used any more says so where it is declared (`field(deprecated=…)`). It
works as before; who sets it is warned. Kinds without such fields, which are most, cost nothing.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of, reachable

Uses = dict[str, tuple[Any, str]]
"""Path -> the value that is set there, and the warning about it."""


def warning(path: str, text: str) -> str:
    """`spec.old: deprecated since v1; use spec.new`, for the text "since v1; use spec.new"."""
    joint = " " if text.startswith(("since ", "in ")) else "; "
    return f"{path}: deprecated{joint}{text}"


def has_deprecated(cls: type[BaseModel]) -> bool:
    """Whether the class, or one that it holds, has a deprecated field."""
    known: bool | None = cls.__dict__.get("__has_deprecated_cache__")
    if known is None:
        known = any(field.markers.deprecated for one in reachable(cls) for field in fields_of(one))
        type.__setattr__(cls, "__has_deprecated_cache__", known)
    return known


def uses_of(document: Any, cls: type[BaseModel]) -> Uses:
    """The deprecated fields that a document of *cls* sets; what is empty is not set."""
    if not has_deprecated(cls):
        return {}
    found = _uses(document, TypeInfo("model", cls), "")
    return {path: (value, warning(path, text)) for path, value, text in found}


def _uses(value: Any, kind: TypeInfo, path: str) -> Iterator[tuple[str, Any, str]]:
    if kind.category == "model" and isinstance(value, dict):
        if has_deprecated(kind.python):
            yield from _uses_in_fields(value, kind.python, path)
    elif kind.item is not None and kind.item.model is not None:
        if isinstance(value, list):
            for position, item in enumerate(value):
                yield from _uses(item, kind.item, f"{path}[{position}]")
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from _uses(item, kind.item, f"{path}[{key}]")


def _uses_in_fields(
    document: dict[str, Any], cls: type[BaseModel], path: str
) -> Iterator[tuple[str, Any, str]]:
    for field in fields_of(cls):
        value = document.get(field.wire)
        if not value:
            continue
        here = f"{path}.{field.wire}" if path else field.wire
        if field.markers.deprecated:
            yield here, value, field.markers.deprecated
        yield from _uses(value, field.type, here)
