"""Value bounds: how large the values of an expression can be, for estimates of its cost.

A bound covers every value that an expression may have. Those of variables come from a schema
(`DeclaredBound`), or from the values that a rule is about to be evaluated on (`ActualBound`); those
of other expressions are computed from the bounds of their parts (`ComputedBound`).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from apimachinery.cel.cel_values import escape
from apimachinery.structural.schema_node import JSONSchema

Kind = Literal["string", "bytes", "list", "map", "object", "scalar", ""]

LARGEST: Final = 2**64 - 1
"""The size of values that are not bounded; larger numbers are cut to it."""
REQUEST_BYTES: Final = 3 * 1024 * 1024
"""The size of the largest request, by which Kubernetes bounds values without a limit."""
CHARACTERS_PER_WEIGHT: Final = 64


class Bound(Protocol):
    """The largest values of an expression."""

    @property
    def kind(self) -> Kind:
        """The kind of the values, empty if it is not known or not the same for all."""
        ...

    @property
    def size(self) -> int:
        """The result of CEL's `size()`."""
        ...

    @property
    def weight(self) -> int:
        """The number of values within a value, to which long strings add by their length."""
        ...

    def field(self, name: str) -> "Bound": ...

    def element(self) -> "Bound":
        """Return the bound of list items or map values."""
        ...


def cut(number: int) -> int:
    return min(number, LARGEST)


class ComputedBound:
    """The bound of an expression that is not a part of a variable."""

    __slots__ = ("_element", "kind", "size", "weight")

    def __init__(
        self, kind: Kind, size: int, *, weight: int | None = None, element: Bound | None = None
    ) -> None:
        self.kind: Kind = kind
        self.size = cut(size)
        self._element = element
        if weight is None and kind in ("list", "map"):
            weight = 1 + size * (LARGEST if element is None else element.weight)
        elif weight is None:
            weight = 1 + size // CHARACTERS_PER_WEIGHT
        self.weight: int = cut(weight)

    def field(self, name: str) -> Bound:
        return self.element()

    def element(self) -> Bound:
        return self._element or UNKNOWN


SCALAR: Final = ComputedBound("scalar", 1, weight=1)
UNKNOWN: Final = ComputedBound("", LARGEST)


def union(left: Bound, right: Bound) -> Bound:
    """Return the bound of values that have either bound."""
    if isinstance(left, ActualBound) and left.is_empty:
        return right
    if isinstance(right, ActualBound) and right.is_empty:
        return left
    if isinstance(left, ActualBound) and isinstance(right, ActualBound):
        merged = left.merge(right)
        if merged is not None:
            return merged
    return _computed_union(left, right)


def _computed_union(left: Bound, right: Bound) -> Bound:
    kind = left.kind if left.kind == right.kind else ""
    element = None
    if isinstance(left, ComputedBound) and left.kind == "list" and left.size == 0:
        element = right.element() if right.kind == "list" else None
    elif kind in ("list", "map"):
        element = left.element() if right.size == 0 else union(left.element(), right.element())
    return ComputedBound(
        kind,
        max(left.size, right.size),
        weight=max(left.weight, right.weight),
        element=element,
    )


class ActualBound:
    """The bound of values that are known, such as those of one field in all items of a list."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        self._fields: dict[str, ActualBound] = {}
        self._merged: dict[ActualBound, ActualBound] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no value, so that reading it fails."""
        return not self._values

    def merge(self, other: "ActualBound") -> "ActualBound | None":
        """Return the bound of the values of both, each once; None if they are too many."""
        if other is self:
            return self
        if len(self._values) + len(other._values) > _MAX_MERGED:
            return None
        merged = self._merged.get(other)
        if merged is None:
            known = set(map(id, self._values))
            new = [value for value in other._values if id(value) not in known]
            merged = ActualBound([*self._values, *new]) if new else self
            self._merged[other] = merged
        return merged

    @cached_property
    def kind(self) -> Kind:
        kinds = {_KINDS.get(type(value), "scalar") for value in self._values}
        return kinds.pop() if len(kinds) == 1 else ""

    @cached_property
    def size(self) -> int:
        return max(
            (len(v) for v in self._values if isinstance(v, str | bytes | list | dict)), default=1
        )

    @cached_property
    def weight(self) -> int:
        return max(map(weigh, self._values), default=1)

    def field(self, name: str) -> Bound:
        bound = self._fields.get(name)
        if bound is None:
            values = [v[name] for v in self._values if isinstance(v, dict) and name in v]
            bound = self._fields[name] = ActualBound(values)
        return bound

    def element(self) -> Bound:
        return self._elements

    @cached_property
    def _elements(self) -> Bound:
        elements: list[Any] = []
        for value in self._values:
            if isinstance(value, list):
                elements += value
            elif isinstance(value, dict):
                elements += value.values()
        return ActualBound(elements)

    def keys(self) -> Bound:
        return ActualBound([key for v in self._values if isinstance(v, dict) for key in v])

    def texts(self) -> list[str]:
        return [value for value in self._values if isinstance(value, str)]


