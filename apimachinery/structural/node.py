"""Node: the skeleton of a structural schema, which says what may stand where.

A schema has two halves. The skeleton (types, properties, items) decides what is known and what is
dropped, and every value has exactly one place in it. The value validations (bounds, patterns,
`anyOf` and so on) may only speak of places the skeleton has, and are read from `Node.source`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

JSONSchema = Mapping[str, Any]
"""An `openAPIV3Schema` or a part of one, as JSON."""

META_FIELDS: Final = frozenset(("apiVersion", "kind", "metadata"))
"""What every resource has, whatever its schema says."""


@dataclass(frozen=True, slots=True)
class Node:
    """One place of a schema."""

    type: str = ""
    properties: Mapping[str, "Node"] = field(default_factory=dict)
    additional: "Node | None" = None
    """What the other members of a map are; None if there are none, or if nothing is said."""
    is_map: bool = False
    """Members beyond the properties are known, perhaps without a type."""
    items: "Node | None" = None
    default: Any = None
    nullable: bool = False
    preserves_unknown: bool = False
    embedded: bool = False
    """Holds a whole resource: apiVersion, kind and metadata are known."""
    int_or_string: bool = False
    list_type: str = "atomic"
    list_keys: tuple[str, ...] = ()
    map_type: str = "granular"
    source: JSONSchema = field(default_factory=dict)
    """The schema this was read from, for its value validations."""


def parse_node(schema: JSONSchema) -> Node:
    """The skeleton of a schema, which must be structural."""
    additional = schema.get("additionalProperties")
    items = schema.get("items")
    return Node(
        type=schema.get("type", ""),
        properties={name: parse_node(part) for name, part in _properties(schema)},
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


def _properties(schema: JSONSchema) -> list[tuple[str, JSONSchema]]:
    return sorted((schema.get("properties") or {}).items())
