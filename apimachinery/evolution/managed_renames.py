"""Renames in managedFields: owners of a field stay its owners under its new name."""

from collections.abc import Iterable, Iterator
from typing import Any

from apimachinery.evolution.field_tree import FieldTree, TypeTree
from apimachinery.evolution.upgrade_steps import Rename

FieldSet = dict[str, Any]
"""A set of fields in the form of fieldsV1."""


def rename_managed_fields(owned: FieldSet, version: FieldTree, renames: Iterable[Rename]) -> None:
    """Rename fields in a set, in place, where the fields of *version* were renamed, too.

    A version that still has the old name, or never had the new one, keeps its paths.
    """
    for rename in renames:
        if version.find(rename.old) is None and version.find(rename.new) is not None:
            _rename(owned, rename, version)


def _rename(owned: FieldSet, rename: Rename, version: FieldTree) -> None:
    old, new = rename.old.split("."), rename.new.split(".")
    shared = 0
    while shared < min(len(old), len(new)) - 1 and old[shared] == new[shared]:
        shared += 1
    for holder in list(_holders(owned, old[:shared], version)):
        value = _take(holder, old[shared:])
        if value is not None:
            for step in new[shared:-1]:
                holder = holder.setdefault(f"f:{step}", {})
            holder[f"f:{new[-1]}"] = value


def _holders(owned: FieldSet, steps: list[str], version: FieldTree) -> Iterator[FieldSet]:
    """Yield the sets of every object at a path, through the elements of lists and maps."""
    holders = [owned]
    for count, step in enumerate(steps, start=1):
        declared = version.find(".".join(steps[:count]))
        tree: TypeTree = declared.type if declared is not None else "object"
        holders = [
            inner
            for holder in holders
            if isinstance(holder.get(f"f:{step}"), dict)
            for inner in _elements(holder[f"f:{step}"], tree)
        ]
    yield from holders


def _elements(owned: FieldSet, tree: TypeTree) -> Iterator[FieldSet]:
    if isinstance(tree, dict) and "ref" not in tree:
        item = tree.get("list") or tree["map"]
        for key, inner in owned.items():
            if key != "." and isinstance(inner, dict):
                yield from _elements(inner, item)
    else:
        yield owned


def _take(owned: FieldSet, steps: list[str]) -> Any:
    """Remove and return the set of a nested field, with the sets that are empty without it."""
    first, *rest = (f"f:{step}" for step in steps)
    if not rest:
        return owned.pop(first, None)
    inner = owned.get(first)
    if not isinstance(inner, dict):
        return None
    value = _take(inner, [step.removeprefix("f:") for step in rest])
    if value is not None and not inner:
        del owned[first]
    return value
