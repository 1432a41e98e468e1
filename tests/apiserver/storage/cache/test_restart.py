"""A server that is started on a store with a past: watches from before go on where they were."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

import pytest

from apiserver.storage.cache.cache_limits import CacheLimits, WatchLimits, WindowSize
from apiserver.storage.cache.entry import make_entry
from apiserver.storage.cache.initial_list import InitialList
from apiserver.storage.cache.unclaimed_changes import ChangeHistory, UnclaimedChanges
from apiserver.storage.cache.watch_cache import (
    CachedResource,
    EntrySelection,
    Exact,
    NotReady,
    RevisionExpired,
    WatchCache,
)
from apiserver.storage.interface import (
    Backend,
    ChangeBatch,
    Feed,
    KeyExists,
    Record,
    RevisionConflict,
    StoredChange,
)
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.cache.cached import (
    GADGETS,
    PODS,
    JsonView,
    caching,
    hear,
    is_waiting,
    labelled,
    pod,
    put,
    remove,
    replay,
    synced,
    take,
    texts,
    told,
    value,
    write,
)
from tests.apiserver.storage.cache.test_feed_follower import Slow
from tests.apiserver.storage.conftest import SettableClock, open_store
from tests.faults.figures import record_figures

EVERYTHING = EntrySelection()


async def past(backend: Backend) -> list[int]:
    """An object that comes, changes, goes and comes again; the revisions of that."""
    return [
        await write(backend, "a", "one", app="web"),
        await write(backend, "a", "two", app="db"),
        await remove(backend, pod("a")),
        await write(backend, "a", "three", app="web"),
    ]


async def test_a_watch_from_before_the_start_goes_on(backend: Backend) -> None:
    first, second, gone, third = await past(backend)

    async with (
        caching(backend) as (_, pods),
        pods.watch(EVERYTHING, "v1", after=first - 1) as whole,
        pods.watch(EVERYTHING, "v1", after=second) as part,
        pods.watch(EVERYTHING, "v1", after=third) as nothing,
    ):
        live = await write(backend, "a", "four")

        assert await hear(whole, 5) == [
            ("ADDED", "one", first),
            ("MODIFIED", "two", second),
            ("DELETED", "two", gone),
            ("ADDED", "three", third),
            ("MODIFIED", "four", live),
        ]
        assert await hear(part, 3) == [
            ("DELETED", "two", gone),
            ("ADDED", "three", third),
            ("MODIFIED", "four", live),
        ]
        assert await hear(nothing, 1) == [("MODIFIED", "four", live)]


async def test_what_began_and_ceased_to_match_before_the_start_is_told_as_such(
    backend: Backend,
) -> None:
    first, second, _, third = await past(backend)

    async with (
        caching(backend) as (_, pods),
        pods.watch(labelled("app", "web"), "v1", after=first) as watcher,
    ):
        assert await hear(watcher, 2) == [("DELETED", "one", second), ("ADDED", "three", third)]


async def test_what_is_compacted_cannot_be_gone_on_from(backend: Backend) -> None:
    _, second, gone, third = await past(backend)
    await backend.compact(gone)

    async with caching(backend) as (_, pods):
        with pytest.raises(RevisionExpired) as raised:
            async with pods.watch(EVERYTHING, "v1", after=second):
                pass
        async with pods.watch(EVERYTHING, "v1", after=gone) as watcher:
            assert await hear(watcher, 1) == [("ADDED", "three", third)]

    assert (raised.value.requested, raised.value.oldest) == (second, gone)


async def test_the_store_is_not_asked_for_more_than_the_limit(backend: Backend) -> None:
    revisions = await past(backend)

    async with caching(backend, limits=CacheLimits(replay=1)) as (cache, pods):
        await synced(cache, backend)
        current = cache.revision
        with pytest.raises(RevisionExpired):
            async with pods.watch(EVERYTHING, "v1", after=current - 2):
                pass
        async with pods.watch(EVERYTHING, "v1", after=current - 1) as watcher:
            if current == revisions[-1]:  # An etcd has other writers.
                assert await hear(watcher, 1) == [("ADDED", "three", current)]


async def test_lists_of_the_past_are_as_it_was(backend: Backend) -> None:
    revisions = await past(backend)

    async with caching(backend) as (cache, pods):
        await synced(cache, backend)
        revisions.append(await write(backend, "b", "four"))
        await synced(cache, backend)

        for revision in revisions:
            listing = await pods.list(EVERYTHING, at=Exact(revision))
            page = await backend.range(PODS.prefix, revision=revision)
            assert [entry.record for entry in listing.entries] == page.records


class Held:
    """A backend whose feeds bring nothing until they are let go, and say nothing of progress."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.released = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)

    @asynccontextmanager
    async def watch(self, prefix: str, *, after: int) -> AsyncIterator["HeldFeed"]:
        async with self.backend.watch(prefix, after=after) as feed:
            yield HeldFeed(feed, self.released)


