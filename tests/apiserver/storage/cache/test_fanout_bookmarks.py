"""Bookmarks: once a minute, to those who asked, and only if there is something to say."""

from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import CacheLimits, WatchLimits
from apiserver.storage.cache.watch_cache import EntrySelection
from apiserver.storage.interface import Backend
from tests.apiserver.storage.cache.cached import (
    HandClock,
    caching,
    hear,
    is_waiting,
    synced,
    take,
    write,
)

EVERYTHING = EntrySelection()


async def test_bookmarks_tell_how_far_the_cache_is(backend: Backend) -> None:
    clock = HandClock()
    elsewhere = EntrySelection(namespace="elsewhere")
    async with (
        caching(backend, clock=clock) as (cache, pods),
        pods.watch(elsewhere, "v1", after=cache.revision, bookmarks=True) as asked,
        pods.watch(elsewhere, "v1", after=cache.revision) as did_not_ask,
    ):
        revision = await write(backend, "a")
        await synced(cache, backend)

        await clock.advance(60)

        assert await hear(asked, 1) == [("BOOKMARK", "", revision)]
        await clock.advance(120)
        assert await is_waiting(asked)
        assert await is_waiting(did_not_ask)


async def test_bookmarks_do_not_repeat_what_an_event_has_told(backend: Backend) -> None:
    clock = HandClock()
    async with (
        caching(backend, clock=clock) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision, bookmarks=True) as watcher,
    ):
        await write(backend, "a")
        await take(watcher, 1)

        await clock.advance(120)

        assert await is_waiting(watcher)


async def test_bookmarks_come_after_the_events_they_cover(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EntrySelection(name="a"), "v1", after=cache.revision, bookmarks=True) as watcher,
    ):
        seen = await write(backend, "a")
        other = await write(backend, "b")
        await synced(cache, backend)

        pods.bookmark(watcher)

        assert await hear(watcher, 2) == [("ADDED", "a", seen), ("BOOKMARK", "", other)]


async def test_a_newer_bookmark_takes_the_place_of_one_that_waits(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EntrySelection(name="x"), "v1", after=cache.revision, bookmarks=True) as watcher,
    ):
        for name in "abc":
            newest = await write(backend, name)
            await synced(cache, backend)
            pods.bookmark(watcher)

        assert await hear(watcher, 1) == [("BOOKMARK", "", newest)]


async def test_bookmarks_never_end_a_stream(backend: Backend) -> None:
    limits = CacheLimits(watch=WatchLimits(queue=1))
    async with (
        caching(backend, limits=limits) as (cache, pods),
        pods.watch(EntrySelection(name="a"), "v1", after=cache.revision, bookmarks=True) as watcher,
    ):
        await write(backend, "a")
        await write(backend, "b")
        await synced(cache, backend)

        pods.bookmark(watcher)

        assert [event.type for event in await take(watcher, 1)] == [EventType.ADDED]
        assert not watcher.slow


async def test_bookmarks_are_spread_over_the_minute(backend: Backend) -> None:
    clock = HandClock()
    elsewhere = EntrySelection(namespace="elsewhere")
    async with caching(backend, clock=clock) as (cache, pods):
        watches = [
            pods.watch(elsewhere, "v1", after=cache.revision, bookmarks=True) for _ in range(60)
        ]
        watchers = [await watch.__aenter__() for watch in watches]
        await write(backend, "a")
        await synced(cache, backend)

        await clock.advance(30)
        waiting = [await is_waiting(watcher) for watcher in watchers]

        assert 25 <= sum(waiting) <= 35
        for watch in watches:
            await watch.__aexit__(None, None, None)
