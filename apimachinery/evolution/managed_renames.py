"""Renames in managedFields: owners of a field stay its owners under its new name."""

from collections.abc import Iterable, Iterator
from typing import Any

from apimachinery.evolution.document_paths import ABSENT, Fields, nodes_at, take
from apimachinery.evolution.field_tree import FieldTree
from apimachinery.evolution.upgrade_steps import Rename

FieldSet = dict[str, Any]
"""A set of fields in the form of fieldsV1."""


def rename_managed_fields(owned: FieldSet, version: FieldTree, renames: Iterable[Rename]) -> None:
    """Rename fields in a set, in place, where the fields of *version* were renamed, too.

    A version that still has the old name, or never had the new one, keeps its paths.
    """
    fields = Fields.of(version)
    for rename in _whole_way(list(renames)):
        if rename.old not in fields and rename.new in fields:
            _rename(owned, rename, fields)


def _whole_way(renames: list[Rename]) -> Iterator[Rename]:
    """Yield the renames to the last name that each field got: a version has no other."""
    for position, rename in enumerate(renames):
        new = rename.new
        for later in renames[position + 1 :]:
            if new == later.old or new.startswith(f"{later.old}."):
                new = later.new + new.removeprefix(later.old)
        yield Rename(rename.old, new)


class OwnedForm:
    """Sets of fields: the elements of lists and maps are entered by any key."""

    def field(self, node: FieldSet, name: str) -> FieldSet | None:
        return node.get(f"f:{name}")

    def elements(self, node: FieldSet, *, is_list: bool) -> list[FieldSet]:
        return [inner for key, inner in node.items() if key != "." and self.is_object(inner)]

    def is_object(self, node: FieldSet) -> bool:
        return isinstance(node, dict)


def _rename(owned: FieldSet, rename: Rename, fields: Fields) -> None:
    shared, old, new = rename.split()
    for holder in nodes_at(owned, shared, fields, OwnedForm()):
        value = take(holder, [f"f:{step}" for step in old])
        if value is not ABSENT:
            for step in new[:-1]:
                holder = holder.setdefault(f"f:{step}", {})
            holder[f"f:{new[-1]}"] = value