class HeldFeed:
    def __init__(self, feed: Feed, released: asyncio.Event) -> None:
        self._feed = feed
        self._released = released

    def __aiter__(self) -> "HeldFeed":
        return self

    async def __anext__(self) -> ChangeBatch:
        await self._released.wait()
        return await anext(self._feed)

    async def request_progress(self) -> bool:
        return False


async def test_a_watch_that_begins_after_the_end_ends_at_once(backend: Backend) -> None:
    async with caching(backend) as (cache, pods):
        pass

    async with pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher:
        assert [batch async for batch in watcher] == []


async def test_a_watch_that_begins_before_the_past_has_come_is_told_all_of_it(
    backend: Backend,
) -> None:
    first, second, gone, third = await past(backend)
    held = Held(backend)

    async with (
        caching(held) as (_, pods),
        pods.watch(EVERYTHING, "v1", after=first) as before,
        pods.watch_from_state(EVERYTHING, "v1", bookmarks=True) as after,
    ):
        assert await is_waiting(before)
        assert texts((await pods.list(EVERYTHING)).entries) == ["three"]
        held.released.set()
        live = await write(backend, "a", "four")

        assert await hear(before, 4) == [
            ("MODIFIED", "two", second),
            ("DELETED", "two", gone),
            ("ADDED", "three", third),
            ("MODIFIED", "four", live),
        ]
        (state, end), change = await take(after, 2), (await hear(after, 1))[0]
        assert told(state) == ("ADDED", "three", third)
        assert end.initial_events_end
        assert change == ("MODIFIED", "four", live)


async def test_a_bookmark_does_not_overtake_the_past(backend: Backend) -> None:
    first, *_ = await past(backend)
    held = Held(backend)

    async with (
        caching(held) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=first, bookmarks=True) as watcher,
    ):
        pods.bookmark(watcher)
        assert await is_waiting(watcher)
        held.released.set()
        await take(watcher, 3)
        live = await write(backend, "z")
        await synced(cache, backend)
        pods.bookmark(watcher)

        assert await hear(watcher, 1) == [("ADDED", "z", live)]


async def test_a_quiet_past_is_known_to_be_over() -> None:
    """Nothing has happened, and the store says so: a bookmark can name the newest revision."""
    store = await open_sqlite("sqlite://:memory:")
    old = await write(store, "a")
    current = await store.create("/elsewhere", b"")

    async with (
        caching(store) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=old, bookmarks=True) as watcher,
    ):
        while cache.notified < current:
            await asyncio.sleep(0)
        pods.bookmark(watcher)

        assert await hear(watcher, 1) == [("BOOKMARK", "", current)]
    await store.close()


async def test_a_resource_registered_later_has_its_past_too(backend: Backend) -> None:
    _, second, gone, third = await past(backend)

    async with caching(backend, GADGETS) as (cache, _):
        await synced(cache, backend)
        fourth = await write(backend, "b")
        await synced(cache, backend)
        pods = cache.register(PODS, JsonView())
        async with pods.watch(EVERYTHING, "v1", after=second) as watcher:
            live = await write(backend, "b", "live")

            assert await hear(watcher, 4) == [
                ("DELETED", "two", gone),
                ("ADDED", "three", third),
                ("ADDED", "b", fourth),
                ("MODIFIED", "live", live),
            ]
        assert texts((await pods.list(EVERYTHING)).entries) == ["three", "live"]


