"""The watch cache: every read and every watch of a resource, answered from memory.

Writes never touch it. It listens to the backend's feed and to nothing else, which makes any number
of servers on one store correct. What it knows of an object is in `entry.py`, of a resource in
`collection.py`, how it keeps in step with the store in `follow.py`, how it tells watchers in
`fanout.py`; here is what the rest of the server calls.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Self

from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.collection import Collection, CollectionListing
from apiserver.storage.cache.direct_reads import direct_entry, direct_listing
from apiserver.storage.cache.entry import Entry, EntrySelection, View
from apiserver.storage.cache.fanout import Fanout, Watcher
from apiserver.storage.cache.feed_follower import Follower
from apiserver.storage.cache.read_revision import (
    At,
    Exact,
    Freshness,
    NotOlderThan,
    NotReady,
    RevisionExpired,
    Shared,
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
    ) -> None:
        self._backend = backend
        self._clock = clock or SystemMonotonicClock()
        self._limits = limits or CacheLimits()
        self._follower = Follower(backend, clock=self._clock, limits=self._limits)
        self._freshness = _Freshness(backend, self._follower, self._limits)
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
        """Whether every resource registered before the start has been listed."""
        return self._follower.ready

    @property
    def revision(self) -> int:
        """How far the cache has come; 0 before the first list."""
        return self._follower.reached.revision

    @property
    def told(self) -> int:
        """How far watchers have been told; less than `revision` while they are told the past."""
        return self._follower.told

    @property
    def error(self) -> Exception | None:
        """What last went wrong between the cache and the store, until something goes well."""
        return self._follower.error

    async def wait(self, revision: int, *, seconds: float) -> bool:
        """Whether the cache comes as far as *revision* within that time."""
        return await self._follower.reached.wait(revision, seconds=seconds)

    def register(self, keys: ResourceKeys, view: View) -> "CachedResource":
        """Begin to cache a resource; this may be done while the cache runs."""
        collection = Collection(
            keys,
            view,
            window=Window(self._limits.window),
            fanout=Fanout(view, self._limits.watch),
        )
        self._follower.add(collection)
        return CachedResource(self._backend, collection, self._freshness, self._limits)

    def unregister(self, resource: "CachedResource") -> None:
        """Forget a resource; its watches end."""
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
                    collection.fanout.bookmark(due, self._follower.told)
            self._follower.unclaimed.prune(now)
            slot += 1


class CachedResource:
    """Reads and watches of one resource.

    Besides what the backend raises, every method may raise NotReady, when the resource has not
    been listed within the time a read may wait.
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
        """One object, or None if there is none at that time."""
        key = self.collection.keys.object_key(name, namespace=namespace)
        revision = at.revision if isinstance(at, Exact) else None
        if await self._prepared(at):
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
        """The objects that match, from one snapshot: at most *limit* of them, from key *start*."""
        revision = at.revision if isinstance(at, Exact) else None
        if await self._prepared(at):
            return self.collection.select(
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
        """Everything that happens after a revision, or Expired if that is too long ago.

        A revision that has not happened yet is waited for in silence.
        """
        await self._filled()
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
        """What there is, as ADDED events, and then everything that happens after that.

        With *bookmarks* a bookmark says where what there is ends and what happens begins.
        """
        listing = await self.list(selection, at=at)
        await self._filled()
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
        """Give *watcher* a bookmark out of turn, as before its time is up."""
        if self.collection.filled.is_set():
            self.collection.fanout.bookmark([watcher], self._freshness.told)

    async def _prepared(self, at: At) -> bool:
        """Wait until the cache can answer; False means that only the backend can."""
        filled = self.collection.filled
        if not filled.is_set():
            await self._filled()
        if at is Freshness.NEWEST:
            # The path of nearly all reads: one future to wait for, and nothing else.
            newest = await self._freshness.newest.ask()
            if newest > self._freshness.current and not await self._freshness.catch_up(newest):
                return False
        elif at is not Freshness.ANY and not await self._freshness.reach(at.revision):
            return False
        if not filled.is_set():
            await self._filled()
        return not isinstance(at, Exact) or self.collection.knows(at.revision)

    async def _filled(self) -> None:
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
    """Brings the cache to where a read needs it, or says that it will not get there."""

    def __init__(self, backend: Backend, follower: Follower, limits: CacheLimits) -> None:
        self.newest = Shared(backend.current_revision)
        """The revision of the newest write; one question for all who wait."""
        self._follower = follower
        self._reached = follower.reached
        self._limits = limits
        self._overdue = 0
        self._progress = Shared(follower.request_progress)

    @property
    def current(self) -> int:
        return self._reached.revision

    @property
    def told(self) -> int:
        return self._follower.told

    async def close(self) -> None:
        await self.newest.close()
        await self._progress.close()

    async def reach(self, revision: int) -> bool:
        """Wait for a revision that may not have happened, or raise TooLargeRevision."""
        reached, newest = self._reached, self.newest
        if await reached.wait(revision, seconds=self._limits.grace):
            return True
        known = await newest.ask()
        if known < revision and await reached.wait(revision, seconds=self._limits.wait):
            return True
        known = max(known, await newest.ask())
        if known < revision:
            raise TooLargeRevision(revision, current=known)
        return await self.catch_up(revision)

    async def catch_up(self, revision: int) -> bool:
        """Wait for a revision that has happened; False means that the feed may never bring it.

        Its write may be none of ours: in a store shared with others the feed then brings nothing,
        unless it is asked how far it is.
        """
        reached = self._reached
        if self._overdue < revision and await reached.wait(revision, seconds=self._limits.grace):
            return True
        if not await self._progress.ask():
            # The next read at the same revision need not wait to find the same out.
            self._overdue = max(self._overdue, revision)
            return revision <= reached.revision
        return await reached.wait(revision, seconds=self._limits.progress)
