"""Keeping in step with the store: feeds that break, history that is gone, stores that are away."""

import asyncio
from typing import Any

import pytest

from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.feed_follower import FeedFollower
from apiserver.storage.cache.watch_cache import (
    EntrySelection,
    Freshness,
    RevisionExpired,
    WatchCache,
)
from apiserver.storage.clock import SystemMonotonicClock
from apiserver.storage.interface import Backend, Compacted, KeyPage, StoredChange, Unavailable
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.cache.cached import (
    GADGETS,
    PODS,
    JsonView,
    Switchboard,
    caching,
    hear,
    pod,
    put,
    remove,
    synced,
    texts,
    value,
)

EVERYTHING = EntrySelection()
QUICK = CacheLimits(retry_first=0.001, retry_longest=0.002)


@pytest.mark.parametrize("error", [None, Unavailable("away"), OSError("cut")])
async def test_a_feed_that_breaks_goes_on_where_it_stopped(
    backend: Backend, error: Exception | None
) -> None:
    board = Switchboard(backend)
    async with (
        caching(board, limits=QUICK) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        first = await put(backend, pod("a"), value("a"))
        assert await hear(watcher, 1) == [("ADDED", "a", first)]
        board.cut(error)
        second = await put(backend, pod("b"), value("b"))

        assert await hear(watcher, 1) == [("ADDED", "b", second)]
        assert board.opened[-1] >= first
        assert len(board.opened) == 2


async def test_a_feed_that_repeats_itself_is_not_repeated_to_watchers(backend: Backend) -> None:
    board = Switchboard(backend)
    async with (
        caching(board, limits=QUICK) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        first = await put(backend, pod("a"), value("a"))
        await synced(cache, backend)
        board.rewind = 1
        board.cut(None)
        second = await put(backend, pod("b"), value("b"))
        await synced(cache, backend)

        assert await hear(watcher, 2) == [("ADDED", "a", first), ("ADDED", "b", second)]


async def test_a_change_applied_by_halves_is_not_built_upon(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong inside, watchers are ended and everything is listed anew."""
    async with (
        caching(backend, limits=QUICK) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):

        def fail(_: object) -> None:
            monkeypatch.undo()
            raise RuntimeError("a mistake of ours")

        monkeypatch.setattr(pods.collection.fanout, "publish", fail)
        await put(backend, pod("a"), value("a"))

        with pytest.raises(RevisionExpired):
            await anext(watcher)
        assert texts((await pods.list(EVERYTHING)).entries) == ["a"]


async def test_a_cut_between_any_two_events_is_not_noticed(backend: Backend) -> None:
    board = Switchboard(backend)
    async with (
        caching(board, limits=QUICK) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        expected = []
        for number in range(20):
            revision = await put(backend, pod(f"p{number}"), value(str(number)))
            expected.append(("ADDED", str(number), revision))
            if number % 3 == 0:
                board.cut(Unavailable("again"))

        assert await hear(watcher, 20) == expected


async def test_the_last_error_is_known_until_the_feed_is_back(backend: Backend) -> None:
    board = Switchboard(backend)
    async with caching(board, limits=QUICK) as (cache, _):
        assert cache.error is None
        away = Unavailable("away")
        board.cut(away)
        while cache.error is None:
            await asyncio.sleep(0)
        assert cache.error is away
        assert cache.ready

        await put(backend, pod("a"), value("a"))
        await synced(cache, backend)

        assert cache.error is None


async def test_lost_history_ends_watches_and_fills_the_cache_anew(backend: Backend) -> None:
    board = Switchboard(backend)
    view = JsonView()
    await put(backend, pod("kept"), value("kept"))
    await put(backend, pod("changed"), value("before"))
    await put(backend, pod("deleted"), value("deleted"))
    async with (
        caching(board, limits=QUICK, view=view) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        kept = await pods.get("kept", namespace="default")
        looked, last = view.looked, cache.revision
        board.silent = True
        await put(backend, pod("changed"), value("after"))
        await remove(backend, pod("deleted"))
        newest = await put(backend, pod("made"), value("made"))
        await backend.compact(newest)
        board.silent = False
        board.cut(None)

        with pytest.raises(RevisionExpired) as raised:
            await anext(watcher)
        listing = await pods.list(EVERYTHING)

        assert (raised.value.requested, raised.value.oldest) == (last, newest)
        assert texts(listing.entries) == ["after", "kept", "made"]
        assert listing.revision == newest
        assert listing.entries[1] is kept, "what has not changed is not looked at again"
        assert view.looked == looked + 2
        with pytest.raises(RevisionExpired):
            async with pods.watch(EVERYTHING, "v1", after=last):
                pass
        async with pods.watch(EVERYTHING, "v1", after=newest) as resumed:
            live = await put(backend, pod("a"), value("a"))
            assert await hear(resumed, 1) == [("ADDED", "a", live)]


async def test_what_was_queued_is_told_before_the_watch_expires(backend: Backend) -> None:
    board = Switchboard(backend)
    async with (
        caching(board, limits=QUICK) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        revision = await put(backend, pod("a"), value("a"))
        await synced(cache, backend)
        board.cut(Compacted(revision, oldest=revision + 1))
        while cache.error is None:
            await asyncio.sleep(0)

        assert await hear(watcher, 1) == [("ADDED", "a", revision)]
        with pytest.raises(RevisionExpired):
            await anext(watcher)


async def test_compaction_does_not_hurt_a_cache_that_keeps_up(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as slow,
    ):
        expected = []
        for number in range(10):
            revision = await put(backend, pod("a"), value(str(number)))
            expected.append(("MODIFIED" if number else "ADDED", str(number), revision))
            await synced(cache, backend)
            await backend.compact(revision)

        assert await hear(slow, 10) == expected


class Torn:
    """A backend that fails some calls of `range` before the real one answers."""

    def __init__(self, backend: Backend, *failures: Exception) -> None:
        self.backend = backend
        self.failures = list(failures)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        page = await self.backend.range(prefix, start=start, limit=limit, revision=revision)
        if self.failures and start:
            raise self.failures.pop()
        return page


async def test_a_list_that_fails_halfway_is_begun_again(backend: Backend) -> None:
    for number in range(6):
        await put(backend, pod(f"p{number}"), value(str(number)))
    torn = Torn(backend, Unavailable("away"), Compacted(1, oldest=2), OSError("cut"))
    limits = CacheLimits(page=2, retry_first=0.001)

    async with caching(torn, limits=limits) as (_, pods):
        assert texts((await pods.list(EVERYTHING)).entries) == list("012345")

    assert torn.failures == []


class Slow:
    """A backend whose lists of pods are held up after they were read."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.gate = asyncio.Event()
        self.held = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        page = await self.backend.range(prefix, start=start, limit=limit, revision=revision)
        if prefix == PODS.prefix:
            self.held.set()
            await self.gate.wait()
        return page


async def test_what_changes_while_a_resource_is_listed_is_laid_on_top(backend: Backend) -> None:
    for name in ("kept", "changed", "deleted"):
        await put(backend, pod(name), value(name))
    slow = Slow(backend)
    cache = WatchCache(slow)
    pods = cache.register(PODS, JsonView())
    async with cache:
        await slow.held.wait()
        await put(backend, pod("changed"), value("once"))
        await put(backend, pod("changed"), value("twice"))
        await remove(backend, pod("deleted"))
        await put(backend, pod("brief"), value("brief"))
        await remove(backend, pod("brief"))
        await put(backend, pod("made"), value("made"))
        slow.gate.set()

        assert texts((await pods.list(EVERYTHING)).entries) == ["twice", "kept", "made"]


async def test_a_resource_removed_while_it_is_listed_is_not_filled(backend: Backend) -> None:
    slow = Slow(backend)
    cache = WatchCache(slow)
    pods = cache.register(PODS, JsonView())
    async with cache:
        await slow.held.wait()
        cache.unregister(pods)
        slow.gate.set()
        await cache.register(GADGETS, JsonView()).list(EVERYTHING)

        assert not pods.collection.filled.is_set()


async def test_history_lost_while_a_resource_is_listed_lists_it_once_more(
    backend: Backend,
) -> None:
    await put(backend, pod("a"), value("a"))
    slow = Slow(backend)
    board = Switchboard(slow)
    cache = WatchCache(board, limits=QUICK)
    pods = cache.register(PODS, JsonView())
    async with cache:
        await slow.held.wait()
        while not board.opened:
            await asyncio.sleep(0)
        slow.held.clear()
        await put(backend, pod("b"), value("b"))
        board.cut(Compacted(1, oldest=2))
        await slow.held.wait()
        slow.gate.set()

        assert texts((await pods.list(EVERYTHING)).entries) == ["a", "b"]


async def test_a_cache_that_lists_again_stays_ready(backend: Backend) -> None:
    await put(backend, pod("a"), value("a"))
    slow = Slow(backend)
    slow.gate.set()
    board = Switchboard(slow)
    cache = WatchCache(board, limits=QUICK)
    pods = cache.register(PODS, JsonView())
    async with cache:
        await pods.list(EVERYTHING)
        slow.held.clear()
        slow.gate.clear()
        board.cut(Compacted(1, oldest=2))
        await slow.held.wait()

        assert (cache.ready, pods.collection.filled.is_set()) == (True, False)
        slow.gate.set()
        assert texts((await pods.list(EVERYTHING)).entries) == ["a"]


async def test_a_store_that_is_away_at_the_start_is_waited_for(backend: Backend) -> None:
    await put(backend, pod("a"), value("a"))
    board = Switchboard(backend, failure=Unavailable("not yet"))
    cache = WatchCache(board, limits=QUICK)
    pods = cache.register(PODS, JsonView())
    async with cache:
        while cache.error is None:
            await asyncio.sleep(0)
        assert not cache.ready
        board.failure = None

        assert texts((await pods.list(EVERYTHING, at=Freshness.ANY)).entries) == ["a"]
        assert cache.ready


async def test_two_servers_on_one_store_see_the_same(pair: tuple[Backend, Backend]) -> None:
    """Two backends on one store know of each other as little as two processes do."""
    here, there = pair
    async with (
        caching(here) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
        caching(there) as (_, other),
    ):
        first = await put(there, pod("a"), value("a"))
        entry = await pods.get("a", namespace="default")
        second = await put(here, pod("b"), value("b"))

        assert entry is not None
        assert entry.record.revision == first
        assert texts((await other.list(EVERYTHING)).entries) == ["a", "b"]
        assert await hear(watcher, 2) == [("ADDED", "a", first), ("ADDED", "b", second)]


async def test_changes_of_one_revision_are_applied_together() -> None:
    changes = [
        StoredChange(str(number), b"", None, revision, revision)
        for number, revision in enumerate((1, 2, 2, 2, 3, 4, 4))
    ]

    backend = await open_sqlite("sqlite://:memory:")
    clock = SystemMonotonicClock()
    follower = FeedFollower(backend, clock=clock, limits=CacheLimits(chunk=2))

    first = follower._apply_some(changes, 0)
    second = follower._apply_some(changes, first)

    assert (first, second) == (4, 7)
    await backend.close()