async def test_more_changes_during_a_list_than_a_window_holds(backend: Backend) -> None:
    """The state is right, and the past begins where every change is still known."""
    for name in ("kept", "changed", "deleted"):
        await put(backend, pod(name), value(name))
    slow = Slow(backend)
    cache = WatchCache(slow, limits=CacheLimits(window=WindowSize(min_changes=3, max_changes=3)))
    pods = cache.register(PODS, JsonView())
    async with cache:
        await slow.held.wait()
        revisions = [await write(backend, "changed", "once"), await remove(backend, pod("deleted"))]
        revisions += [await write(backend, "made", str(number)) for number in range(5)]
        await synced(cache, backend)
        slow.gate.set()

        assert texts((await pods.list(EVERYTHING)).entries) == ["once", "kept", "4"]
        with pytest.raises(RevisionExpired):
            async with pods.watch(EVERYTHING, "v1", after=revisions[-5]):
                pass
        async with pods.watch(EVERYTHING, "v1", after=revisions[-4]) as watcher:
            assert [text for _, text, _ in await hear(watcher, 3)] == ["2", "3", "4"]


def change(revision: int, key: str = "/a") -> StoredChange:
    return StoredChange(key, b"", None, revision, revision)


def test_changes_that_were_taken_are_not_in_the_past_of_a_list_begun_again() -> None:
    initial = InitialList(1, max_changes=10, pending=[change(2), change(3), change(4)])
    initial.list_at(4)
    initial.complete()

    taken = initial.take(2)
    initial.list_at(5)

    assert [each.revision for each in taken] == [2, 3]
    assert (initial.start, len(initial)) == (3, 1)


def test_nothing_is_folded_once_the_list_is_complete() -> None:
    initial = InitialList(1, max_changes=2, pending=[change(2), change(3)])
    initial.list_at(1)
    initial.complete()

    initial.add(change(4))

    assert [each.revision for each in initial.take(9)] == [2, 3, 4]


def test_the_unclaimed_are_few_and_young() -> None:
    unclaimed = UnclaimedChanges(WindowSize(age=10, max_changes=100), max_changes=3)
    unclaimed.reset(1)
    for revision in range(2, 7):
        unclaimed.append(change(revision), now=float(revision))
    few = (unclaimed.start, [each.revision for each in unclaimed.of("/")])

    unclaimed.prune(now=15.5)

    assert few == (3, [4, 5, 6])
    assert (unclaimed.start, [each.revision for each in unclaimed.of("/")]) == (5, [6])


def test_what_is_released_is_claimed_with_what_came_later() -> None:
    unclaimed = UnclaimedChanges(WindowSize(age=10, max_changes=100), max_changes=3)
    unclaimed.append(change(2), now=0)
    history = ChangeHistory(1, [change(2), change(3)])
    unclaimed.release("/", history, revision=4, now=0)
    unclaimed.append(change(5), now=0)

    claimed = unclaimed.claim("/")

    assert claimed.start == 1
    assert [each.revision for each in claimed.changes] == [2, 3, 5]


@pytest.mark.parametrize(
    ("revisions", "age", "start"),
    [
        ([5, 6], 10.0, 1),
        ([5, 6], 10.5, 4),  # the history is too old, what came later is not
        ([5, 6, 7, 8], 10.0, 5),  # a change in between is gone
    ],
)
def test_a_history_is_claimed_while_it_is_young_and_whole(
    revisions: list[int], age: float, start: int
) -> None:
    unclaimed = UnclaimedChanges(WindowSize(age=10, max_changes=100), max_changes=3)
    unclaimed.release("/", ChangeHistory(1, [change(2)]), revision=4, now=0)
    for revision in revisions:
        unclaimed.append(change(revision), now=5)
    unclaimed.prune(now=age)

    claimed = unclaimed.claim("/")

    expected = [2, *revisions] if start == 1 else [each for each in revisions if each > start]
    assert claimed.start == start
    assert [each.revision for each in claimed.changes] == expected


