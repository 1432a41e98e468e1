"""Pruning: drop the fields of a value that its schema does not declare.

Each node of a schema is compiled to one function, so a value is walked once, and subtrees in which
everything is kept are not walked at all.
"""

from collections.abc import Callable
from typing import Any

from apimachinery.meta.types import ObjectMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.structural.schema_node import META_FIELDS, SchemaNode

Prune = Callable[[Any, str, list[str]], None]
"""Drops the unknown fields of a value at a path, and appends their paths to the list."""


def compile_pruning(node: SchemaNode, *, root: bool = False) -> Prune | None:
    """Compile the pruning of values of *node*; None if every value is kept as it is.

    *root* marks the node of a whole resource, whose metadata is not pruned by its schema.
    """
    members = _Members(node)
    kept_fields = META_FIELDS if root else _TYPE_META_FIELDS if node.embedded else frozenset[str]()
    if node.embedded and not root:
        members["metadata"] = _prune_metadata
        return _compile_embedded(node, members, kept_fields)
    if node.preserves_unknown:
        return _compile_declared(node, members, kept_fields)
    if node.type in _SCALARS or node.int_or_string:
        # Keep an object in place of a scalar: validation rejects it with all its content.
        return None
    return _compile_unknown(node, members, kept_fields)


def prune_embedded_metadata(node: SchemaNode, value: Any) -> None:
    """Drop the unknown fields of the metadata of embedded resources, and nothing else."""
    if isinstance(value, dict):
        if node.embedded:
            _complete_metadata(value)
            _prune_metadata(value.get("metadata"), "", [])
        for name, member in value.items():
            below = node.properties.get(name) or node.additional
            if below is not None:
                prune_embedded_metadata(below, member)
    elif isinstance(value, list) and node.items is not None:
        for item in value:
            prune_embedded_metadata(node.items, item)


def _complete_metadata(value: dict[str, Any]) -> None:
    if "metadata" in value and value["metadata"] is None:
        value["metadata"] = {}


class _Members(dict[str, Prune | None]):
    """The pruning of properties, each compiled on first use: a schema may have thousands."""

    def __init__(self, node: SchemaNode) -> None:
        super().__init__()
        self._properties = node.properties

    def __missing__(self, name: str) -> Prune | None:
        compiled = self[name] = compile_pruning(self._properties[name])
        return compiled


def _declared_names(node: SchemaNode, members: _Members) -> frozenset[str]:
    return frozenset((*node.properties, *members))


_TYPE_META_FIELDS = META_FIELDS - {"metadata"}
_SCALARS = frozenset(("string", "integer", "number", "boolean"))


def _compile_embedded(node: SchemaNode, members: _Members, kept_fields: frozenset[str]) -> Prune:
    """Compile pruning of an embedded resource, whose metadata is an object even if it is null."""
    compile_rest = _compile_declared if node.preserves_unknown else _compile_unknown
    rest = compile_rest(node, members, kept_fields)
    assert rest is not None, "metadata is pruned at least"

    def prune(value: Any, path: str, dropped: list[str]) -> None:
        if isinstance(value, dict):
            _complete_metadata(value)
        rest(value, path, dropped)

    return prune


def _compile_unknown(node: SchemaNode, members: _Members, kept_fields: frozenset[str]) -> Prune:
    is_map = node.is_map
    additional = compile_pruning(node.additional) if node.additional else _drop_all
    items = _compile_items(node)
    declared = _declared_names(node, members)

    def prune(value: Any, path: str, dropped: list[str]) -> None:
        if isinstance(value, dict):
            for name in list(value):
                if name in kept_fields:
                    continue
                if name in declared:
                    below = members[name]
                elif is_map:
                    below = additional
                else:
                    dropped.append(_join(path, name))
                    del value[name]
                    continue
                if below is not None:
                    below(value[name], _join(path, name), dropped)
        elif isinstance(value, list) and items is not None:
            for position, item in enumerate(value):
                items(item, f"{path}[{position}]", dropped)

    return prune


def _compile_declared(
    node: SchemaNode, members: _Members, kept_fields: frozenset[str]
) -> Prune | None:
    """Compile pruning that keeps unknown members and prunes only inside the declared ones."""
    additional = compile_pruning(node.additional) if node.additional else None
    items = _compile_items(node)
    declared = _declared_names(node, members)
    if not declared and additional is None and items is None:
        return None

    def prune(value: Any, path: str, dropped: list[str]) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                if name in kept_fields:
                    continue
                below = members[name] if name in declared else additional
                if below is not None:
                    below(member, _join(path, name), dropped)
        elif isinstance(value, list) and items is not None:
            for position, item in enumerate(value):
                items(item, f"{path}[{position}]", dropped)

    return prune


def _compile_items(node: SchemaNode) -> Prune | None:
    if node.items is not None:
        return compile_pruning(node.items)
    return None if node.preserves_unknown else _drop_all


def _prune_metadata(value: Any, path: str, dropped: list[str]) -> None:
    """Prune by the fields of ObjectMeta, which all resources share."""
    if isinstance(value, dict):
        declared = {field.wire for field in fields_of(ObjectMeta)}
        for name in value.keys() - declared:
            dropped.append(_join(path, name))
            del value[name]


def _drop_all(value: Any, path: str, dropped: list[str]) -> None:
    """Drop all members: the node declares neither properties nor items."""
    if isinstance(value, dict):
        dropped += [_join(path, name) for name in value]
        value.clear()
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _drop_all(item, f"{path}[{position}]", dropped)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
