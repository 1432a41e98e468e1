"""Watchers of the same selection share one log: its events are queued and joined only once."""

import gc
from weakref import ref

import pytest

from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import CacheLimits, WatchLimits
from apiserver.storage.cache.entry_event import EntryEvent
from apiserver.storage.cache.event_log import RUN_BYTES, EventLog, Watcher
from apiserver.storage.cache.waking import WakeTurns
from apiserver.storage.cache.watch_cache import EntrySelection
from apiserver.storage.interface import Backend
from tests.apiserver.storage.cache.cached import (
    JsonView,
    caching,
    hear,
    is_waiting,
    labelled,
    pod,
    put,
    settle,
    synced,
    take,
    told,
    value,
    write,
)

EVERYTHING = EntrySelection()
ENTERING = EntrySelection(namespace="default")


async def test_the_bytes_of_a_run_are_joined_once_for_all_watchers(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as one,
        pods.watch(EVERYTHING, "v1", after=cache.revision) as two,
    ):
        for name in "abc":
            await write(backend, name)
        await synced(cache, backend)

        first, second = await anext(one), await anext(two)

        assert first.runs == second.runs
        assert first.joined is None
        for run in first.runs:
            assert run.join() == b"".join(event.frame for event in run.events)
        assert second.joined == b"".join(event.frame for event in second)
        assert second.runs[0].joined is first.runs[0].joined


async def test_a_watcher_that_is_behind_takes_the_runs_of_the_others_together(
    backend: Backend,
) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as quick,
        pods.watch(EVERYTHING, "v1", after=cache.revision) as late,
    ):
        for name in "abc":
            await write(backend, name)
            for run in (await anext(quick)).runs:
                run.join()

        batch = await anext(late)

        assert [told(event)[1] for event in batch] == ["a", "b", "c"]
        assert len(batch.runs) == 3
        assert batch.joined == b"".join(event.frame for event in batch)


