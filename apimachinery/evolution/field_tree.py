"""Field tree: the fields, types and defaults of a stored class, as data that outlives the class.

Every stored object names the *shape* it was written in: a fingerprint of the field tree of its
class. The tree has what decides how stored bytes are read: names on the wire, types, defaults, and
whether an empty value is omitted. It has neither documentation nor constraints, so narrowing a
bound or a Literal keeps the shape; nor `metadata`, which all kinds share.

A path is a dotted wire name and passes through lists and maps: `spec.parts.size` is the size of
every part.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin

import orjson
from pydantic import BaseModel, TypeAdapter

from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of, type_info
from apimachinery.model.wire_rules import is_computed, never
from apimachinery.scalars.duration import DURATION
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MICRO_TIME, TIME
from apimachinery.scalars.wire_types import BASE64, FIELDS_V1, RAW

FINGERPRINT_LENGTH: Final = 12
_HEAD: Final = frozenset(("kind", "apiVersion", "metadata"))
_INDEX: Final = re.compile(r"\[\d+\]")

TypeTree: TypeAlias = str | dict[str, Any]
"""A scalar by name, `{"list": type}`, `{"map": type}`, `{"ref": number}` for an object type, or
`{"union": [type, ...]}` if one of the alternatives is not a scalar."""


@dataclass(frozen=True, slots=True)
class TreeField:
    """One field: its type, its default as JSON, and whether an empty value is omitted."""

    type: TypeTree
    default: Any = None
    """The default, None for a field without one and for one whose default is null."""
    required: bool = False
    omits_empty: bool = False
    nullable: bool = False
    computed: bool = False
    """Whether the default is computed, such as the time: another value in every process."""

    def to_json(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": self.type}
        if self.default is not None:
            entry["default"] = self.default
        for name in ("required", "omits_empty", "nullable", "computed"):
            if getattr(self, name):
                entry[name] = True
        return entry


@dataclass(frozen=True, slots=True)
class TreeType:
    """The fields of one object type by wire name; *open* if it keeps undeclared fields as well."""

    fields: Mapping[str, TreeField]
    open: bool = False


class FieldTree:
    """The object types of a stored class; the first is the class itself.

    Types are numbered in the order in which they are reached, so renaming a class changes nothing,
    and refer to each other by number, so they may be recursive.
    """

    def __init__(self, types: list[TreeType]) -> None:
        self.types = types
        self.fingerprint = _fingerprint(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldTree) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"FieldTree({self.fingerprint})"

    def to_json(self) -> list[Any]:
        return [
            {
                "fields": {name: entry.to_json() for name, entry in sorted(node.fields.items())},
                **({"open": True} if node.open else {}),
            }
            for node in self.types
        ]

    @classmethod
    def from_json(cls, types: list[Any]) -> "FieldTree":
        return cls(
            [
                TreeType(
                    {name: TreeField(**entry) for name, entry in node["fields"].items()},
                    node.get("open", False),
                )
                for node in types
            ]
        )

    def find(self, path: str) -> TreeField | None:
        """Return the field at a path, None if there is none."""
        node: TreeType | None = self.types[0]
        found = None
        for step in path.split("."):
            found = node.fields.get(step) if node is not None else None
            if found is None:
                return None
            node = self.object_type(found.type)
        return found

    def object_type(self, tree: TypeTree) -> TreeType | None:
        """Return the object type of a type, or of the elements of a list or map; None if none."""
        number = reference(tree)
        return None if number is None else self.types[number]

    def declared(self, path: str) -> str:
        """Return the path of a field for the path of a value, which has indexes and map keys.

        `spec.slots.left.sizes[2]` becomes `spec.slots.sizes`. A path that leads nowhere stays.
        """
        steps = [step for step in _INDEX.sub("", path).split(".") if step]
        return ".".join(self._declared(steps, {"ref": 0}) or steps)

    def _declared(self, steps: list[str], tree: TypeTree) -> list[str] | None:
        """Return the steps without map keys; None if they lead nowhere."""
        while isinstance(tree, dict) and ("list" in tree or "union" in tree):
            tree = tree["list"] if "list" in tree else _alternative(tree)
        if not steps or isinstance(tree, str):
            return steps
        if "ref" in tree:
            first, *rest = steps
            entry = self.types[tree["ref"]].fields.get(first)
            below = None if entry is None else self._declared(rest, entry.type)
            return None if below is None else [first, *below]
        # A key may have dots: the shortest key that leads to a declared field counts.
        lengths = range(1, len(steps) + 1)
        ends = (self._declared(steps[length:], tree["map"]) for length in lengths)
        return next((end for end in ends if end is not None), None)

    def paths(self) -> Iterator[tuple[str, TreeField]]:
        """Yield every field with its path, parents first; a recursive type once per branch."""
        yield from self._paths(0, "", ())

    def _paths(
        self, number: int, prefix: str, above: tuple[int, ...]
    ) -> Iterator[tuple[str, TreeField]]:
        for name, entry in self.types[number].fields.items():
            yield f"{prefix}{name}", entry
            inner = reference(entry.type)
            if inner is not None and inner not in (*above, number):
                yield from self._paths(inner, f"{prefix}{name}.", (*above, number))

    def describe(self, tree: TypeTree) -> str:
        """Return a type in words for messages: `list of string`, `object`."""
        match tree:
            case str():
                return tree
            case {"list": item}:
                return f"list of {self.describe(item)}"
            case {"map": item}:
                return f"map of {self.describe(item)}"
            case {"union": alternatives}:
                return " or ".join(map(self.describe, alternatives))
            case _:
                return "object"


def field_tree(cls: type[BaseModel]) -> FieldTree:
    """Return the tree of a class, computed once per class."""
    cached: FieldTree | None = cls.__dict__.get("__field_tree__")
    if cached is None:
        cached = _Builder().build(cls)
        type.__setattr__(cls, "__field_tree__", cached)
    return cached


class _Builder:
    def __init__(self) -> None:
        self._numbers: dict[type[BaseModel], int] = {}
        self._types: list[TreeType] = []

    def build(self, cls: type[BaseModel]) -> FieldTree:
        self._number(cls, left_out=_HEAD)
        return FieldTree(self._types)

    def _number(self, cls: type[BaseModel], *, left_out: frozenset[str] = frozenset()) -> int:
        if cls in self._numbers:
            return self._numbers[cls]
        number = self._numbers[cls] = len(self._types)
        fields: dict[str, TreeField] = {}
        self._types.append(TreeType(fields, cls.model_config.get("extra") == "allow"))
        defaults = _default_document(cls)
        for field in sorted(fields_of(cls), key=lambda field: field.wire):
            if field.wire not in left_out:
                fields[field.wire] = TreeField(
                    self._type(field.type),
                    default=None if field.required else _default(field, defaults),
                    required=field.required,
                    omits_empty=field.info.exclude_if not in {None, never},
                    nullable=field.type.optional,
                    computed=is_computed(field.info),
                )
        return number

    def _type(self, info: TypeInfo) -> TypeTree:
        if info.category == "model":
            return {"ref": self._number(info.python)}
        if info.item is not None and not info.marked(FIELDS_V1) and not info.marked(RAW):
            return {info.category: self._type(info.item)}
        if info.category == "any":
            return "any"
        return self._union(info) if get_origin(info.python) is Union else scalar_name(info)

    def _union(self, info: TypeInfo) -> TypeTree:
        alternatives = [type_info(alternative) for alternative in get_args(info.python)]
        if info.marked(INT_OR_STRING) or all(part.category == "scalar" for part in alternatives):
            return scalar_name(info)
        types = [self._type(alternative) for alternative in alternatives]
        return "any" if "any" in types else {"union": sorted(types, key=str)}


_MARKED: Final = (
    (TIME, "time"),
    (MICRO_TIME, "micro-time"),
    (DURATION, "duration"),
    (BASE64, "base64"),
    (INT_OR_STRING, "int-or-string"),
    (FIELDS_V1, "fields-v1"),
    (RAW, "document"),
)
_SCALARS: Final[Mapping[Any, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    bytes: "bytes",
    datetime: "datetime",
    timedelta: "timedelta",
    Decimal: "decimal",
    Quantity: "quantity",
}


def scalar_name(info: TypeInfo) -> str:
    """Return the name of a scalar type; a Literal or an Enum is the type of its values."""
    for marker, name in _MARKED:
        if info.marked(marker):
            return name
    return _python_name(info.python)


def _python_name(python: Any) -> str:
    if python in _SCALARS:
        return _SCALARS[python]
    if get_origin(python) is Literal:
        return _union(type(value) for value in get_args(python))
    if isinstance(python, type) and issubclass(python, Enum):
        return _union(type(member.value) for member in python)
    if get_origin(python) is Annotated or hasattr(python, "__supertype__"):
        return _python_name(getattr(python, "__supertype__", None) or get_args(python)[0])
    if alternatives := get_args(python):
        return _union(alternatives)
    return getattr(python, "__qualname__", str(python))


def _union(types: Any) -> str:
    return "|".join(sorted({_python_name(member) for member in types}))


def _default_document(cls: type[BaseModel]) -> dict[str, Any]:
    """Return the document of an object in which only the defaults are set, without empty ones."""
    values = {field.name: field.default for field in fields_of(cls) if not field.required}
    document: dict[str, Any] = cls.__pydantic_serializer__.to_python(
        cls.model_construct(**values), mode="json", by_alias=True, warnings=False
    )
    return document


def _default(field: ModelField, defaults: Mapping[str, Any]) -> Any:
    if is_computed(field.info):
        return None
    default = defaults[field.wire] if field.wire in defaults else _default_json(field)
    _remove_computed(default, field.type)
    return default


def _default_json(field: ModelField) -> Any:
    default = field.default
    if default is None or isinstance(default, str | int | float | list | dict):
        return default
    annotated: Any = field.info.annotation
    for part in field.info.metadata:
        annotated = Annotated[annotated, part]
    return cast(Any, TypeAdapter(annotated).dump_python(default, mode="json"))


def _remove_computed(document: Any, info: TypeInfo) -> None:
    """Remove computed defaults from the JSON of a default, in place."""
    if isinstance(document, list) and info.item is not None:
        for element in document:
            _remove_computed(element, info.item)
    elif isinstance(document, dict) and info.item is not None:
        for element in document.values():
            _remove_computed(element, info.item)
    elif isinstance(document, dict) and info.category == "model":
        for field in fields_of(info.python):
            if is_computed(field.info):
                document.pop(field.wire, None)
            else:
                _remove_computed(document.get(field.wire), field.type)


def reference(tree: TypeTree) -> int | None:
    """Return the number of the object type of a type, or of its elements; None if none."""
    while isinstance(tree, dict):
        if "ref" in tree:
            return cast(int, tree["ref"])
        tree = element_type(tree)
    return None


def element_type(tree: TypeTree) -> TypeTree:
    """Return the type of the elements of a list or map, or the object type of a union."""
    assert isinstance(tree, dict), "scalars have no elements"
    return _alternative(tree) if "union" in tree else tree.get("list") or tree["map"]


def _alternative(union: dict[str, Any]) -> TypeTree:
    """Return the alternative that objects are of: an object type rather than a list or map."""
    trees = sorted(union["union"], key=lambda tree: isinstance(tree, dict) and "ref" in tree)
    return cast(TypeTree, trees[-1])


def _fingerprint(tree: list[Any]) -> str:
    data = orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(data).hexdigest()[:FINGERPRINT_LENGTH]
