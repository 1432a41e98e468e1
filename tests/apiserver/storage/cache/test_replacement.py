"""A resource that is registered anew, as with a new schema: its watches end, and resume."""

import asyncio
from random import Random

import pytest

from apiserver.storage.cache.cache_limits import CacheLimits, WindowSize
from apiserver.storage.cache.entry_event import EntryEvent
from apiserver.storage.cache.watch_cache import (
    CachedResource,
    EntrySelection,
    RevisionExpired,
    WatchCache,
)
from apiserver.storage.interface import Backend, Record
from tests.apiserver.storage.cache.cached import (
    GADGETS,
    PODS,
    JsonView,
    caching,
    hear,
    pod,
    put,
    remove,
    replay,
    synced,
    texts,
    value,
    write,
)
from tests.apiserver.storage.cache.test_feed_follower import Slow

EVERYTHING = EntrySelection()


def replaced(cache: WatchCache, resource: CachedResource) -> CachedResource:
    cache.unregister(resource)
    return cache.register(PODS, JsonView())


async def test_watches_resume_from_before_the_replacement(backend: Backend) -> None:
    async with caching(backend) as (cache, pods):
        before = await write(backend, "a", "one")
        changed = await write(backend, "a", "two")
        gone = await remove(backend, pod("a"))
        made = await write(backend, "b")
        await put(backend, GADGETS.object_key("other", namespace="default"), value())
        await synced(cache, backend)

        pods = replaced(cache, pods)
        async with pods.watch(EVERYTHING, "v1", after=before) as watcher:
            live = await write(backend, "b", "live")

            assert await hear(watcher, 4) == [
                ("MODIFIED", "two", changed),
                ("DELETED", "two", gone),
                ("ADDED", "b", made),
                ("MODIFIED", "live", live),
            ]


async def test_a_quiet_resource_keeps_its_past_over_several_replacements(backend: Backend) -> None:
    first = await write(backend, "a")
    async with caching(backend) as (cache, pods):
        second = await write(backend, "b")
        for _ in range(3):
            await put(backend, GADGETS.object_key("busy", namespace="default"), value())
            await synced(cache, backend)
            pods = replaced(cache, pods)
            await pods.list(EVERYTHING)

        async with pods.watch(EVERYTHING, "v1", after=first) as watcher:
            assert await hear(watcher, 1) == [("ADDED", "b", second)]


async def test_the_past_is_as_long_as_that_of_the_collection_before(backend: Backend) -> None:
    limits = CacheLimits(window=WindowSize(min_changes=2, max_changes=2))
    async with caching(backend, limits=limits) as (cache, pods):
        revisions = [await write(backend, name) for name in "abcd"]
        await synced(cache, backend)

        pods = replaced(cache, pods)

        with pytest.raises(RevisionExpired):
            async with pods.watch(EVERYTHING, "v1", after=revisions[0]):
                pass
        async with pods.watch(EVERYTHING, "v1", after=revisions[1]) as watcher:
            assert await hear(watcher, 2) == [
                ("ADDED", "c", revisions[2]),
                ("ADDED", "d", revisions[3]),
            ]


async def test_a_replacement_before_the_list_is_complete_loses_nothing(backend: Backend) -> None:
    slow = Slow(backend)
    slow.gate.set()
    first = await write(backend, "a")
    async with caching(slow) as (cache, pods):
        second = await write(backend, "b")
        await synced(cache, backend)
        slow.gate.clear()
        for name in "cd":
            pods = replaced(cache, pods)
            slow.held.clear()
            await slow.held.wait()
            await write(backend, name)
            await synced(cache, backend)
        pods = replaced(cache, pods)
        slow.gate.set()

        async with pods.watch(EVERYTHING, "v1", after=first) as watcher:
            events = await hear(watcher, 3)

        assert [text for _, text, _ in events] == ["b", "c", "d"]
        assert events[0][2] == second
        assert texts((await pods.list(EVERYTHING)).entries) == ["a", "b", "c", "d"]


async def test_other_resources_keep_their_unclaimed_changes(backend: Backend) -> None:
    async with caching(backend) as (cache, pods):
        key = GADGETS.object_key("one", namespace="default")
        before = await put(backend, key, value("one"))
        changed = await put(backend, key, value("two"))
        await synced(cache, backend)

        replaced(cache, pods)
        gadgets = cache.register(GADGETS, JsonView())

        async with gadgets.watch(EVERYTHING, "v1", after=before) as watcher:
            assert await hear(watcher, 1) == [("MODIFIED", "two", changed)]


class Replaced:
    """A resource that is replaced again and again, and a client that resumes its watch of it."""

    def __init__(self, cache: WatchCache, resource: CachedResource) -> None:
        self.cache = cache
        self.resource = resource
        self.events: list[EntryEvent] = []
        self.known: dict[str, Record] = {}
        self._last = cache.revision

    async def replace(self, random: Random) -> None:
        while True:
            self.resource = replaced(self.cache, self.resource)
            for _ in range(random.randrange(30)):
                await asyncio.sleep(0)

    async def follow(self) -> None:
        while True:
            while not self.resource.collection.filled.is_set():
                await asyncio.sleep(0)
            async with self.resource.watch(EVERYTHING, "v1", after=self._last) as watcher:
                async for batch in watcher:
                    self.known = replay(list(batch), self.known)
                    self.events += batch
                    self._last = self.events[-1].revision

    async def has_seen(self, revision: int) -> None:
        while self._last < revision:
            await asyncio.sleep(0)


async def test_a_watch_through_replacements_and_writes_sees_every_change_once(
    backend: Backend,
) -> None:
    """The client resumes from its last revision, which is never expired."""
    random = Random(7)
    async with caching(backend) as (cache, pods), asyncio.TaskGroup() as tasks:
        resource = Replaced(cache, pods)
        replacing = tasks.create_task(resource.replace(random))
        following = tasks.create_task(resource.follow())
        writes = [await change_some_pod(backend, random) for _ in range(200)]
        replacing.cancel()
        await resource.has_seen(writes[-1][1])
        following.cancel()
        listed = (await resource.resource.list(EVERYTHING)).entries

    seen = [(event.entry.record.key, event.revision) for event in resource.events if event.entry]
    assert seen == writes
    assert {entry.record.key: entry.record for entry in listed} == resource.known


async def change_some_pod(backend: Backend, random: Random) -> tuple[str, int]:
    key = pod(random.choice("abc"))
    if random.random() < 0.3 and await backend.get(key) is not None:
        return key, await remove(backend, key)
    return key, await put(backend, key, value(str(random.random())))
