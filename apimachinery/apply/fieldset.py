"""FieldSet: a set of field paths of one object, and its wire form FieldsV1.

A set is a tree. Each node has members (elements that are in the set) and children (elements with
further members below them); an element can be both. Sets are immutable, so set operations return
results that share subtrees with their operands.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import orjson

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import InvalidFieldSet
from apimachinery.apply.path_elements import Element, Path

MAX_DEPTH: Final = 128
"""Maximum nesting depth of values and field sets, well within Python's recursion limit."""

FieldsV1 = dict[str, Any]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class FieldSet:
    """An immutable set of paths.

    No child is empty, so equal sets are equal trees. Subtracting fields that are not in the set
    returns the same instance.
    """

    members: frozenset[Element] = frozenset()
    children: Mapping[Element, "FieldSet"] = field(default_factory=dict)

    @staticmethod
    def of(*members: Path) -> "FieldSet":
        """Return the set of exactly these paths."""
        builder = SetBuilder()
        for path in members:
            builder.insert(path)
        return builder.build()

    @staticmethod
    def from_fields_v1(fields: Any) -> "FieldSet":
        """Decode the JSON value of FieldsV1; raise InvalidFieldSet if it is malformed."""
        try:
            field_set, _ = _decode(fields, 0)
        except _Malformed as error:
            place = f" at {'/'.join(reversed(error.path))}" if error.path else ""
            raise InvalidFieldSet(f"fieldsV1{place}: {error}") from None
        return field_set

    @staticmethod
    def interned(fields: Any) -> "FieldSet":
        """Decode like `from_fields_v1`, but cache: equal values return the same instance.

        All objects that one controller creates have the same FieldsV1.
        """
        try:
            text = orjson.dumps(fields)
        except orjson.JSONEncodeError:
            return FieldSet.from_fields_v1(fields)
        return _interned(text) if len(text) <= _INTERNED_BYTES else FieldSet.from_json(text)

    @staticmethod
    def from_json(text: bytes | str) -> "FieldSet":
        """Decode FieldsV1 from JSON text; raise InvalidFieldSet if it is malformed."""
        try:
            fields = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise InvalidFieldSet(f"fieldsV1: {error}") from None
        return FieldSet.from_fields_v1(fields)

    def to_fields_v1(self) -> FieldsV1:
        """Return the JSON value of FieldsV1, with its keys in the order Kubernetes writes them."""
        out: FieldsV1 = {}
        _encode(self, out)
        return out

    def to_json(self) -> bytes:
        return orjson.dumps(self.to_fields_v1())

    def has(self, path: Path) -> bool:
        """Return whether the field at *path* itself is in the set."""
        if not path:
            return False
        node: FieldSet | None = self
        for element in path[:-1]:
            node = node.children.get(element) if node is not None else None
        return node is not None and path[-1] in node.members

    def below(self, element: Element) -> "FieldSet":
        """Return the paths that begin with *element*, relative to it."""
        return self.children.get(element, EMPTY)

    def union(self, other: "FieldSet") -> "FieldSet":
        if not other or self is other:
            return self
        if not self:
            return other
        children = dict(self.children)
        for element, other_child in other.children.items():
            own_child = children.get(element)
            children[element] = other_child if own_child is None else own_child.union(other_child)
        return FieldSet(self.members | other.members, children)

    def intersection(self, other: "FieldSet") -> "FieldSet":
        if self is other:
            return self
        if not other or not self:
            return EMPTY
        children = {}
        for element in self.children.keys() & other.children.keys():
            if common := self.children[element] & other.children[element]:
                children[element] = common
        members = self.members & other.members
        return FieldSet(members, children) if members or children else EMPTY

    def difference(self, other: "FieldSet") -> "FieldSet":
        """Return the fields of this set that are not in *other*.

        Fields below a subtracted field stay.
        """
        if not other or not self:
            return self
        changed = {}
        for element in self.children.keys() & other.children.keys():
            child = self.children[element]
            if (remaining := child - other.children[element]) is not child:
                changed[element] = remaining
        return self._reduce(other.members, changed)

    def recursive_difference(self, other: "FieldSet") -> "FieldSet":
        """Subtract *other* and everything below its fields."""
        if not other or not self:
            return self
        changed = dict.fromkeys(self.children.keys() & other.members, EMPTY)
        for element in self.children.keys() & other.children.keys() - other.members:
            child = self.children[element]
            remaining = child.recursive_difference(other.children[element])
            if remaining is not child:
                changed[element] = remaining
        return self._reduce(other.members, changed)

    def _reduce(
        self, members: frozenset[Element], changed: Mapping[Element, "FieldSet"]
    ) -> "FieldSet":
        """Return the set without *members* and with *changed* children; self if nothing changes."""
        if not changed and self.members.isdisjoint(members):
            return self
        children = {**self.children, **changed}
        for element, remaining in changed.items():
            if not remaining:
                del children[element]
        return FieldSet(self.members - members, children)

    def leaves(self) -> "FieldSet":
        """Return only the paths that are not a prefix of another path in the set."""
        children = {element: child.leaves() for element, child in self.children.items()}
        return FieldSet(self.members - self.children.keys(), children)

    def paths(self) -> Iterator[Path]:
        """Iterate over all paths: the members of a node first, then the paths below them."""
        return self._paths(())

    def _paths(self, prefix: Path) -> Iterator[Path]:
        for element in paths.ordered(self.members):
            yield (*prefix, element)
        for element in paths.ordered(self.children):
            yield from self.children[element]._paths((*prefix, element))

    __or__ = union
    __and__ = intersection
    __sub__ = difference

    def __iter__(self) -> Iterator[Path]:
        return self.paths()

    def __contains__(self, path: Path) -> bool:
        return self.has(path)

    def __len__(self) -> int:
        return len(self.members) + sum(map(len, self.children.values()))

    def __bool__(self) -> bool:
        return bool(self.members or self.children)

    def __hash__(self) -> int:
        return hash((self.members, frozenset(self.children.items())))

    def __str__(self) -> str:
        return "\n".join(map(paths.path_text, self.paths()))


