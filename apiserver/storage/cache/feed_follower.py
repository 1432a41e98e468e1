"""Feed follower: keeps the cache up to date with one feed of the store and a list per resource.

Each resource is listed at the revision that the cache has reached at that moment, and the changes
that arrive in the meantime are applied on top. So a resource registered later, on a running server,
is filled by the same steps as one registered before the start.

The feed starts some thousand revisions before the lists, as far back as the store allows. The lists
already include these changes, so they go only into the windows and to the watchers: clients of a
restarted server resume where they were. There are therefore two revisions: the one that the entries
have reached (`reached`), and the one up to which watchers have been notified (`notified`). They are
equal as soon as the feed has caught up.

A broken feed is reopened where it stopped, without loss. Only when the store has compacted the next
change is everything listed again, and every watch ends as Expired: a watch must not skip the
changes in between.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.collection import Collection
from apiserver.storage.cache.read_revision import ReachedRevision
from apiserver.storage.cache.unclaimed_changes import UnclaimedChanges
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
from apiserver.time_slices import TimeSlices

log = logging.getLogger(__name__)

STAGED: Final = 25
"""Records of a list processed before the time is checked."""

_NOTHING: Final = f"{ROOT}\0"
"""A prefix without keys: reading it checks whether the store still has a revision."""


class FeedFollower:
    """Applies the feed to the collections while `run` is running."""

    def __init__(self, backend: Backend, *, clock: MonotonicClock, limits: CacheLimits) -> None:
        self.reached = ReachedRevision()
        """The revision of the entries."""
        self.notified = 0
        """The revision up to which watchers have been notified."""
        self.unclaimed = UnclaimedChanges(limits.window, max_changes=limits.replay)
        self.ready = False
        """Whether every collection registered at the start has been filled.

        The cache stays ready while it lists again, as in Kubernetes: reads wait, and a compaction
        does not take all servers out of service at once.
        """
        self.error: Exception | None = None
        """The last error, until the feed delivers again."""
        self._backend = backend
        self._clock = clock
        self._limits = limits
        self._collections: dict[str, Collection] = {}
        self._feed: Feed | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._listing = asyncio.Semaphore(limits.lists)
        self._generation = 0
        # Whether the collections must be listed again.
        self._relist_needed = True
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
        """Register *collection* and schedule its list."""
        prefix = collection.keys.prefix
        if prefix in self._collections:
            raise ValueError(f"{prefix!r} is already registered")
        self._collections[prefix] = collection
        if self._generation:
            history = self.unclaimed.claim(prefix)
            collection.begin(self.reached.revision, after=history.start, pending=history.changes)
            self._fill_soon(collection)

    def remove(self, collection: Collection) -> None:
        """Unregister *collection* and end its watches.

        A collection that is registered in its place takes over its history.
        """
        prefix = collection.keys.prefix
        if self._collections.get(prefix) is collection:
            del self._collections[prefix]
            self.unclaimed.release(
                prefix, collection.history(), revision=self.notified, now=self._clock.now()
            )
        collection.filled.clear()
        collection.fanout.close()

    def collections(self) -> list[Collection]:
        return list(self._collections.values())

    async def request_progress(self) -> bool:
        """Request a progress report from the feed; False if no answer can be expected."""
        return self._feed is not None and await self._feed.request_progress()

    # Feed

    async def _follow(self) -> None:
        while True:
            try:
                if self._relist_needed:
                    revision = await self._backend.current_revision()
                    self._begin(revision, after=await self._replay_start(revision))
                await self._consume()
            except Compacted as error:
                log.warning(
                    "changes were compacted before the watch cache received them, relisting: %s",
                    error,
                )
                self.error = error
                self._relist_needed = True
            except StorageError as error:
                log.warning("the feed failed at revision %d: %s", self.reached.revision, error)
                self.error = error
            except Exception as error:
                log.exception("the feed failed at revision %d", self.reached.revision)
                self.error = error
            await self._clock.sleep(self._delay)
            self._delay = min(self._delay * 2, self._limits.retry_longest)

    async def _replay_start(self, revision: int) -> int:
        """Return the revision before *revision* from which the store can replay changes."""
        oldest = max(revision - self._limits.replay, 0)
        try:
            await self._backend.range(_NOTHING, limit=1, revision=oldest)
        except Compacted as error:
            return min(error.oldest, revision)
        return oldest

    def _begin(self, revision: int, *, after: int) -> None:
        self._generation += 1
        self._relist_needed = False
        self.ready = self.ready or not self._collections
        self.notified = after
        self.reached.advance(revision)
        self.unclaimed.reset(after)
        for collection in self.collections():
            collection.begin(revision, after=after)
            self._fill_soon(collection)

    async def _consume(self) -> None:
        async with self._backend.watch(ROOT, after=self.notified) as feed:
            self._feed = feed
            try:
                if self.notified < self.reached.revision:
                    # Without this, the feed would report nothing if nothing has changed.
                    await feed.request_progress()
                async for batch in feed:
                    await self._apply_batch(batch)
                    del batch  # Free the batch, which may be large, before waiting for the next.
            finally:
                self._feed = None

    async def _apply_batch(self, batch: ChangeBatch) -> None:
        self._delay = self._limits.retry_first
        if self.ready:
            self.error = None
        applied = 0
        while applied < len(batch.changes):
            applied = self._apply_some(batch.changes, applied)
            await asyncio.sleep(0)
        self._advance(batch.revision)

    def _apply_some(self, changes: Sequence[StoredChange], start: int) -> int:
        """Apply changes from *start* until it is the turn of other tasks; return where to go on."""
        # Until all changes are applied: a partly applied chunk must not be repeated.
        self._relist_needed = True
        now, time = self._clock.now(), TimeSlices()
        longest = start + self._limits.chunk
        end = start
        while end < len(changes):
            # The changes of one revision are not split.
            may_stop = end > start and changes[end].revision != changes[end - 1].revision
            if may_stop and (end >= longest or time.is_over):
                break
            self._apply(changes[end], now)
            end += 1
        self._advance(changes[end - 1].revision)
        self._relist_needed = False
        return end

    def _apply(self, change: StoredChange, now: float) -> None:
        if change.revision <= self.notified:
            return  # A reopened feed may repeat changes.
        collection = self._collections.get(resource_prefix(change.key))
        if collection is not None:
            collection.apply(change, now)
        else:
            self.unclaimed.append(change, now)

    def _advance(self, revision: int) -> None:
        self.notified = max(revision, self.notified)
        self.reached.advance(revision)

    # Lists

    def _fill_soon(self, collection: Collection) -> None:
        if self._tasks is not None:
            self._tasks.create_task(
                self._fill(collection, self._generation), name=f"list {collection.keys.prefix}"
            )

    async def _fill(self, collection: Collection, generation: int) -> None:
        delay = self._limits.retry_first
        while self._is_current(collection, generation):
            try:
                async with self._listing:
                    await self._list(collection, generation)
                break
            except StorageError as error:
                log.warning("failed to list %s: %s", collection.keys.prefix, error)
                self.error = error
            except Exception as error:
                log.exception("failed to list %s", collection.keys.prefix)
                self.error = error
            await self._clock.sleep(delay)
            delay = min(delay * 2, self._limits.retry_longest)
        if all(entry.filled.is_set() for entry in self._collections.values()):
            self.ready = True

    async def _list(self, collection: Collection, generation: int) -> None:
        revision = self.reached.revision
        collection.list_at(revision)
        prefix, start, time = collection.keys.prefix, "", TimeSlices()
        while self._is_current(collection, generation):
            page = await self._backend.range(
                prefix, start=start, limit=self._limits.page, revision=revision
            )
            if not self._is_current(collection, generation):
                return
            for position in range(0, len(page.records), STAGED):
                collection.stage(page.records[position : position + STAGED])
                await time.yield_loop()
                if not self._is_current(collection, generation):
                    return
            if not page.remaining:
                break
            start = page.records[-1].key + "\0"
        collection.finish()
        # Changes arrive meanwhile, but fewer than are applied in a time slice.
        while not collection.catch_up(self._clock.now(), max_changes=STAGED):
            await time.yield_loop()
            if not self._is_current(collection, generation):
                return

    def _is_current(self, collection: Collection, generation: int) -> bool:
        """Return whether the collection is still registered and not being listed again."""
        registered = self._collections.get(collection.keys.prefix) is collection
        return registered and generation == self._generation
