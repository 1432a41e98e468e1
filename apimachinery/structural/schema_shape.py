"""The shape of a structural schema: how server-side apply sees its lists and maps."""

from typing import Any, cast

from apimachinery.meta.types import ObjectMeta
from apimachinery.model.class_fields import shape_of
from apimachinery.model.type_shape import (
    ListShape,
    ListType,
    MapShape,
    Scalar,
    Shape,
    StructShape,
    Untyped,
)
from apimachinery.structural.node import Node


def root_shape(node: Node, name: str) -> StructShape:
    """The shape of a whole resource of that kind."""

    def fields() -> dict[str, Shape]:
        found = {part: node_shape(below) for part, below in node.properties.items()}
        return {**found, **_meta_shapes()}

    return StructShape(name, fields, preserves_unknown=node.preserves_unknown)


def node_shape(node: Node) -> Shape:
    """The shape of the values of one place."""
    if node.type == "array" and node.items is not None:
        return ListShape(
            items=node_shape(node.items),
            type=cast(ListType, node.list_type),
            keys=node.list_keys,
            key_defaults=_key_defaults(node.items, node.list_keys),
        )
    if node.type == "object":
        return _object_shape(node)
    if node.int_or_string or node.type:
        return Scalar()
    return Untyped()


def _object_shape(node: Node) -> Shape:
    atomic = node.map_type == "atomic"
    if node.properties or node.embedded:
        return StructShape(
            "object",
            lambda: _member_shapes(node),
            atomic=atomic,
            preserves_unknown=node.preserves_unknown or node.embedded,
        )
    if node.additional is not None:
        return MapShape(node_shape(node.additional), atomic=atomic)
    return MapShape(Untyped(), atomic=True) if atomic else Untyped()


def _member_shapes(node: Node) -> dict[str, Shape]:
    found = {name: node_shape(below) for name, below in node.properties.items()}
    return {**found, **_meta_shapes()} if node.embedded else found


def _meta_shapes() -> dict[str, Shape]:
    return {"apiVersion": Scalar(), "kind": Scalar(), "metadata": shape_of(ObjectMeta)}


def _key_defaults(items: Node, keys: tuple[str, ...]) -> dict[str, Any]:
    defaults = {key: items.properties[key].default for key in keys if key in items.properties}
    return {key: default for key, default in defaults.items() if default is not None}