SELECTIONS = [
    EVERYTHING,
    EntrySelection(namespace="one"),
    labelled("app", "web"),
    EntrySelection(name="a"),
]


class Clients:
    """Watchers that outlive the servers they watch."""

    def __init__(self, url: str, seed: int) -> None:
        self.url = url
        self.first = 0
        self.random = Random(seed)
        self.serving: CachedResource | None = None
        self.finished = False
        self.resumed = 0

    async def write(self, backend: Backend) -> None:
        random = self.random
        while not self.finished:
            key = pod(random.choice("abcde"), random.choice(["one", "two"]))
            content = value(str(random.random()), labels={"app": random.choice(["web", "db"])})
            record = await backend.get(key)
            try:
                if record is None:
                    await backend.create(key, content)
                elif random.random() < 0.3:
                    await backend.delete(key, revision=record.revision)
                else:
                    await backend.update(key, content, revision=record.revision)
            except (RevisionConflict, KeyExists):
                continue

    async def server(self, *, lives: int, writes: int) -> None:
        """One server after the other, each on a backend of its own."""
        for _ in range(lives):
            backend = await open_store(self.url, SettableClock())
            limits = CacheLimits(watch=WatchLimits(batch=7), chunk=16, page=3)
            cache = WatchCache(backend, limits=limits)
            self.serving = cache.register(PODS, JsonView())
            async with cache:
                end = await backend.current_revision() + writes
                assert await cache.wait(end, seconds=60)
                self.serving = None
            await backend.close()

    async def watch(self, selection: EntrySelection, backend: Backend) -> None:
        """Follow from server to server, and end with what the store says."""
        known, newest = dict[str, Record](), self.first
        while not self.finished:
            await asyncio.sleep(0.001)
            with suppress(NotReady):
                known, newest = await self.follow(selection, known, newest)
        assert known == await truth(backend, selection, newest)

    async def follow(
        self, selection: EntrySelection, known: dict[str, Record], newest: int
    ) -> tuple[dict[str, Record], int]:
        if self.serving is None:
            return known, newest
        async with self.serving.watch(selection, "v1", after=newest) as watcher:
            self.resumed += 1
            async for batch in watcher:
                revisions = [event.revision for event in batch]
                assert newest < revisions[0]
                assert revisions == sorted(set(revisions))
                known, newest = replay(list(batch), known), revisions[-1]
                if self.random.random() < 0.02:
                    break
        return known, newest


async def truth(backend: Backend, selection: EntrySelection, revision: int) -> dict[str, Record]:
    page = await backend.range(PODS.prefix, revision=revision)
    state, view = {}, JsonView()
    for record in page.records:
        namespace, name = PODS.split(record.key)
        placed = selection.namespace in (None, namespace) and selection.name in (None, name)
        if placed and selection.matches(make_entry(record, view)):
            state[record.key] = record
    return state


async def run(clients: Clients, *, lives: int, writes: int) -> None:
    backend = await open_store(clients.url, SettableClock())
    clients.first = await backend.current_revision()
    async with asyncio.TaskGroup() as tasks:
        for selection in SELECTIONS * 2:
            tasks.create_task(clients.watch(selection, backend))
        tasks.create_task(clients.write(backend))
        await clients.server(lives=lives, writes=writes)
        clients.finished = True
    await backend.close()


@pytest.mark.parametrize("seed", range(2))
async def test_watchers_go_on_from_server_to_server(shared_url: str, seed: int) -> None:
    clients = Clients(shared_url, seed)

    await run(clients, lives=6, writes=40)

    assert clients.resumed >= 6 * len(SELECTIONS)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(2, 10))
async def test_watchers_go_on_from_server_to_server_for_long(shared_url: str, seed: int) -> None:
    clients = Clients(shared_url, seed)

    await run(clients, lives=20, writes=200)

    assert clients.resumed >= 20 * len(SELECTIONS)
    record_figures(
        "fault suites", f"watchers move from server to server #{seed}", rounds=20, writes=4_000
    )
