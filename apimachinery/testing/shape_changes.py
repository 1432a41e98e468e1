"""Shape changes in words: what differs between a recorded shape and the class of today."""

from collections.abc import Iterator, Sequence

from apimachinery.evolution.document_upgrade import DocumentUpgrade
from apimachinery.evolution.field_tree import FieldTree, TreeField, field_tree
from apimachinery.evolution.tree_changes import compare
from apimachinery.evolution.upgrade_steps import UpgradeError, UpgradeStep
from apimachinery.meta.types import Object


def describe_changes(
    cls: type[Object], stored: FieldTree, steps: Sequence[UpgradeStep]
) -> Iterator[str]:
    """Yield one line per changed field, and what to declare for those that could lose values."""
    tree = field_tree(cls)
    old, new = dict(stored.paths()), dict(tree.paths())
    changes = compare(old, new)
    for path in changes.added:
        yield f"  added {path}: {tree.describe(new[path].type)}"
    for path in changes.removed:
        yield f"  removed {path}: {stored.describe(old[path].type)}"
    for path in changes.retyped:
        types = f"{stored.describe(old[path].type)} -> {tree.describe(new[path].type)}"
        yield f"  retyped {path}: {types}"
    for path in changes.altered:
        yield f"  altered {path}: {_alteration(old[path], new[path], stored, tree)}"
    if not (changes.endangered or changes.added or changes.altered):
        yield "  no field differs, only whether undeclared fields are kept"
    yield from _advice(cls, stored, steps)


def _alteration(old: TreeField, new: TreeField, stored: FieldTree, tree: FieldTree) -> str:
    parts = []
    if stored.describe(old.type) != tree.describe(new.type):
        parts.append(f"{stored.describe(old.type)} -> {tree.describe(new.type)}")
    for name in ("default", "required", "omits_empty", "nullable"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            parts.append(f"{name.replace('_', ' ')} {before!r} -> {after!r}")
    return ", ".join(parts)


def _advice(cls: type[Object], stored: FieldTree, steps: Sequence[UpgradeStep]) -> Iterator[str]:
    try:
        changes = DocumentUpgrade(cls, stored, steps).changes
    except UpgradeError as error:
        yield f"  {error}"
        return
    call = f"scheme.add_upgrade({cls.__name__},"
    for path in changes.removed:
        yield (
            f"  Values at {path} would be lost: declare {call} renames={{{path!r}: ...}}) or"
            f" {call} dropped=({path!r},))"
        )
    for path in changes.retyped:
        change = f"{call} retyped={{{path!r}: function}})"
        yield f"  Values at {path} may not be readable: declare {change}"
