"""Pruning: dropping the fields of a value that its schema does not know.

Each place of a schema becomes one function that looks only at what can be there, so a value is
walked once and a subtree in which everything is kept is not walked at all.
"""

from collections.abc import Callable, Mapping
from typing import Any

from apimachinery.meta.types import ObjectMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.structural.node import META_FIELDS, Node

Prune = Callable[[Any, str, list[str]], None]
"""Drop from a value at a path what is unknown, and note the paths of what was dropped."""


def compile_prune(node: Node, *, root: bool = False) -> Prune | None:
    """What drops unknown fields from values of *node*; None if every value is kept as it is.

    *root* is the place of a whole resource, whose metadata is not the schema's business.
    """
    members = {name: compile_prune(part) for name, part in node.properties.items()}
    kept = META_FIELDS if root else _TYPE if node.embedded else frozenset[str]()
    if node.embedded and not root:
        members["metadata"] = _prune_metadata
    others = compile_prune(node.additional) if node.additional else _drop_all
    items = _compile_items(node)
    if node.preserves_unknown:
        return _preserving(node, members, kept, items)
    if node.type in _SCALARS or node.int_or_string:
        # A value of the wrong type is refused by validation, with everything that is in it.
        return None
    return _pruning(node, members, kept, others, items)


_TYPE = META_FIELDS - {"metadata"}
_SCALARS = frozenset(("string", "integer", "number", "boolean"))


def _pruning(
    node: Node,
    members: Mapping[str, Prune | None],
    kept: frozenset[str],
    others: Prune | None,
    items: Prune | None,
) -> Prune:
    is_map = node.is_map

    def prune(value: Any, path: str, dropped: list[str]) -> None:
        if isinstance(value, dict):
            for name in list(value):
                if name in kept:
                    continue
                if name in members:
                    below = members[name]
                elif is_map:
                    below = others
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


def _preserving(
    node: Node,
    members: Mapping[str, Prune | None],
    kept: frozenset[str],
    items: Prune | None,
) -> Prune | None:
    """Unknown members stay, with all that is in them; known ones are looked into."""
    known = {name: below for name, below in members.items() if below and name not in kept}
    others = compile_prune(node.additional) if node.additional else None
    if not known and others is None and items is None:
        return None

    def prune(value: Any, path: str, dropped: list[str]) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                below = known.get(name, others if name not in members else None)
                if below is not None and name not in kept:
                    below(member, _join(path, name), dropped)
        elif isinstance(value, list) and items is not None:
            for position, item in enumerate(value):
                items(item, f"{path}[{position}]", dropped)

    return prune


def _compile_items(node: Node) -> Prune | None:
    if node.items is not None:
        return compile_prune(node.items)
    return None if node.preserves_unknown else _drop_all


def _prune_metadata(value: Any, path: str, dropped: list[str]) -> None:
    """Metadata is the same in every resource."""
    if isinstance(value, dict):
        known = {field.wire for field in fields_of(ObjectMeta)}
        for name in value.keys() - known:
            dropped.append(_join(path, name))
            del value[name]


def _drop_all(value: Any, path: str, dropped: list[str]) -> None:
    """Nothing is known of this place, so no member of it is either."""
    if isinstance(value, dict):
        dropped += [_join(path, name) for name in value]
        value.clear()
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _drop_all(item, f"{path}[{position}]", dropped)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
