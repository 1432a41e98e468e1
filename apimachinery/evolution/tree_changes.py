"""Tree changes: what differs between the shape of stored objects and the class of today."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from apimachinery.evolution.field_tree import TreeField, TypeTree, element_type

Fields = Mapping[str, TreeField]
"""Every field of a tree by its path."""

_ACCEPTS: Final[Mapping[str, frozenset[str]]] = {
    "number": frozenset(("integer",)),
    "int-or-string": frozenset(("integer", "string")),
    "quantity": frozenset(("integer", "number")),
    "micro-time": frozenset(("time",)),
    "document": frozenset(("fields-v1",)),
}
"""For a type of today, the older types all of whose values it can read."""


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """The paths that differ, of stored objects on the one side and of today's class on the other.

    Only the topmost path of an added or removed part is listed.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    retyped: tuple[str, ...]
    """Fields whose stored values may be of a type that cannot be read as today's."""
    altered: tuple[str, ...]
    """Fields with another default or omission, or of a wider type."""

    @property
    def endangered(self) -> tuple[str, ...]:
        """The paths at which stored values could be lost or unreadable."""
        return (*self.removed, *self.retyped)


def compare(stored: Fields, today: Fields) -> TreeChanges:
    """Return the changes from the fields of stored objects to the fields of today."""
    common = stored.keys() & today.keys()
    # Below a field that is untyped today, old values are kept as they are.
    untyped = {path for path in common if _is_untyped(today[path].type)}
    gone = {p for p in stored.keys() - common if untyped.isdisjoint(parents(p))}
    retyped = {path for path in common if not can_read(today[path].type, stored[path].type)}
    altered = {path for path in common - retyped if not _is_same(stored[path], today[path])}
    return TreeChanges(
        added=_topmost(today.keys() - common),
        removed=_topmost(gone),
        retyped=_topmost(retyped),
        altered=tuple(sorted(altered)),
    )


def reads_the_same(stored: Fields, today: Fields, changes: TreeChanges) -> bool:
    """Return whether a document of the stored shape means the same today, byte for byte.

    That is so if nothing but fields was added that are omitted while they are empty.
    """
    if changes.removed or changes.retyped or changes.altered:
        return False
    return all(
        today[path].omits_empty and not today[path].default and not today[path].computed
        for path in changes.added
    )


def _topmost(paths: set[str]) -> tuple[str, ...]:
    return tuple(
        sorted(path for path in paths if not any(parent in paths for parent in parents(path)))
    )


def parents(path: str) -> list[str]:
    """Return the paths of the objects that contain *path*, outermost first."""
    steps = path.split(".")
    return [".".join(steps[:count]) for count in range(1, len(steps))]


def can_read(today: TypeTree, stored: TypeTree) -> bool:
    """Return whether every value of the stored type can be read as the type of today."""
    match today, stored:
        case "any", _:
            return True
        case _, {"union": alternatives}:
            return all(can_read(today, alternative) for alternative in alternatives)
        case {"union": alternatives}, _:
            return any(can_read(alternative, stored) for alternative in alternatives)
        case str(), str():
            names = "integer|string" if stored == "int-or-string" != today else stored
            return all(_accepts(today, name) for name in names.split("|"))
        case "document", {"ref": _} | {"map": _}:
            return True
        case {"map": "any"}, {"ref": _} | "document":
            return True
        case {"list": item}, {"list": old_item}:
            return can_read(item, old_item)
        case {"map": item}, {"map": old_item}:
            return can_read(item, old_item)
        case _:
            # The fields of objects are compared by their own paths.
            return isinstance(today, dict) and "ref" in today and "ref" in stored


def _accepts(today: str, stored: str) -> bool:
    return any(stored == name or stored in _ACCEPTS.get(name, ()) for name in today.split("|"))


def _is_untyped(tree: TypeTree) -> bool:
    """Return whether values, or the elements of a list or map, may be any JSON."""
    while isinstance(tree, dict) and "ref" not in tree:
        tree = element_type(tree)
    return tree in ("any", "document")


def _is_same(stored: TreeField, today: TreeField) -> bool:
    return is_same_type(stored.type, today.type) and all(
        getattr(stored, name) == getattr(today, name)
        for name in ("default", "required", "omits_empty", "nullable", "computed")
    )


def is_same_type(first: TypeTree, second: TypeTree) -> bool:
    """Return whether two types are the same, whatever the fields of their objects are."""
    return _without_numbers(first) == _without_numbers(second)


def _without_numbers(tree: TypeTree) -> TypeTree:
    match tree:
        case {"ref": _}:
            return "object"
        case {"list": item}:
            return {"list": _without_numbers(item)}
        case {"map": item}:
            return {"map": _without_numbers(item)}
        case {"union": alternatives}:
            return {"union": [_without_numbers(alternative) for alternative in alternatives]}
        case _:
            return tree