EMPTY: Final = FieldSet()


def union_all(sets: Iterable[FieldSet]) -> FieldSet:
    """Return the union of many sets, in pairs: adding one after the other is quadratic."""
    remaining = [fields for fields in sets if fields]
    while len(remaining) > 1:
        last = remaining[-1:] if len(remaining) % 2 else []
        pairs = zip(remaining[::2], remaining[1::2], strict=False)
        remaining = [one | other for one, other in pairs] + last
    return remaining[0] if remaining else EMPTY


# Together these limits bound the memory that clients can fill with interned sets.
_INTERNED_SETS: Final = 256
_INTERNED_BYTES: Final = 8192
_interned = lru_cache(maxsize=_INTERNED_SETS)(FieldSet.from_json)


class SetBuilder:
    """Collects paths and builds a FieldSet."""

    __slots__ = ("children", "grafts", "members")

    def __init__(self) -> None:
        self.members: set[Element] = set()
        self.children: dict[Element, SetBuilder] = {}
        self.grafts: dict[Element, FieldSet] = {}

    def insert(self, path: Sequence[Element]) -> None:
        """Add the field at *path*; the empty path (the whole object) is ignored."""
        if path:
            self._parent(path).members.add(path[-1])

    def graft(self, path: Sequence[Element], below: FieldSet) -> None:
        """Add the field at *path* and all fields of *below* underneath it."""
        self.insert(path)
        if path and below:
            grafts = self._parent(path).grafts
            grafts[path[-1]] = grafts.get(path[-1], EMPTY) | below

    def build(self) -> FieldSet:
        if not (self.members or self.children or self.grafts):
            return EMPTY
        children = dict(self.grafts)
        for element, child in self.children.items():
            built = child.build()
            children[element] = children[element] | built if element in children else built
        return FieldSet(frozenset(self.members), children)

    def _parent(self, path: Sequence[Element]) -> "SetBuilder":
        node = self
        for element in path[:-1]:
            child = node.children.get(element)
            if child is None:
                child = node.children[element] = SetBuilder()
            node = child
        return node


class _Malformed(Exception):
    """FieldsV1 is malformed; `path` collects the keys from the problem up to the root."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []


def _decode(fields: Any, depth: int) -> tuple[FieldSet, bool]:
    """Return the set of a node, and whether the node itself is a member of its parent."""
    if fields is None:
        return EMPTY, True
    _check_node(fields, depth)
    members: list[Element] = []
    children: dict[Element, FieldSet] = {}
    repeated: dict[Element, list[FieldSet]] = {}
    for text, below in fields.items():
        element = text if isinstance(text, str) and text.startswith("f:") else _parse_element(text)
        if element is None:
            continue
        if not below and isinstance(below, dict):
            members.append(element)
            continue
        child, is_member = _decode_below(text, below, depth)
        if is_member:
            members.append(element)
        if child:
            if element in children:
                repeated.setdefault(element, [children[element]]).append(child)
            children[element] = child
    # Two spellings of one element (1 and 1.0) have the same canonical form.
    children.update((element, union_all(sets)) for element, sets in repeated.items())
    if members or children:
        return FieldSet(frozenset(members), children), "." in fields
    return EMPTY, True


def _check_node(fields: Any, depth: int) -> None:
    if not isinstance(fields, dict):
        raise _Malformed(f"expected an object, got {type(fields).__name__}")
    if depth >= MAX_DEPTH:
        raise _Malformed(f"nested more than {MAX_DEPTH} levels deep")


def _decode_below(text: str, fields: Any, depth: int) -> tuple[FieldSet, bool]:
    try:
        return _decode(fields, depth + 1)
    except _Malformed as error:
        error.path.append(text)
        raise


def _parse_element(text: Any) -> Element | None:
    if text == ".":
        return None
    if not isinstance(text, str):
        raise _Malformed(f"expected a string as key, got {type(text).__name__}")
    try:
        return paths.parse(text)
    except InvalidFieldSet as error:
        raise _Malformed(str(error)) from None


def _encode(node: FieldSet, out: FieldsV1) -> None:
    children = node.children
    for element in paths.ordered(node.members.union(children) if children else node.members):
        below: FieldsV1 = {}
        out[element] = below
        child = children.get(element)
        if child is not None:
            if element in node.members:
                below["."] = {}
            _encode(child, below)
