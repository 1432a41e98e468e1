"""Claiming: which objects a controller's object keeps, by its selector.

An object that matches the selector and has no controller is adopted; one that no longer matches is
released. Nothing that is being deleted is adopted, and nobody who is being deleted adopts: the
owner is read from the server once more before an adoption, because a cache may be late.
"""

from typing import TypeVar

from apimachinery.errors import NotFound
from apimachinery.meta.owner_references import remove_owner, set_controller
from apimachinery.meta.types import Object
from apimachinery.selectors.label_selector import Selector
from client.controller.context import Context

T = TypeVar("T", bound=Object)
OwnerT = TypeVar("OwnerT", bound=Object)


async def claim(ctx: Context[OwnerT], owner: OwnerT, cls: type[T], selector: Selector) -> list[T]:
    """Return the objects of *cls* that *owner* controls, after it has adopted and released some.

    Raises Conflict if one of them has changed meanwhile, so that the reconcile is repeated.
    """
    kept = []
    is_deleted = owner.metadata.deletion_timestamp is not None
    for child in await ctx.children(cls):
        if selector.matches(child.metadata.labels):
            kept.append(child)
        elif not is_deleted:
            await _release(ctx, owner, child)
    if is_deleted or selector.empty:
        return kept
    orphans = [
        orphan
        for orphan in await ctx.orphans(cls)
        if orphan.metadata.deletion_timestamp is None and selector.matches(orphan.metadata.labels)
    ]
    if orphans and await _may_adopt(ctx, owner):
        kept += [await _adopt(ctx, owner, orphan) for orphan in orphans]
    return kept


async def _may_adopt(ctx: Context[OwnerT], owner: OwnerT) -> bool:
    try:
        newest = (await ctx.objects.get(owner.metadata.name)).metadata
    except NotFound:
        return False
    return newest.uid == owner.metadata.uid and newest.deletion_timestamp is None


async def _adopt(ctx: Context[OwnerT], owner: OwnerT, orphan: T) -> T:
    set_controller(owner, orphan, ctx.kind)
    return await ctx.client.of(type(orphan), namespace=orphan.metadata.namespace).update(orphan)


async def _release(ctx: Context[OwnerT], owner: OwnerT, child: T) -> None:
    remove_owner(child, owner)
    try:
        await ctx.client.of(type(child), namespace=child.metadata.namespace).update(child)
    except NotFound:
        ctx.log.debug("%s was deleted before it was released", child.metadata.name)
