"""The garbage collector: what an owner's deletion means for what it owns.

- *Background*: once an owner is gone, what only it owned is deleted.
- *Foreground*: the owner stays, with the finalizer `foregroundDeletion`, until everything that
  blocks its deletion is gone; that is deleted first.
- *Orphan*: the owner stays, with the finalizer `orphan`, until nothing names it as owner any more.

The loop remembers who owns whom from what it sees, but never acts on memory alone: whether an
owner exists is asked of the store, and orphans are looked for in all that is stored. So it may
run in every worker, and start over at any time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from apimachinery.errors import Conflict, NotFound
from apimachinery.meta.types import ObjectMeta, OwnerReference
from apimachinery.schema import GroupVersionResource
from apis.core.controllers.revisits import FIRST_DELAY, LAST_DELAY, Revisits

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"

Policy = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Where an object is."""

    resource: GroupVersionResource
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as it is now, or, without metadata, one that is gone."""

    uid: str
    identity: Identity
    metadata: ObjectMeta | None


class Objects(Protocol):
    """What the collector does to objects of any kind. Writes raise Conflict and NotFound."""

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[Seen]]:
        """Every object that is owned or being deleted, then every one that becomes so or goes.

        It may end whenever it likes: the collector then starts over.
        """

    async def get(self, identity: Identity) -> ObjectMeta | None:
        """The newest metadata of an object."""

    async def owner(self, reference: OwnerReference, namespace: str) -> ObjectMeta | None:
        """The newest metadata of what a reference in *namespace* names, if it is that object.

        Raises LookupError for a kind that is not served: nobody can say then.
        """

    async def owned_by(self, uid: str) -> Iterable[Identity]:
        """Everything that names *uid* as an owner, in the newest state."""

    async def change(
        self, identity: Identity, uid: str, edit: Callable[[ObjectMeta], None]
    ) -> None:
        """Edit the metadata of the object that has this uid."""

    async def delete(self, identity: Identity, uid: str, policy: Policy) -> None:
        """Delete the object that has this uid."""


class GarbageCollector:
    """Run `run()` in one worker or in all of them."""

    def __init__(
        self,
        objects: Objects,
        *,
        first_delay: float = FIRST_DELAY,
        last_delay: float = LAST_DELAY,
    ) -> None:
        self._objects = objects
        self._known: dict[str, Identity] = {}
        self._owners: dict[str, tuple[str, ...]] = {}
        self._dependents: dict[str, dict[str, bool]] = {}
        """Owner -> what it owns -> whether that blocks the owner's deletion."""
        self._revisits = Revisits(
            "collecting", self.sync, first_delay=first_delay, last_delay=last_delay
        )

    async def run(self) -> None:
        """Collect garbage until cancelled."""
        await self._revisits.run(self._follow)

    async def sync(self, uid: str) -> bool:
        """Do what can be done for one object now; False if it must be looked at again."""
        identity = self._known.get(uid)
        metadata = await self._objects.get(identity) if identity else None
        if identity is None or metadata is None or metadata.uid != uid:
            return True
        try:
            if metadata.deletion_timestamp is not None:
                await self._let_go(identity, metadata)
            elif metadata.owner_references:
                await self._judge(identity, metadata)
        except NotFound:
            return True
        except Conflict:
            return False
        return True

    # What is seen

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        self._known.clear()
        self._owners.clear()
        self._dependents.clear()
        async with self._objects.watch() as seen:
            async for one in seen:
                for uid in self._note(one):
                    self._revisits.wake(uid, tasks)

    def _note(self, seen: Seen) -> list[str]:
        """Remember who owns whom, and say who is to be looked at."""
        before = self._owners.pop(seen.uid, ())
        for owner in before:
            self._dependents[owner].pop(seen.uid, None)
            if not self._dependents[owner]:
                del self._dependents[owner]
        if seen.metadata is None:
            self._known.pop(seen.uid, None)
            return [*before, *self._dependents.get(seen.uid, ())]
        self._known[seen.uid] = seen.identity
        references = seen.metadata.owner_references
        self._owners[seen.uid] = tuple(reference.uid for reference in references)
        for reference in references:
            owned = self._dependents.setdefault(reference.uid, {})
            owned[seen.uid] = bool(reference.block_owner_deletion)
        # An owner that waits for its dependents may have one less to wait for.
        return [seen.uid, *(set(before) - set(self._owners[seen.uid]))]

    # What is done

    async def _let_go(self, identity: Identity, metadata: ObjectMeta) -> None:
        """Take our finalizers off an object that is being deleted, once we may."""
        if ORPHAN in metadata.finalizers:
            for dependent in await self._objects.owned_by(metadata.uid):
                await self._disown(dependent, {metadata.uid})
            await self._objects.change(identity, metadata.uid, _without_finalizer(ORPHAN))
        elif FOREGROUND in metadata.finalizers:
            owned = self._dependents.get(metadata.uid, {})
            for uid in list(owned):
                await self._delete_dependent(uid)
            if not any(self._dependents.get(metadata.uid, {}).values()):
                await self._objects.change(identity, metadata.uid, _without_finalizer(FOREGROUND))

    async def _delete_dependent(self, uid: str) -> None:
        identity = self._known.get(uid)
        metadata = await self._objects.get(identity) if identity else None
        if (
            identity is None
            or metadata is None
            or metadata.uid != uid
            or metadata.deletion_timestamp is not None
        ):
            return
        policy: Policy = "Foreground" if uid in self._dependents else "Background"
        try:
            await self._objects.delete(identity, uid, policy)
        except NotFound:
            return

    async def _judge(self, identity: Identity, metadata: ObjectMeta) -> None:
        """Delete an object whose owners are all gone; else forget those that are."""
        kept: list[OwnerReference] = []
        lost: set[str] = set()
        for reference in metadata.owner_references:
            if await self._stands(reference, metadata.namespace):
                kept.append(reference)
            else:
                lost.add(reference.uid)
        if kept and lost:
            await self._disown(identity, lost)
        elif lost:
            await self._objects.delete(identity, metadata.uid, "Background")

    async def _stands(self, reference: OwnerReference, namespace: str) -> bool:
        """Whether an owner exists and is not waiting for its dependents to be deleted."""
        try:
            owner = await self._objects.owner(reference, namespace)
        except LookupError:
            return True  # a kind that is not served now may be served later
        if owner is None:
            return False
        return owner.deletion_timestamp is None or FOREGROUND not in owner.finalizers

    async def _disown(self, identity: Identity, owners: set[str]) -> None:
        metadata = await self._objects.get(identity)
        if metadata is None:
            return

        def edit(meta: ObjectMeta) -> None:
            meta.owner_references = [ref for ref in meta.owner_references if ref.uid not in owners]

        try:
            await self._objects.change(identity, metadata.uid, edit)
        except NotFound:
            return


def _without_finalizer(finalizer: str) -> Callable[[ObjectMeta], None]:
    def edit(meta: ObjectMeta) -> None:
        meta.finalizers = [one for one in meta.finalizers if one != finalizer]

    return edit
