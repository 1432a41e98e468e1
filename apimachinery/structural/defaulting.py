"""Defaulting: fill in the default values of absent fields.

A null that the schema does not allow counts as absent: it is replaced by the default, or dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apimachinery.model.model import deep_copy
from apimachinery.structural.schema_node import Node

Fill = Callable[[Any], None]
"""Fills in the defaults of a value in place."""


def compile_defaulting(node: Node) -> Fill | None:
    """Compile the defaulting of values of *node*; None if there is nothing to fill in."""
    if node.properties:
        return _members(node)
    if node.additional is not None:
        return _map_values(_element(node.additional))
    if node.items is not None:
        return _items(_element(node.items))
    return None


def _members(node: Node) -> Fill:
    parts = node.properties.items()
    defaults = {name: part.default for name, part in parts if part.default is not None}
    # Null means absent unless the property is nullable.
    not_nullable = {name for name, part in parts if not part.nullable}
    below = {
        name: nested for name, part in parts if (nested := compile_defaulting(part)) is not None
    }

    def fill(value: Any) -> None:
        if not isinstance(value, dict):
            return
        for name in [name for name, member in value.items() if member is None]:
            if name in not_nullable:
                del value[name]
        for name, default in defaults.items():
            if name not in value:
                value[name] = deep_copy(default)
        for name, fill_nested in below.items():
            if name in value:
                fill_nested(value[name])

    return fill


@dataclass(frozen=True, slots=True)
class _Element:
    """The defaulting of a map value or list item."""

    default: Any
    nullable: bool
    fill: Fill | None


def _element(node: Node) -> _Element:
    return _Element(node.default, node.nullable, compile_defaulting(node))


def _map_values(element: _Element) -> Fill:
    def fill(value: Any) -> None:
        if not isinstance(value, dict):
            return
        for name, member in list(value.items()):
            if member is not None or element.nullable:
                continue
            if element.default is None:
                del value[name]
            else:
                value[name] = deep_copy(element.default)
        if element.fill is not None:
            for member in value.values():
                element.fill(member)

    return fill


def _items(element: _Element) -> Fill | None:
    if element.fill is None and element.default is None:
        return None

    def fill(value: Any) -> None:
        if not isinstance(value, list):
            return
        for position, item in enumerate(value):
            if item is None and not element.nullable and element.default is not None:
                value[position] = deep_copy(element.default)
            if element.fill is not None:
                element.fill(value[position])

    return fill
