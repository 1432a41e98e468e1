"""Watch cache: serves reads and watches of all resources from memory.

Writes bypass it. Its only input is the backend's feed, so any number of servers can share a store.
`entry` caches an object, `collection` a resource; `feed_follower` keeps them up to date and
`fanout` notifies watchers. This module is the interface for the rest of the server.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Self

from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.collection import Collection, CollectionListing
from apiserver.storage.cache.direct_reads import direct_entry, direct_listing
from apiserver.storage.cache.entry import Entry, EntrySelection, View
from apiserver.storage.cache.event_log import Watcher
from apiserver.storage.cache.fanout import Fanout
from apiserver.storage.cache.feed_follower import FeedFollower
from apiserver.storage.cache.listing import list_entries
from apiserver.storage.cache.read_revision import (
    At,
    Exact,
    Freshness,
    NotOlderThan,
    NotReady,
    RevisionExpired,
    SharedCall,
    TooLargeRevision,
)
from apiserver.storage.cache.window import Window
from apiserver.storage.clock import MonotonicClock, SystemMonotonicClock
from apiserver.storage.interface import Backend
from apiserver.storage.keys import ResourceKeys

__all__ = [
    "CachedResource",
    "CollectionListing",
    "Entry",
    "EntrySelection",
    "Exact",
    "Freshness",
    "NotOlderThan",
    "NotReady",
    "RevisionExpired",
    "TooLargeRevision",
    "View",
    "WatchCache",
    "Watcher",
]


class WatchCache:
    """The caches of all resources of one process; runs from `async with`."""

    def __init__(
        self,
        backend: Backend,
        *,
        clock: MonotonicClock | None = None,
        limits: CacheLimits | None = None,
        on_lag: Callable[[int], None] | None = None,
    ) -> None:
        """*on_lag* is called with the lag of the cache, in revisions, at consistent reads."""
        self._backend = backend
        self._clock = clock or SystemMonotonicClock()
        self._limits = limits or CacheLimits()
        self._follower = FeedFollower(backend, clock=self._clock, limits=self._limits)
        self._freshness = _Freshness(backend, self._follower, self._limits, on_lag)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._follower.run(), name="watch cache"),
            asyncio.create_task(self._tick(), name="watch cache bookmarks"),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        outcomes = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._freshness.close()
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    @property
    def ready(self) -> bool:
        """Whether every resource registered before the start has been listed once."""
        return self._follower.ready

    @property
    def revision(self) -> int:
        """The revision that the cache has reached; 0 before the first list."""
        return self._follower.reached.revision

    @property
    def notified(self) -> int:
        """The revision up to which watchers are notified; lower than `revision` during a replay."""
        return self._follower.notified

    @property
    def error(self) -> Exception | None:
        """The last error of the connection to the store, None after the next success."""
        return self._follower.error

    async def wait(self, revision: int, *, seconds: float) -> bool:
        """Return whether the cache reaches *revision* within *seconds*."""
        return await self._follower.reached.wait(revision, seconds=seconds)

    def register(self, keys: ResourceKeys, view: View) -> "CachedResource":
        """Cache a resource; may also be called while the cache is running."""
        collection = Collection(
            keys,
            view,
            window=Window(self._limits.window),
            fanout=Fanout(view, self._limits.watch),
        )
        self._follower.add(collection)
        return CachedResource(self._backend, collection, self._freshness, self._limits)

    def unregister(self, resource: "CachedResource") -> None:
        """Stop caching a resource and end its watches."""
        self._follower.remove(resource.collection)

    async def _tick(self) -> None:
        watch = self._limits.watch
        slot = 0
        while True:
            await self._clock.sleep(watch.bookmark_every / watch.bookmark_slots)
            now = self._clock.now()
            for collection in self._follower.collections():
                collection.window.prune(now)
                if collection.filled.is_set():
                    due = collection.fanout.in_slot(slot)
                    collection.fanout.bookmark(due, self._follower.notified)
            self._follower.unclaimed.prune(now)
            slot += 1


class CachedResource:
    """Reads and watches of one resource.

    Besides errors of the backend, every method may raise NotReady, if the resource has not been
    listed within the time a read may wait.
    """

    def __init__(
        self,
        backend: Backend,
        collection: Collection,
        freshness: "_Freshness",
        limits: CacheLimits,
    ) -> None:
        self.collection = collection
        self._backend = backend
        self._freshness = freshness
        self._limits = limits

    async def get(
        self, name: str, *, namespace: str = "", at: At = Freshness.NEWEST
    ) -> Entry | None:
        """Return one object, or None if it does not exist at that revision."""
        key = self.collection.keys.object_key(name, namespace=namespace)
        revision = at.revision if isinstance(at, Exact) else None
        if await self._prepare(at):
            return self.collection.entry(key, revision=revision)
        return await direct_entry(self._backend, self.collection, key, revision=revision)

    async def list(
        self,
        selection: EntrySelection,
        *,
        at: At = Freshness.NEWEST,
        limit: int = 0,
        start: str = "",
    ) -> CollectionListing:
        """List matching objects from one snapshot: at most *limit*, from the key *start*."""
        revision = at.revision if isinstance(at, Exact) else None
        if await self._prepare(at):
            return await list_entries(
                self.collection,
                selection,
                current=self._freshness.current,
                start=start,
                limit=limit,
                revision=revision,
            )
        return await direct_listing(
            self._backend, self.collection, selection, start=start, limit=limit, revision=revision
        )

    @asynccontextmanager
    async def watch(
        self, selection: EntrySelection, form: Hashable, *, after: int, bookmarks: bool = False
    ) -> AsyncIterator[Watcher]:
        """Watch every change after a revision. Raises RevisionExpired if it is too old.

        A watch after a revision in the future waits for it without sending events.
        """
        await self._wait_until_filled()
        watcher = self.collection.fanout.attach(
            selection, form, window=self.collection.window, after=after, bookmarks=bookmarks
        )
        try:
            yield watcher
        finally:
            self.collection.fanout.detach(watcher)

    @asynccontextmanager
    async def watch_from_state(
        self,
        selection: EntrySelection,
        form: Hashable,
        *,
        at: Freshness | NotOlderThan = Freshness.NEWEST,
        bookmarks: bool = False,
    ) -> AsyncIterator[Watcher]:
        """Watch the current objects as ADDED events, followed by every later change.

        With *bookmarks*, a bookmark marks the end of the initial events.
        """
        listing = await self.list(selection, at=at)
        await self._wait_until_filled()
        watcher = self.collection.fanout.attach(
            selection,
            form,
            window=self.collection.window,
            after=listing.revision,
            bookmarks=bookmarks,
            initial=listing.entries,
        )
        try:
            yield watcher
        finally:
            self.collection.fanout.detach(watcher)

    def bookmark(self, watcher: Watcher) -> None:
        """Send *watcher* a bookmark out of turn, as when its timeout is near."""
        if self.collection.filled.is_set():
            self.collection.fanout.bookmark([watcher], self._freshness.notified)

    async def _prepare(self, at: At) -> bool:
        """Wait until the cache can serve the read; return False if only the backend can."""
        filled = self.collection.filled
        if not filled.is_set():
            await self._wait_until_filled()
        if at is Freshness.NEWEST:
            # The path of nearly all reads: it awaits one future and nothing else.
            newest = await self._freshness.newest.result()
            if newest > self._freshness.current and not await self._freshness.catch_up(newest):
                return False
        elif at is not Freshness.ANY and not await self._freshness.reach(at.revision):
            return False
        if not filled.is_set():
            await self._wait_until_filled()
        return not isinstance(at, Exact) or self.collection.covers(at.revision)

    async def _wait_until_filled(self) -> None:
        filled = self.collection.filled
        if filled.is_set():
            return
        try:
            async with asyncio.timeout(self._limits.wait):
                while not filled.is_set():
                    await filled.wait()
        except TimeoutError:
            raise NotReady(self.collection.keys.prefix) from None


class _Freshness:
    """Waits until the cache reaches the revision that a read requires."""

    def __init__(
        self,
        backend: Backend,
        follower: FeedFollower,
        limits: CacheLimits,
        on_lag: Callable[[int], None] | None,
    ) -> None:
        self.newest = SharedCall(self._fetch_newest)
        """The revision of the newest write, fetched once for all waiting reads."""
        self._backend = backend
        self._follower = follower
        self._on_lag = on_lag
        self._reached = follower.reached
        self._limits = limits
        self._overdue = 0
        self._progress = SharedCall(follower.request_progress)

    @property
    def current(self) -> int:
        return self._reached.revision

    @property
    def notified(self) -> int:
        return self._follower.notified

    async def close(self) -> None:
        await self.newest.close()
        await self._progress.close()

    async def _fetch_newest(self) -> int:
        newest = await self._backend.current_revision()
        if self._on_lag is not None:
            self._on_lag(max(newest - self._reached.revision, 0))
        return newest

    async def reach(self, revision: int) -> bool:
        """Wait for a revision that may be in the future. Raises TooLargeRevision."""
        reached, newest = self._reached, self.newest
        if await reached.wait(revision, seconds=self._limits.grace):
            return True
        newest_revision = await newest.result()
        if newest_revision < revision and await reached.wait(revision, seconds=self._limits.wait):
            return True
        newest_revision = max(newest_revision, await newest.result())
        if newest_revision < revision:
            raise TooLargeRevision(revision, current=newest_revision)
        return await self.catch_up(revision)

    async def catch_up(self, revision: int) -> bool:
        """Wait for a revision that is not in the future; False if the feed may never reach it.

        The write may be outside our prefix: in a store shared with other programs, the feed then
        delivers nothing unless progress is requested.
        """
        reached = self._reached
        if self._overdue < revision and await reached.wait(revision, seconds=self._limits.grace):
            return True
        if not await self._progress.result():
            # Later reads at the same revision need not wait to get the same result.
            self._overdue = max(self._overdue, revision)
            return revision <= reached.revision
        return await reached.wait(revision, seconds=self._limits.progress)
