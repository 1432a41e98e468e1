"""First shape: what objects from before the catalogue looked like, as far as it can be told.

They name no shape. If they have values that today's class does not declare, the declared steps tell
what these were: the first shape is today's, with the old names in place of those that the steps
gave them. So a rename, a drop and an accepted loss work for such objects as for all others.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from apimachinery.evolution.field_tree import FieldTree, TreeField, TreeType, TypeTree, reference
from apimachinery.evolution.upgrade_steps import Drop, Rename, Rewrite, UpgradeStep


def first_tree(
    today: FieldTree, undeclared: Collection[str], steps: Iterable[UpgradeStep]
) -> FieldTree:
    """Return a tree with fields for *undeclared* paths, and without those that *steps* replace."""
    if not undeclared:
        return today
    named: list[str] = []
    replaced: list[str] = []
    known = list(undeclared)
    for step in steps:
        old, new = _paths(step)
        if any(_is_within(path, known) for path in old):
            named += [path for path in old if _is_within(path, undeclared)]
            replaced += new
            known += new
    whole = [path for path in undeclared if not any(_is_within(name, [path]) for name in named)]
    edited = _EditedTree(today)
    for path in sorted(set(replaced)):
        edited.remove(path)
    for path in sorted({*named, *whole}):
        edited.add(path)
    return edited.tree()


def _paths(step: UpgradeStep) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths that a step takes values from, and those that it gives them to."""
    match step:
        case Rename(old=old, new=new):
            return (old,), (new,)
        case Drop(path=path):
            return (path,), ()
        case Rewrite(reads=reads, writes=writes):
            return reads, writes
        case _:
            return (), ()


def _is_within(path: str, outer: Iterable[str]) -> bool:
    return any(path == other or path.startswith(f"{other}.") for other in outer)


class _EditedTree:
    """A tree whose fields are changed at single paths, although paths may share a type."""

    def __init__(self, tree: FieldTree) -> None:
        self._fields = [dict(node.fields) for node in tree.types]
        self._open = [node.open for node in tree.types]
        self._open[0] = True  # there may be more values that no field tells about

    def tree(self) -> FieldTree:
        pairs = zip(self._fields, self._open, strict=True)
        return FieldTree([TreeType(fields, is_open) for fields, is_open in pairs])

    def add(self, path: str) -> None:
        """Add a field of any type; objects that would contain it are added, too."""
        *outer, name = path.split(".")
        holder: dict[str, TreeField] | None = self._fields[0]
        for step in outer:
            holder = None if holder is None else self._unshared(holder, step, add=True)
        if holder is not None:
            holder.setdefault(name, TreeField("any"))

    def remove(self, path: str) -> None:
        *outer, name = path.split(".")
        holder: dict[str, TreeField] | None = self._fields[0]
        for step in outer:
            holder = None if holder is None else self._unshared(holder, step, add=False)
        if holder is not None:
            holder.pop(name, None)

    def _unshared(
        self, holder: dict[str, TreeField], name: str, *, add: bool
    ) -> dict[str, TreeField] | None:
        """Return the fields of a nested object, of a type that no other path has."""
        entry = holder.get(name)
        if entry is None and not add:
            return None
        entry = entry or TreeField({"ref": 0})
        number = reference(entry.type)
        if number is None:
            return None
        copied = dict(self._fields[number]) if name in holder else {}
        self._fields.append(copied)
        self._open.append(self._open[number] and name in holder)
        holder[name] = replace(entry, type=_with_reference(entry.type, len(self._fields) - 1))
        return copied


def _with_reference(tree: TypeTree, number: int) -> TypeTree:
    match tree:
        case {"ref": _}:
            return {"ref": number}
        case {"list": item}:
            return {"list": _with_reference(item, number)}
        case {"map": item}:
            return {"map": _with_reference(item, number)}
        case {"union": alternatives}:
            return {"union": [_with_reference(alternative, number) for alternative in alternatives]}
        case _:
            return tree