async def test_runs_that_are_too_long_for_one_write_are_not_joined(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        for name in "abcd":
            await put(backend, pod(name), value("x" * RUN_BYTES))
        await put(backend, pod("long"), value("x" * 3 * RUN_BYTES))
        await synced(cache, backend)

        batch = await anext(watcher)

        assert [len(run.events) for run in batch.runs] == [1] * 5
        assert [run.join() is None for run in batch.runs] == [False] * 4 + [True]
        assert batch.joined is None


async def test_watchers_that_begin_at_different_revisions_share_a_log(backend: Backend) -> None:
    """Each is sent what comes after its own revision, even if that is in the future."""
    async with caching(backend) as (cache, pods):
        start = cache.revision
        await write(backend, "a")
        await synced(cache, backend)
        async with (
            pods.watch(EVERYTHING, "v1", after=start) as past,
            pods.watch(EVERYTHING, "v1", after=start + 1) as present,
            pods.watch(EVERYTHING, "v1", after=start + 3) as future,
        ):
            assert past.log is present.log is future.log
            for name in "bcd":
                await write(backend, name)
            await synced(cache, backend)

            assert [text for _, text, _ in await hear(past, 4)] == ["a", "b", "c", "d"]
            assert [text for _, text, _ in await hear(present, 3)] == ["b", "c", "d"]
            assert [text for _, text, _ in await hear(future, 1)] == ["d"]


async def test_a_watcher_that_is_ended_gets_what_waited_then_and_no_more(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as ended,
        pods.watch(EVERYTHING, "v1", after=cache.revision) as other,
    ):
        await write(backend, "a")
        await synced(cache, backend)
        ended.end()
        await write(backend, "b")
        await synced(cache, backend)

        assert [told(event)[1] async for batch in ended for event in batch] == ["a"]
        assert [text for _, text, _ in await hear(other, 2)] == ["a", "b"]


async def test_a_bookmark_keeps_its_place_among_the_events(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(ENTERING, "v1", after=cache.revision, bookmarks=True) as watcher,
    ):
        first = await write(backend, "a")
        elsewhere = await put(backend, pod("x", "elsewhere"), value())
        await synced(cache, backend)
        pods.bookmark(watcher)
        last = await write(backend, "b")
        await synced(cache, backend)

        events = await take(watcher, 3)

        assert [event.revision for event in events] == [first, elsewhere, last]
        assert events[1].type is EventType.BOOKMARK


async def test_only_the_watcher_that_is_behind_is_ended(backend: Backend) -> None:
    """However many have come and gone, and wherever in the log they are."""
    limits = CacheLimits(watch=WatchLimits(queue=3))
    async with (
        caching(backend, limits=limits) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as quick,
    ):
        for number in range(10):
            await write(backend, f"p{number}")
            await take(quick, 1)
        async with (
            pods.watch(EVERYTHING, "v1", after=cache.revision) as slow,
            pods.watch(EVERYTHING, "v1", after=cache.revision) as late,
        ):
            for number in range(3):
                await write(backend, f"q{number}")
                await take(quick, 1)
            assert [text for _, text, _ in await hear(late, 3)] == ["q0", "q1", "q2"]
            assert not slow.slow

            await write(backend, "q3")
            await synced(cache, backend)

            assert (slow.slow, late.slow, quick.slow) == (True, False, False)
            assert [told(event)[1] async for batch in slow for event in batch] == ["q0", "q1", "q2"]


async def test_what_every_watcher_has_taken_is_freed(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as one,
        pods.watch(EVERYTHING, "v1", after=cache.revision) as two,
    ):
        await write(backend, "a")
        witness = witness_of((await take(one, 1))[0])
        assert witness() is not None

        await take(two, 1)

        assert witness() is None


def log_of(*revisions: int, batch: int = 2, queue: int = 100) -> EventLog:
    limits = WatchLimits(queue=queue, batch=batch)
    log = EventLog(EVERYTHING, "v1", limits=limits, turns=WakeTurns())
    append(log, *revisions)
    return log


def append(log: EventLog, *revisions: int) -> None:
    for revision in revisions:
        log.append(
            EntryEvent(EventType.BOOKMARK, None, view=JsonView(), form="v1", revision=revision)
        )


def watcher_of(log: EventLog, *, after: int = 0) -> Watcher:
    watcher = Watcher(log, after=after, bookmarks=False)
    log.watchers[watcher] = None
    return watcher


async def test_a_watcher_that_is_far_behind_can_go() -> None:
    """Its runs refer to each other, and are freed one after another without a deep recursion."""
    log = log_of(batch=1)
    watcher = watcher_of(log)
    append(log, *range(100_000))

    log.watchers.clear()
    del watcher

    assert gc.collect() == 0


@pytest.mark.parametrize("ended", ["slow", "in time"])
async def test_a_client_that_stalls_after_the_end_keeps_no_later_event(ended: str) -> None:
    """Neither what it is being sent nor what still waits for it leads on to the rest of the log."""
    log = log_of()
    stalled, quick = watcher_of(log), watcher_of(log)
    append(log, 1, 2, 3)
    sent = await anext(stalled)
    assert await anext(quick)
    if ended == "slow":
        stalled.end_slow()
    else:
        stalled.end()
    append(log, *range(4, 104))
    late = EntryEvent(EventType.BOOKMARK, None, view=JsonView(), form="v1", revision=104)
    witness = witness_of(late)
    log.append(late)
    append(log, 105, 106)
    del late

    while quick.position < log.count:
        await anext(quick)

    assert witness() is None
    assert [event.revision for event in sent] == [1, 2]
    if ended == "in time":
        assert [event.revision async for batch in stalled for event in batch] == [3]


async def test_events_behind_those_that_are_not_sent_do_not_wait() -> None:
    log = log_of()
    watcher, ended = watcher_of(log, after=10), watcher_of(log, after=10)
    append(log, 7, 8, 9, 10, 11, 12)

    ended.end()

    assert [event.revision for event in await anext(watcher)] == [11, 12]
    assert [event.revision async for batch in ended for event in batch] == [11, 12]


async def test_only_what_a_watcher_is_sent_counts_as_waiting() -> None:
    log = log_of(queue=3)
    future, ended, behind = watcher_of(log, after=10), watcher_of(log), watcher_of(log)
    append(log, 1)
    ended.end()

    append(log, *range(2, 7))

    assert log.laggards() == [behind]
    append(log, *range(7, 15))
    assert future in log.laggards()


async def test_changes_that_nobody_watches_have_no_event(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[int] = []
    initialize = EntryEvent.__init__

    def counting(self: EntryEvent, *args: object, **kwargs: int) -> None:
        created.append(kwargs["revision"])
        initialize(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(EntryEvent, "__init__", counting)
    view = JsonView()
    async with (
        caching(backend, view=view) as (cache, pods),
        pods.watch(labelled("app", "web"), "v1", after=cache.revision) as watcher,
    ):
        await write(backend, "a", app="db")
        watched = await write(backend, "b", app="web")
        await synced(cache, backend)
        await settle()

        assert created == [watched]
        assert view.encoded == 0
        assert len(await take(watcher, 1)) == 1
        assert await is_waiting(watcher)


class Witness:
    """Lives as long as an event, which has no room for a weak reference itself."""


def witness_of(event: EntryEvent) -> "ref[Witness]":
    witness = Witness()
    event._view = witness  # type: ignore[assignment]
    return ref(witness)
