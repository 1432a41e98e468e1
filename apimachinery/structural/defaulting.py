"""Defaulting: filling in what a value leaves out.

A null where the schema allows none counts as left out: it becomes the default, or goes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apimachinery.model.model import deep_copy
from apimachinery.structural.node import Node

Fill = Callable[[Any], None]
"""Fill in a value in place."""


def compile_fill(node: Node) -> Fill | None:
    """What fills in values of *node*; None if nothing can be missing below it."""
    if node.properties:
        return _members(node)
    if node.additional is not None:
        return _entries(_element(node.additional))
    if node.items is not None:
        return _items(_element(node.items))
    return None


def _members(node: Node) -> Fill:
    parts = node.properties.items()
    absent = {name: part.default for name, part in parts if part.default is not None}
    # Null means absent wherever it is not a value of its own.
    refusing_null = {name for name, part in parts if not part.nullable}
    below = {name: deeper for name, part in parts if (deeper := compile_fill(part)) is not None}

    def fill(value: Any) -> None:
        if not isinstance(value, dict):
            return
        for name in [name for name, member in value.items() if member is None]:
            if name in refusing_null:
                del value[name]
        for name, default in absent.items():
            if name not in value:
                value[name] = deep_copy(default)
        for name, deeper in below.items():
            if name in value:
                deeper(value[name])

    return fill


@dataclass(frozen=True, slots=True)
class _Element:
    """What a map or a list holds."""

    default: Any
    nullable: bool
    fill: Fill | None


def _element(node: Node) -> _Element:
    return _Element(node.default, node.nullable, compile_fill(node))


def _entries(element: _Element) -> Fill:
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
