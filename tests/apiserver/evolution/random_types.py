"""Random types: a type that changes at random, and what its stored objects must become.

A field keeps its identity while it is renamed, moved or re-typed. An object is known by the values
that these identities had when it was last written, so what it must look like in any later release
follows without a look at any document.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import create_model

from apimachinery.model import model
from apimachinery.scheme import Scheme
from apiserver import Group
from tests.apiserver.evolution.releases import NAME, Fields, release

Kind = Literal["string", "integer", "number", "strings", "pairs", "object", "objects", "mapping"]
Values = dict[int, Any]
"""Identity -> value of every field that is not inside of elements; an element is Values again."""

EMPTY: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0.0, "strings": [], "pairs": {}}
COLLECTIONS = ("objects", "mapping")
NARROW: Mapping[str, list[Any]] = {"string": ["red", "green"], "integer": [1, 2]}
"""Values that remain possible when a field is narrowed."""
WIDE: Mapping[str, list[Any]] = {
    "string": ["red", "green", "blue", "x y"],
    "integer": [1, 2, 40, -3],
    "number": [1.5, -2.0],
    "strings": [["a"], ["b", "c"]],
    "pairs": [{"k": "v"}, {"k": "", "l": "w"}],
}
NON_EMPTY: Mapping[str, Any] = {"string": "white", "integer": 7, "number": 7.5}
"""Defaults that are not empty."""


def as_string(value: int) -> str:
    return f"{value}W"


def as_integer(value: str) -> int:
    return len(value)


RETYPED: Mapping[tuple[str, str], Any] = {
    ("integer", "string"): as_string,
    ("string", "integer"): as_integer,
    ("string", "number"): as_integer,
}
READABLE = {("integer", "number")}
"""Pairs of types of which the second has all values of the first."""


@dataclass(frozen=True)
class TypeField:
    """One field of the type in one release."""

    id: int
    name: str
    kind: Kind
    parent: int | None = None
    default: Any = None
    """None for an empty one."""
    required: bool = False
    narrowed: bool = False
    has_function: bool = False
    """Whether values of its earlier type are converted."""

    @property
    def initial(self) -> Any:
        """The value of objects that do not say any."""
        return EMPTY[self.kind] if self.default is None else self.default

    @property
    def choices(self) -> list[Any]:
        return (NARROW if self.narrowed else WIDE)[self.kind]

    def stores(self, value: Any) -> bool:
        """Return whether a stored document has this value, instead of omitting the field."""
        return self.required or self.default is not None or bool(value)

    def is_stored_like(self, other: "TypeField") -> bool:
        """Return whether documents look the same, whatever the rules for new values are."""
        return replace(self, narrowed=False, has_function=False) == replace(
            other, narrowed=False, has_function=False
        )


@dataclass(frozen=True)
class TypeRelease:
    """The type in one release, and all that its group declares about earlier ones."""

    fields: Mapping[int, TypeField]
    upgrades: tuple[Mapping[str, Any], ...] = ()
    accepted: frozenset[int] = frozenset()
    """Removed fields whose loss the operator accepts at every start."""
    consented: frozenset[int] = frozenset()
    """Removed fields whose values may be lost, by either way."""
    gone: Mapping[int, TypeField] = field(default_factory=dict)

    def children(self, parent: int | None) -> Iterator[TypeField]:
        return (each for each in self.fields.values() if each.parent == parent)

    def subtree(self, each: TypeField) -> Iterator[TypeField]:
        yield each
        for child in self.children(each.id):
            yield from self.subtree(child)

    def path(self, each: TypeField) -> str:
        if each.parent is None:
            return f"spec.{each.name}"
        parent = self.fields.get(each.parent) or self.gone[each.parent]
        return f"{self.path(parent)}.{each.name}"

    def scope(self, each: TypeField) -> int | None:
        """Return the list or map whose elements have the field, None if it is in no element."""
        parent = None if each.parent is None else self.fields[each.parent]
        if parent is None or parent.kind in COLLECTIONS:
            return each.parent
        return self.scope(parent)

    @property
    def shape(self) -> frozenset[Any]:
        """What of the type decides how it is stored."""
        return frozenset(
            (self.path(each), each.kind, each.default, each.required)
            for each in self.fields.values()
        )

    @property
    def leaves(self) -> list[TypeField]:
        return [each for each in self.fields.values() if each.kind in EMPTY]

    # What the group of this release is

    def group(self) -> Group:
        return release(self._annotations(None), self._declare)

    def accept_flags(self) -> tuple[str, ...]:
        return tuple(f"{NAME}/{self.path(self.gone[each])}" for each in sorted(self.accepted))

    def _declare(self, scheme: Scheme, cls: type[Any]) -> None:
        for upgrade in self.upgrades:
            scheme.add_upgrade(cls, **upgrade)

    def _annotations(self, parent: int | None) -> Fields:
        return {each.name: self._annotation(each) for each in self.children(parent)}

    def _annotation(self, each: TypeField) -> tuple[Any, Any]:
        if each.kind in EMPTY:
            return _leaf_annotation(each)
        cls = create_model(
            f"Part{each.id}", __base__=model.Model, **dict(self._annotations(each.id))
        )
        match each.kind:
            case "object":
                return cls, model.field(default_factory=cls)
            case "objects":
                return list[cls], model.field(default_factory=list)  # type: ignore[valid-type]
            case _:
                return dict[str, cls], model.field(default_factory=dict)  # type: ignore[valid-type]

    # What objects of earlier releases become

    def values(self, written: "TypeRelease", values: Values, scope: int | None = None) -> Values:
        """Return the values in this release of an object that was written in another."""
        result: Values = {}
        for each in self.fields.values():
            if self.scope(each) != scope or each.kind == "object":
                continue
            if each.kind == "objects":
                found = values.get(each.id, [])
                result[each.id] = [self.values(written, one, each.id) for one in found]
            elif each.kind == "mapping":
                found = values.get(each.id, {})
                result[each.id] = {
                    key: self.values(written, one, each.id) for key, one in found.items()
                }
            else:
                result[each.id] = self._value(each, written, values)
        return result

    def _value(self, each: TypeField, written: "TypeRelease", values: Values) -> Any:
        if each.id not in values:
            return each.initial
        before, value = written.fields[each.id], values[each.id]
        if before.kind == each.kind or (before.kind, each.kind) in READABLE:
            return value
        return RETYPED[before.kind, each.kind](value) if each.has_function else each.initial

    def document(self, values: Values, parent: int | None = None) -> dict[str, Any]:
        """Return the document of an object with these values, as it is stored and served."""
        result: dict[str, Any] = {}
        for each in self.children(parent):
            match each.kind:
                case "object":
                    result[each.name] = self.document(values, each.id)
                case "objects" if values[each.id]:
                    result[each.name] = [self.document(one, each.id) for one in values[each.id]]
                case "mapping" if values[each.id]:
                    elements = values[each.id].items()
                    result[each.name] = {key: self.document(one, each.id) for key, one in elements}
                case "objects" | "mapping":
                    pass
                case _ if each.stores(values[each.id]):
                    result[each.name] = values[each.id]
        return result

    def would_lose(self, written: "TypeRelease", values: Values) -> bool:
        """Return whether something stored has no place in this release, and nobody agreed."""
        return any(
            self._would_lose(written, written.fields[key], value) for key, value in values.items()
        )

    def _would_lose(self, written: "TypeRelease", before: TypeField, value: Any) -> bool:
        if before.id in self.consented:
            return False
        today = self.fields.get(before.id)
        if today is None:
            return before.stores(value)
        if before.kind in COLLECTIONS:
            elements = value.values() if isinstance(value, dict) else value
            return any(self.would_lose(written, element) for element in elements)
        is_readable = before.kind == today.kind or (before.kind, today.kind) in READABLE
        return not (is_readable or today.has_function) and before.stores(value)

    def serves_verbatim(self, written: "TypeRelease") -> bool:
        """Return whether documents of the other release need no upgrade."""
        kept = all(
            each.id in self.fields and each.is_stored_like(self.fields[each.id])
            for each in written.fields.values()
        )
        added = [
            each
            for each in self.fields.values()
            if each.id not in written.fields
            and (each.parent is None or each.parent in written.fields)
        ]
        return kept and not any(
            each.kind == "object" or each.required or each.default is not None for each in added
        )


def _leaf_annotation(each: TypeField) -> tuple[Any, Any]:
    default = ... if each.required else each.initial
    match each.kind:
        case "string" if each.narrowed:
            values = (*NARROW["string"], each.initial, EMPTY["string"])
            return Literal[values], default
        case "integer" if each.narrowed:
            return int, (model.field(le=10) if each.required else model.field(default, le=10))
        case "strings":
            return list[str], model.field(default_factory=list)
        case "pairs":
            return dict[str, str], model.field(default_factory=dict)
        case _:
            return {"string": str, "integer": int, "number": float}[each.kind], default


def first_release() -> TypeRelease:
    """Return a type with a field of each kind."""
    fields = (
        TypeField(0, "f0", "string"),
        TypeField(1, "f1", "integer"),
        TypeField(2, "f2", "object"),
        TypeField(3, "f3", "string", 2),
        TypeField(4, "f4", "integer", 2, default=7),
        TypeField(5, "f5", "objects"),
        TypeField(6, "f6", "string", 5),
        TypeField(7, "f7", "integer", 5, default=7),
        TypeField(8, "f8", "mapping"),
        TypeField(9, "f9", "string", 8, required=True),
        TypeField(10, "f10", "strings"),
        TypeField(11, "f11", "pairs"),
    )
    return TypeRelease({each.id: each for each in fields})