_MAX_MERGED: Final = 10_000
"""The number of values up to which bounds keep them when they are merged."""
_KINDS: Final[Mapping[type, Kind]] = {
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
}


def weigh(value: Any) -> int:
    """Return the weight of one value."""
    if isinstance(value, str | bytes):
        return 1 + len(value) // CHARACTERS_PER_WEIGHT
    if isinstance(value, dict):
        return 1 + len(value) + sum(map(weigh, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(weigh, value))
    return 1


class DeclaredBound:
    """The bound of the values of a schema, as Kubernetes derives it from limits and formats."""

    def __init__(self, schema: JSONSchema, *, is_resource: bool = False) -> None:
        self._schema = schema
        self._is_resource = is_resource or bool(schema.get("x-kubernetes-embedded-resource"))

    @cached_property
    def kind(self) -> Kind:
        schema = self._schema
        match schema.get("type"):
            case "array":
                return "list"
            case "object":
                is_map = isinstance(schema.get("additionalProperties"), Mapping)
                return "map" if is_map else "object"
            case "string":
                return _FORMATS.get(schema.get("format", ""), "string")
            case "boolean" | "number" | "integer":
                return "scalar"
        return ""

    @cached_property
    def size(self) -> int:
        schema = self._schema
        match self.kind:
            case "list":
                item = minimum_size(schema.get("items") or {})
                return _limit(schema, "maxItems", (REQUEST_BYTES - 2) // (item + 1))
            case "map":
                value = minimum_size(schema["additionalProperties"])
                return _limit(schema, "maxProperties", (REQUEST_BYTES - 2) // (value + 6))
            case "bytes":
                return _limit(schema, "maxLength", REQUEST_BYTES - 2)
            case "string" | "":
                return self._text_size()
        return _TIME_SIZES.get(schema.get("format", ""), 0) if schema["type"] == "string" else 0

    def _text_size(self) -> int:
        if "maxLength" in self._schema:
            return 4 * _limit(self._schema, "maxLength", 0)  # a character has up to four bytes
        texts = [text for text in self._schema.get("enum") or () if isinstance(text, str)]
        if texts and self.kind == "string":
            return max(len(text.encode()) for text in texts)
        return REQUEST_BYTES - 2

    @cached_property
    def weight(self) -> int:
        if self.kind in ("list", "map"):
            return cut(1 + self.size * (1 + self.element().weight))
        if self.kind == "object":
            if self._schema.get("x-kubernetes-preserve-unknown-fields") or self._is_resource:
                return LARGEST
            return self._members_weight()
        return LARGEST if self.kind == "" else 1 + self.size // CHARACTERS_PER_WEIGHT

    def _members_weight(self) -> int:
        weight = 1
        for part in (self._schema.get("properties") or {}).values():
            weight += 1 + DeclaredBound(part).weight
            if weight > _MAX_DECLARED_WEIGHT:
                return LARGEST
        return weight

    @cached_property
    def _fields(self) -> Mapping[str, JSONSchema]:
        properties = self._schema.get("properties") or {}
        fields = {escape(name): part for name, part in properties.items()}
        return {**fields, **_RESOURCE_FIELDS} if self._is_resource else fields

    def field(self, name: str) -> Bound:
        if self.kind == "map":
            return self.element()
        schema = self._fields.get(name)
        return UNKNOWN if schema is None else DeclaredBound(schema)

    def element(self) -> Bound:
        wire = "items" if self.kind == "list" else "additionalProperties"
        schema = self._schema.get(wire)
        return DeclaredBound(schema) if isinstance(schema, Mapping) else UNKNOWN


_MAX_DECLARED_WEIGHT: Final = 5_000
"""The weight above which large schemas are not looked at further."""
_FORMATS: Final[Mapping[str, Kind]] = {
    "byte": "bytes",
    "duration": "scalar",
    "date": "scalar",
    "date-time": "scalar",
}
_TIME_SIZES: Final = {"duration": 32, "date": 12, "date-time": 32}
_TEXT: Final = {"type": "string"}
_RESOURCE_FIELDS: Final[Mapping[str, JSONSchema]] = {
    "kind": _TEXT,
    "apiVersion": _TEXT,
    "metadata": {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}},
}
_MINIMUM_SIZES: Final = {"byte": 2, "duration": 3, "date": 12, "date-time": 21}


def minimum_size(schema: JSONSchema) -> int:
    """Return the minimum length of a value as JSON."""
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    match schema.get("type"):
        case "string":
            return _MINIMUM_SIZES.get(schema.get("format", ""), 2)
        case "boolean":
            return 4
        case "number" | "integer":
            return 1
        case "object" if not isinstance(schema.get("additionalProperties"), Mapping):
            properties = schema.get("properties") or {}
            required = [properties.get(name, {}) for name in schema.get("required") or ()]
            return 2 + sum(
                len(name) + minimum_size(part) + 4
                for name, part in zip(schema.get("required") or (), required, strict=True)
                if part and part.get("default") is None
            )
    return 2


def _limit(schema: JSONSchema, keyword: str, otherwise: int) -> int:
    return max(int(schema.get(keyword, otherwise)), 0)
