"""Keeping the cache in step with the store: one feed over everything, and a list per resource.

Each resource is listed at the revision that the cache has reached at that moment, and the changes
that come in meanwhile are laid on top. So a resource registered later, on a running server, is
filled by the very same steps as those registered before the start.

The feed begins some thousand revisions before the lists, as far back as the store remembers. What
it tells of that time is in the lists already, and goes only into the windows and to the watchers:
clients whose server was restarted go on where they were. There are therefore two numbers: how far
the entries have come (`reached`), and how far watchers have been told (`told`), which is the same
as soon as the feed has caught up.

A feed that breaks is opened again where it stopped, and nobody notices. Only when the store has
forgotten what comes next is everything listed anew, and every watch ended as Expired: what
happened in between cannot be told any more, and a watch must not pretend.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import Final

from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.collection import Collection
from apiserver.storage.cache.read_revision import Reached
from apiserver.storage.cache.unclaimed_changes import Unclaimed
from apiserver.storage.clock import MonotonicClock
from apiserver.storage.interface import (
    Backend,
    ChangeBatch,
    Compacted,
    Feed,
    StorageError,
    StoredChange,
)
from apiserver.storage.keys import ROOT, resource_prefix

log = logging.getLogger(__name__)

_NOTHING: Final = f"{ROOT}\0"
"""What no key begins with: asking for it finds out whether the store can still be asked."""


class Follower:
    """Applies the feed to the collections, for as long as `run` runs."""

    def __init__(self, backend: Backend, *, clock: MonotonicClock, limits: CacheLimits) -> None:
        self.reached = Reached()
        """How new the entries are."""
        self.told = 0
        """Every change up to this revision has been told to the watchers."""
        self.unclaimed = Unclaimed(limits.window, most=limits.replay)
        self.ready = False
        """Whether everything registered at the (last) start is filled."""
        self.error: Exception | None = None
        """What went wrong last, until the feed brings something again."""
        self._backend = backend
        self._clock = clock
        self._limits = limits
        self._collections: dict[str, Collection] = {}
        self._feed: Feed | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._listing = asyncio.Semaphore(limits.lists)
        self._generation = 0
        # Whether the collections have to be listed anew.
        self._lost = True
        self._delay = limits.retry_first

    async def run(self) -> None:
        """Follow the store until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                await self._follow()
        finally:
            self._tasks = None
            self.ready = False
            for collection in self._collections.values():
                collection.fanout.close()

    def add(self, collection: Collection) -> None:
        """Begin to keep *collection*; it is filled as soon as that can be done."""
        prefix = collection.keys.prefix
        if prefix in self._collections:
            raise ValueError(f"{prefix!r} is registered already")
        self._collections[prefix] = collection
        if self._generation:
            after, waiting = self.unclaimed.start, self.unclaimed.of(prefix)
            collection.begin(self.reached.revision, after=after, waiting=waiting)
            self._fill_soon(collection)

    def remove(self, collection: Collection) -> None:
        """Keep *collection* no longer; its watches end."""
        if self._collections.get(collection.keys.prefix) is collection:
            del self._collections[collection.keys.prefix]
            # What has happened to it until now is in nobody's hands any more.
            self.unclaimed.reset(self.told)
        collection.filled.clear()
        collection.fanout.close()

    def collections(self) -> list[Collection]:
        return list(self._collections.values())

    async def request_progress(self) -> bool:
        """Ask the feed to say how far it is; False if there is no answer to wait for."""
        return self._feed is not None and await self._feed.request_progress()

    # The feed

    async def _follow(self) -> None:
        while True:
            try:
                if self._lost:
                    revision = await self._backend.current_revision()
                    self._begin(revision, after=await self._remembered(revision))
                await self._listen()
            except Compacted as error:
                log.warning("changes were compacted before they were seen, listing anew: %s", error)
                self.error = error
                self._lost = True
            except StorageError as error:
                log.warning("the feed broke at revision %d: %s", self.reached.revision, error)
                self.error = error
            except Exception as error:
                log.exception("the feed broke at revision %d", self.reached.revision)
                self.error = error
            await self._clock.sleep(self._delay)
            self._delay = min(self._delay * 2, self._limits.retry_longest)

    async def _remembered(self, revision: int) -> int:
        """The revision before *revision* from which on the store shall tell what happened."""
        oldest = max(revision - self._limits.replay, 0)
        try:
            await self._backend.range(_NOTHING, limit=1, revision=oldest)
        except Compacted as error:
            return min(error.oldest, revision)
        return oldest

    def _begin(self, revision: int, *, after: int) -> None:
        self._generation += 1
        self._lost = False
        self.ready = not self._collections
        self.told = after
        self.reached.advance(revision)
        self.unclaimed.reset(after)
        for collection in self.collections():
            collection.begin(revision, after=after)
            self._fill_soon(collection)

    async def _listen(self) -> None:
        async with self._backend.watch(ROOT, after=self.told) as feed:
            self._feed = feed
            try:
                if self.told < self.reached.revision:
                    # Without it the feed would say nothing if nothing has happened.
                    await feed.request_progress()
                async for batch in feed:
                    await self._take(batch)
                    del batch  # It may be large, and the next one far away.
            finally:
                self._feed = None

    async def _take(self, batch: ChangeBatch) -> None:
        self._delay = self._limits.retry_first
        if self.ready:
            self.error = None
        for chunk in _chunks(batch.changes, self._limits.chunk):
            self._apply(chunk)
            await asyncio.sleep(0)
        self._advance(batch.revision)

    def _apply(self, changes: Sequence[StoredChange]) -> None:
        self._lost = True  # until all of them are applied: half a batch is not to be repeated
        now = self._clock.now()
        for change in changes:
            if change.revision <= self.told:
                continue  # A feed opened again may repeat itself.
            collection = self._collections.get(resource_prefix(change.key))
            if collection is not None:
                collection.apply(change, now)
            else:
                self.unclaimed.append(change, now)
        self._advance(changes[-1].revision)
        self._lost = False

    def _advance(self, revision: int) -> None:
        self.told = max(revision, self.told)
        self.reached.advance(revision)

    # The lists

    def _fill_soon(self, collection: Collection) -> None:
        if self._tasks is not None:
            self._tasks.create_task(
                self._fill(collection, self._generation), name=f"list {collection.keys.prefix}"
            )

    async def _fill(self, collection: Collection, generation: int) -> None:
        delay = self._limits.retry_first
        while self._wanted(collection, generation):
            try:
                async with self._listing:
                    await self._list(collection, generation)
                break
            except StorageError as error:
                log.warning("%s cannot be listed: %s", collection.keys.prefix, error)
                self.error = error
            except Exception as error:
                log.exception("%s cannot be listed", collection.keys.prefix)
                self.error = error
            await self._clock.sleep(delay)
            delay = min(delay * 2, self._limits.retry_longest)
        if all(each.filled.is_set() for each in self._collections.values()):
            self.ready = True

    async def _list(self, collection: Collection, generation: int) -> None:
        revision = self.reached.revision
        collection.list_at(revision)
        prefix, start = collection.keys.prefix, ""
        while self._wanted(collection, generation):
            page = await self._backend.range(
                prefix, start=start, limit=self._limits.page, revision=revision
            )
            if not self._wanted(collection, generation):
                return
            collection.stage(page.records)
            if not page.remaining:
                break
            start = page.records[-1].key + "\0"
        collection.finish()
        # Twice as much as can come in meanwhile, so that there is an end to it.
        while not collection.catch_up(self._clock.now(), most=2 * self._limits.chunk):
            await asyncio.sleep(0)
            if not self._wanted(collection, generation):
                return

    def _wanted(self, collection: Collection, generation: int) -> bool:
        """Whether nobody has removed it or begun to list it anew."""
        kept = self._collections.get(collection.keys.prefix) is collection
        return kept and generation == self._generation


def _chunks(changes: Sequence[StoredChange], size: int) -> Iterator[Sequence[StoredChange]]:
    """Parts of about *size* that never separate changes of one revision."""
    start, count = 0, len(changes)
    while start < count:
        end = min(start + size, count)
        while end < count and changes[end].revision == changes[end - 1].revision:
            end += 1
        yield changes[start:end]
        start = end
