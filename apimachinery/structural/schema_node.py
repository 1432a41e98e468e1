"""Schema nodes: the skeleton of a structural schema, and its shape for server-side apply.

A structural schema has two parts. The skeleton (types, properties, items) defines which fields
exist, and so which fields pruning drops; every value has exactly one node in it. The value
validations (bounds, patterns, `anyOf` and so on) may refer only to fields of the skeleton, and are
read from `SchemaNode.source`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

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

JSONSchema = Mapping[str, Any]
"""An `openAPIV3Schema`, or a part of one, as JSON."""

META_FIELDS: Final = frozenset(("apiVersion", "kind", "metadata"))
"""The fields that every resource has, independent of its schema."""


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """One node of a schema."""

    type: str = ""
    properties: Mapping[str, "SchemaNode"] = field(default_factory=dict)
    additional: "SchemaNode | None" = None
    """The node of map values; None if they are not allowed, or have no schema."""
    is_map: bool = False
    """Whether members other than the properties are allowed, even if they have no schema."""
    items: "SchemaNode | None" = None
    default: Any = None
    nullable: bool = False
    preserves_unknown: bool = False
    embedded: bool = False
    """Whether the value is a whole resource, with apiVersion, kind and metadata."""
    int_or_string: bool = False
    list_type: str = "atomic"
    list_keys: tuple[str, ...] = ()
    map_type: str = "granular"
    source: JSONSchema = field(default_factory=dict)
    """The schema of this node, for its value validations."""


def parse_node(schema: JSONSchema) -> SchemaNode:
    """Parse the skeleton of a schema, which must be structural."""
    additional = schema.get("additionalProperties")
    items = schema.get("items")
    return SchemaNode(
        type=schema.get("type", ""),
        properties=_Properties(schema.get("properties") or {}),
        additional=parse_node(additional) if isinstance(additional, Mapping) else None,
        is_map=isinstance(additional, Mapping) or additional is True,
        items=parse_node(items) if isinstance(items, Mapping) else None,
        default=schema.get("default"),
        nullable=bool(schema.get("nullable")),
        preserves_unknown=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(schema.get("x-kubernetes-embedded-resource")),
        int_or_string=bool(schema.get("x-kubernetes-int-or-string")),
        list_type=schema.get("x-kubernetes-list-type") or "atomic",
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        map_type=schema.get("x-kubernetes-map-type") or "granular",
        source=schema,
    )


class _Properties(Mapping[str, SchemaNode]):
    """The nodes of properties, each parsed on first use: a schema may have thousands."""

    __slots__ = ("_names", "_nodes", "_schemas")

    def __init__(self, schemas: Mapping[str, JSONSchema]) -> None:
        self._schemas = schemas
        self._names = sorted(schemas)
        self._nodes: dict[str, SchemaNode] = {}

    def __getitem__(self, name: str) -> SchemaNode:
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = parse_node(self._schemas[name])
        return node

    def __contains__(self, name: object) -> bool:
        return name in self._schemas

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def root_shape(node: SchemaNode, name: str) -> StructShape:
    """Return the shape of a whole resource of kind *name*."""

    def fields() -> Mapping[str, Shape]:
        return _member_shapes(node, _meta_shapes())

    return StructShape(name, fields, preserves_unknown=node.preserves_unknown)


def node_shape(node: SchemaNode) -> Shape:
    """Return the shape of the values of one node."""
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


def _object_shape(node: SchemaNode) -> Shape:
    atomic = node.map_type == "atomic"
    if node.properties or node.embedded:
        return StructShape(
            "object",
            lambda: _member_shapes(node, _meta_shapes() if node.embedded else {}),
            atomic=atomic,
            preserves_unknown=node.preserves_unknown or node.embedded,
        )
    if node.additional is not None:
        return MapShape(node_shape(node.additional), atomic=atomic)
    return MapShape(Untyped(), atomic=True) if atomic else Untyped()


def _member_shapes(node: SchemaNode, shapes: dict[str, Shape]) -> Mapping[str, Shape]:
    if len(node.properties) > _MANY_PROPERTIES:
        return _LazyShapes(node.properties, shapes)
    return {**{name: node_shape(below) for name, below in node.properties.items()}, **shapes}


_MANY_PROPERTIES: Final = 200


class _LazyShapes(Mapping[str, Shape]):
    """The shapes of properties, each built on first use: a schema may have thousands."""

    def __init__(self, properties: Mapping[str, SchemaNode], shapes: dict[str, Shape]) -> None:
        self._properties = properties
        self._shapes = shapes

    def __getitem__(self, name: str) -> Shape:
        shape = self._shapes.get(name)
        if shape is None:
            shape = self._shapes[name] = node_shape(self._properties[name])
        return shape

    def __contains__(self, name: object) -> bool:
        return name in self._shapes or name in self._properties

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._properties), **self._shapes})

    def __len__(self) -> int:
        return len(self._properties.keys() | self._shapes.keys())


def _meta_shapes() -> dict[str, Shape]:
    return {"apiVersion": Scalar(), "kind": Scalar(), "metadata": shape_of(ObjectMeta)}


def _key_defaults(items: SchemaNode, keys: tuple[str, ...]) -> dict[str, Any]:
    defaults = {key: items.properties[key].default for key in keys if key in items.properties}
    return {key: default for key, default in defaults.items() if default is not None}
