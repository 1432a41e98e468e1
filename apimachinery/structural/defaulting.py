"""Defaulting: fill in the default values of absent fields.

A null that the schema does not allow counts as absent: it is replaced by the default, or dropped.
Server-side apply keeps the nulls that have no default, so that validation rejects them.

A default may be large, and an object may lack it in each of many items, so a small document could
become a huge one. What defaults add to one object is therefore limited, in bytes and in values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.meta.unstructured import dump_content
from apimachinery.model.model import deep_copy
from apimachinery.serialization.document_size import MAX_BYTES, TooLarge, count_values
from apimachinery.structural.schema_node import JSONSchema, SchemaNode

MAX_DEFAULTED_BYTES: Final = MAX_BYTES
"""The maximum size of all defaults that are added to one object, as JSON."""
MAX_DEFAULTED_VALUES: Final = 100_000
"""The maximum number of values in all defaults that are added to one object."""


class DefaultsTooLarge(TooLarge):
    """The defaults of an object exceed the limits."""


class Allowance:
    """The bytes and values that defaults may still add to one object."""

    __slots__ = ("_bytes", "_values")

    def __init__(self) -> None:
        self._bytes = MAX_DEFAULTED_BYTES
        self._values = MAX_DEFAULTED_VALUES

    def spend(self, size: int, values: int) -> None:
        self._bytes -= size
        self._values -= values
        if self._bytes < 0:
            raise DefaultsTooLarge(MAX_DEFAULTED_BYTES)
        if self._values < 0:
            raise DefaultsTooLarge(MAX_DEFAULTED_VALUES, "values")


_CONTAINERS: Final = (dict, list)
Fill = Callable[[Any, Allowance], None]
"""Fills in the defaults of a value in place."""


@dataclass(frozen=True, slots=True)
class _Default:
    """A default value, its size as JSON, and the number of its values."""

    value: Any
    size: int
    values: int

    @classmethod
    def of(cls, value: Any, name: str = "") -> "_Default":
        """Measure a default; it is counted with the *name* of its field."""
        data = dump_content(value)
        return cls(value, len(name) + len(data) + 1, count_values(data))

    def new(self, allowance: Allowance) -> Any:
        """Return a copy that belongs to one object."""
        allowance.spend(self.size, self.values)
        value = self.value
        return deep_copy(value) if isinstance(value, _CONTAINERS) else value


def compile_defaulting(node: SchemaNode, *, keep_nulls: bool = False) -> Fill | None:
    """Compile the defaulting of values of *node*; None if there is nothing to fill in."""
    if node.properties:
        return _members(node, keep_nulls)
    if node.additional is not None:
        return _map_values(_element(node.additional, keep_nulls), keep_nulls)
    if node.items is not None:
        return _items(_element(node.items, keep_nulls))
    return None


def multiplies_defaults(schema: JSONSchema, *, repeated: bool = False) -> bool:
    """Return whether a small document may become large: items with defaults, or large defaults."""
    default = schema.get("default")
    if default is not None and (repeated or len(dump_content(default)) > _LARGE_DEFAULT):
        return True
    for wire in ("items", "additionalProperties"):
        part = schema.get(wire)
        if isinstance(part, Mapping) and multiplies_defaults(part, repeated=True):
            return True
    parts = (schema.get("properties") or {}).values()
    return any(multiplies_defaults(part, repeated=repeated) for part in parts)


_LARGE_DEFAULT: Final = 4096


def count_nodes(value: Any) -> int:
    """Return the number of values within a value."""
    count, pending = 1, [value]
    while pending:
        container = pending.pop()
        members = container.values() if isinstance(container, dict) else container
        if isinstance(container, _CONTAINERS):
            count += len(container)
            pending += [member for member in members if isinstance(member, _CONTAINERS)]
    return count


class _Members(dict[str, Fill | None]):
    """The defaulting of properties, each compiled on first use: a schema may have thousands."""

    def __init__(self, node: SchemaNode, keep_nulls: bool) -> None:
        super().__init__()
        self._properties = node.properties
        self._keep_nulls = keep_nulls

    def __missing__(self, name: str) -> Fill | None:
        node = self._properties[name]
        compiled = self[name] = compile_defaulting(node, keep_nulls=self._keep_nulls)
        return compiled


def _members(node: SchemaNode, keep_nulls: bool) -> Fill:
    sources = node.source["properties"]
    defaults = {
        name: _Default.of(source["default"], name)
        for name, source in sources.items()
        if source.get("default") is not None
    }
    # Null means absent unless the property is nullable.
    not_nullable = {name for name, source in sources.items() if not source.get("nullable")}
    dropped = not_nullable & defaults.keys() if keep_nulls else not_nullable
    below = _Members(node, keep_nulls)

    def fill(value: Any, allowance: Allowance) -> None:
        if not isinstance(value, dict):
            return
        for name in [name for name, member in value.items() if member is None]:
            if name in dropped:
                del value[name]
        for name, default in defaults.items():
            if name not in value:
                value[name] = default.new(allowance)
        for name, member in value.items():
            if isinstance(member, _CONTAINERS) and name in sources and (nested := below[name]):
                nested(member, allowance)

    return fill


@dataclass(frozen=True, slots=True)
class _Element:
    """The defaulting of a map value or list item."""

    default: _Default | None
    nullable: bool
    fill: Fill | None


def _element(node: SchemaNode, keep_nulls: bool) -> _Element:
    default = None if node.default is None else _Default.of(node.default)
    return _Element(default, node.nullable, compile_defaulting(node, keep_nulls=keep_nulls))


def _map_values(element: _Element, keep_nulls: bool) -> Fill:
    def fill(value: Any, allowance: Allowance) -> None:
        if not isinstance(value, dict):
            return
        for name, member in list(value.items()):
            if member is not None or element.nullable:
                continue
            if element.default is not None:
                value[name] = element.default.new(allowance)
            elif not keep_nulls:
                del value[name]
        if element.fill is not None:
            for member in value.values():
                element.fill(member, allowance)

    return fill


def _items(element: _Element) -> Fill | None:
    if element.fill is None and element.default is None:
        return None

    def fill(value: Any, allowance: Allowance) -> None:
        if not isinstance(value, list):
            return
        for position, item in enumerate(value):
            if item is None and not element.nullable and element.default is not None:
                value[position] = element.default.new(allowance)
            if element.fill is not None:
                element.fill(value[position], allowance)

    return fill
