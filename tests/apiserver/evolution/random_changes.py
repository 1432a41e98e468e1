"""Random changes: the edits that people make to a type, with and without saying what they mean."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.apiserver.evolution.random_types import (
    EMPTY,
    NON_EMPTY,
    RETYPED,
    Kind,
    TypeField,
    TypeRelease,
)

Edit = Callable[[TypeRelease, int, int], TypeRelease]
"""Returns the next release; two numbers choose what is changed, and how."""


def add(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Add a field, in the spec or inside of another field."""
    parents = [None, *(each.id for each in before.fields.values() if each.kind not in EMPTY)]
    kinds: tuple[Kind, ...] = (
        *("string", "integer", "number", "strings", "pairs"),
        *("object", "objects", "mapping"),
    )
    added = _new_field(before, kinds[how % len(kinds)], parents[pick % len(parents)])
    return _with(before, added)


def add_default(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Add a field whose default is not empty, or a required one."""
    parents = [None, *(each.id for each in before.fields.values() if each.kind not in EMPTY)]
    kind: Kind = "string" if how % 2 else "integer"
    added = _new_field(before, kind, parents[pick % len(parents)])
    if how % 3 == 0 and _can_require(before, added):
        return _with(before, replace(added, required=True))
    return _with(before, replace(added, default=NON_EMPTY[kind]))


def remove(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Remove a field and say nothing about its values."""
    return _without(before, _pick(before, pick))


def drop(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Remove a field and declare that its values are dropped."""
    gone = _pick(before, pick)
    after = _without(before, gone, consent=True)
    return _declare(after, dropped=(before.path(gone),))


def remove_with_flag(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Remove a field; the operator accepts the loss."""
    gone = _pick(before, pick)
    after = _without(before, gone, consent=True)
    return replace(after, accepted=before.accepted | {gone.id})


def rename(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    each = _pick(before, pick)
    return _moved(before, each, each.parent)


def rename_silently(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Rename a field without a word: to anybody else, one is removed and another added."""
    leaf = _leaf(before, pick)
    if leaf is None:
        return before
    number = _next_id(before)
    return _with(_without(before, leaf), replace(leaf, id=number, name=f"f{number}"))


def move(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Move a field into another object, or out of it; elements of lists stay what they are."""
    leaf = _leaf(before, pick)
    if leaf is None or leaf.required:
        return before
    scope = before.scope(leaf)
    targets = [scope] + [
        each.id
        for each in before.fields.values()
        if each.kind == "object" and before.scope(each) == scope
    ]
    return _moved(before, leaf, targets[how % len(targets)])


def narrow_or_widen(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Change which values are allowed; a default must remain one of them."""
    leaf = _scalar(before, pick)
    return before if leaf is None else _with(before, replace(leaf, narrowed=not leaf.narrowed))


def change_default(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    leaf = _scalar(before, pick)
    if leaf is None or leaf.required:
        return before
    default = NON_EMPTY[leaf.kind] if leaf.default is None else None
    return _with(before, replace(leaf, default=default))


def require(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Make an optional field a required one, or the other way round."""
    leaf = _scalar(before, pick)
    if leaf is None or not _can_require(before, leaf):
        return before
    return _with(before, replace(leaf, required=not leaf.required, default=None))


def retype(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Change the type and say how values are converted."""
    leaf = _scalar(before, pick)
    if leaf is None or leaf.has_function:
        return before
    after = _retyped(before, leaf, has_function=True)
    function = RETYPED[leaf.kind, after.fields[leaf.id].kind]
    if how % 2:
        return _declare(after, retyped={before.path(leaf): function})
    return _declare(after, retyped={before.path(leaf): lambda value: function(value)})


def retype_silently(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Change the type and say nothing about the values."""
    leaf = _scalar(before, pick)
    return before if leaf is None or leaf.has_function else _retyped(before, leaf)


def widen_type(before: TypeRelease, pick: int, how: int) -> TypeRelease:
    """Change an integer to a number, which can hold all its values."""
    leaf = _scalar(before, pick)
    if leaf is None or leaf.kind != "integer" or leaf.narrowed:
        return before
    default = None if leaf.default is None else NON_EMPTY["number"]
    return _with(before, replace(leaf, kind="number", default=default))


EDITS: Mapping[str, Edit] = {
    edit.__name__: edit
    for edit in (
        *(add, add_default, remove, drop, remove_with_flag, rename, rename_silently, move),
        *(narrow_or_widen, change_default, require, retype, retype_silently, widen_type),
    )
}


def _can_require(before: TypeRelease, each: TypeField) -> bool:
    """Return whether a field may be required: an object with a default has none such."""
    return each.parent is None or before.fields[each.parent].kind != "object"


def _next_id(before: TypeRelease) -> int:
    return max((*before.fields, *before.gone)) + 1


def _new_field(before: TypeRelease, kind: Kind, parent: int | None) -> TypeField:
    number = _next_id(before)
    return TypeField(number, f"f{number}", kind, parent)


def _pick(before: TypeRelease, pick: int) -> TypeField:
    fields = list(before.fields.values())
    return fields[pick % len(fields)]


def _leaf(before: TypeRelease, pick: int) -> TypeField | None:
    return before.leaves[pick % len(before.leaves)] if before.leaves else None


def _scalar(before: TypeRelease, pick: int) -> TypeField | None:
    scalars = [leaf for leaf in before.leaves if leaf.kind in ("string", "integer")]
    return scalars[pick % len(scalars)] if scalars else None


def _with(before: TypeRelease, *fields: TypeField) -> TypeRelease:
    return replace(before, fields={**before.fields, **{each.id: each for each in fields}})


def _without(before: TypeRelease, gone: TypeField, *, consent: bool = False) -> TypeRelease:
    removed = {each.id: each for each in before.subtree(gone)}
    return replace(
        before,
        fields={each.id: each for each in before.fields.values() if each.id not in removed},
        gone={**before.gone, **removed},
        consented=before.consented | removed.keys() if consent else before.consented,
    )


def _declare(after: TypeRelease, **upgrade: Any) -> TypeRelease:
    return replace(after, upgrades=(*after.upgrades, upgrade))


def _moved(before: TypeRelease, each: TypeField, parent: int | None) -> TypeRelease:
    """Give a field a name that no other has had, and declare that."""
    number = max((*before.fields, *before.gone)) + len(before.upgrades) + 1
    after = _with(before, replace(each, name=f"{each.name.split('m')[0]}m{number}", parent=parent))
    renames = {before.path(each): after.path(after.fields[each.id])}
    return _declare(after, renames=renames)


def _retyped(before: TypeRelease, leaf: TypeField, *, has_function: bool = False) -> TypeRelease:
    kind: Kind = "integer" if leaf.kind == "string" else "string"
    default = None if leaf.default is None else NON_EMPTY[kind]
    return _with(
        before,
        replace(leaf, kind=kind, default=default, narrowed=False, has_function=has_function),
    )
