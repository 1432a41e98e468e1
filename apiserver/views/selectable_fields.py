"""Selectable fields: the texts that field selectors compare, read from a stored document.

A document omits fields that are zero, such as `unschedulable: false`. Selectors compare the zero
value then, as if it were written.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model


class SelectableFields:
    """Reads the selectable fields of one kind: label -> dotted wire path."""

    def __init__(self, cls: type[Object], paths: Mapping[str, str]) -> None:
        self._cls = cls
        self._paths = {label: path.split(".") for label, path in paths.items()}

    def __bool__(self) -> bool:
        return bool(self._paths)

    def read(self, document: Any) -> dict[str, str]:
        """Return the text of each field, empty if it has none."""
        return {
            label: _text(_find(document, path)) or self._zeros[label]
            for label, path in self._paths.items()
        }

    @cached_property
    def _zeros(self) -> Mapping[str, str]:
        # Not computed when the server starts: most resources have no objects then.
        return {label: _zero(self._cls, path) for label, path in self._paths.items()}


def _find(document: Any, path: list[str]) -> Any:
    for step in path:
        document = document.get(step) if isinstance(document, dict) else None
    return document


def _text(value: Any) -> str:
    match value:
        case None | dict() | list():
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _zero(cls: type[Model], path: list[str]) -> str:
    """Return the text of a field that the document omits; an unset optional field has none."""
    if issubclass(cls, Unstructured):
        return ""
    field = next((field for field in fields_of(cls) if field.wire == path[0]), None)
    if field is None or field.required:
        return ""
    if len(path) == 1:
        return _text(field.default)
    if field.type.category != "model" or field.type.optional:
        return ""
    return _zero(field.type.python, path[1:])
