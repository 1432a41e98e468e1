"""What watchers are told: which events, in which order, from where, and at whose expense."""

import asyncio

import orjson
import pytest

from apiserver.storage.cache import fanout
from apiserver.storage.cache.cache_limits import CacheLimits, WatchLimits, WindowSize
from apiserver.storage.cache.watch_cache import (
    EntrySelection,
    Freshness,
    NotOlderThan,
    RevisionExpired,
    TooLargeRevision,
)
from apiserver.storage.interface import Backend
from tests.apiserver.storage.cache.cached import (
    HandClock,
    JsonView,
    Switchboard,
    caching,
    hear,
    is_waiting,
    labelled,
    pod,
    put,
    remove,
    settle,
    synced,
    take,
    told,
    value,
    write,
)

EVERYTHING = EntrySelection()
HASTY = CacheLimits(wait=0.02, grace=0.001, progress=0.02)


async def test_the_life_of_an_object_is_told_in_order(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        made = await write(backend, "a", "one")
        changed = await write(backend, "a", "two")
        deleted = await remove(backend, pod("a"))
        again = await write(backend, "a", "three")

        assert await hear(watcher, 4) == [
            ("ADDED", "one", made),
            ("MODIFIED", "two", changed),
            ("DELETED", "two", deleted),
            ("ADDED", "three", again),
        ]


async def test_what_has_happened_since_then_is_told_first(backend: Backend) -> None:
    async with caching(backend) as (cache, pods):
        await write(backend, "a")
        since = await write(backend, "b")
        third = await write(backend, "c")
        gone = await remove(backend, pod("a"))
        await synced(cache, backend)

        async with pods.watch(EVERYTHING, "v1", after=since) as watcher:
            live = await write(backend, "d")

            assert await hear(watcher, 3) == [
                ("ADDED", "c", third),
                ("DELETED", "a", gone),
                ("ADDED", "d", live),
            ]


async def test_a_selector_makes_its_own_events(backend: Backend) -> None:
    """Entering is ADDED; leaving is DELETED with the old content and the new revision."""
    web = labelled("app", "web")
    async with (
        caching(backend) as (cache, pods),
        pods.watch(web, "v1", after=cache.revision) as live,
    ):
        start = cache.revision
        await write(backend, "a", "unseen", app="db")
        entered = await write(backend, "a", "entered", app="web")
        changed = await write(backend, "a", "changed", app="web")
        left = await write(backend, "a", "left", app="db")
        await write(backend, "a", "still out", app="db")
        back = await write(backend, "a", "back", app="web")
        deleted = await remove(backend, pod("a"))
        await write(backend, "b", "unseen", app="db")
        await remove(backend, pod("b"))
        expected = [
            ("ADDED", "entered", entered),
            ("MODIFIED", "changed", changed),
            ("DELETED", "changed", left),
            ("ADDED", "back", back),
            ("DELETED", "back", deleted),
        ]

        await synced(cache, backend)

        assert await hear(live, 5) == expected
        assert await is_waiting(live)
        async with pods.watch(web, "v1", after=start) as replayed:
            assert await hear(replayed, 5) == expected


async def test_field_selectors_have_transitions_too(backend: Backend) -> None:
    pending = EntrySelection(fields=lambda fields: fields.get("phase") == "Pending")
    async with (
        caching(backend) as (cache, pods),
        pods.watch(pending, "v1", after=cache.revision) as watcher,
    ):
        made = await put(backend, pod("a"), value("1", phase="Pending"))
        left = await put(backend, pod("a"), value("2", phase="Running"))

        assert await hear(watcher, 2) == [("ADDED", "1", made), ("DELETED", "1", left)]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (EVERYTHING, ["one/a", "one/b", "two/a", "two/b"]),
        (EntrySelection(namespace="one"), ["one/a", "one/b"]),
        (EntrySelection(namespace="one", name="a"), ["one/a"]),
        (EntrySelection(name="a"), ["one/a", "two/a"]),
        (EntrySelection(namespace="three"), []),
    ],
)
async def test_namespace_and_name_choose(
    backend: Backend, selection: EntrySelection, expected: list[str]
) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(selection, "v1", after=cache.revision) as live,
    ):
        start = cache.revision
        for place in ("one/a", "one/b", "two/a", "two/b"):
            namespace, name = place.split("/")
            await put(backend, pod(name, namespace), value(place))
        await synced(cache, backend)

        async with pods.watch(selection, "v1", after=start) as replayed:
            for watcher in (live, replayed):
                heard = await hear(watcher, len(expected))
                assert [text for _, text, _ in heard] == expected
                assert await is_waiting(watcher)


async def test_a_revision_in_the_future_is_waited_for_in_silence(backend: Backend) -> None:
    async with caching(backend) as (cache, pods):
        future = cache.revision + 2
        async with pods.watch(EVERYTHING, "v1", after=future, bookmarks=True) as watcher:
            await write(backend, "a")
            await write(backend, "b")
            await synced(cache, backend)
            pods.bookmark(watcher)
            assert await is_waiting(watcher)

            third = await write(backend, "c")

            assert await hear(watcher, 1) == [("ADDED", "c", third)]
            assert third == future + 1


async def test_a_revision_older_than_the_window_is_expired(backend: Backend) -> None:
    limits = CacheLimits(window=WindowSize(min_changes=2, max_changes=2))
    async with caching(backend, limits=limits) as (cache, pods):
        before = cache.revision
        first = await write(backend, "a")
        await write(backend, "b")
        await write(backend, "c")
        await synced(cache, backend)

        with pytest.raises(RevisionExpired) as raised:
            async with pods.watch(EVERYTHING, "v1", after=before):
                pass
        async with pods.watch(EVERYTHING, "v1", after=first) as watcher:
            assert [text for _, text, _ in await hear(watcher, 2)] == ["b", "c"]

    assert (raised.value.requested, raised.value.oldest) == (before, first)
    assert str(raised.value) == f"too old resource version: {before} ({first})"


async def test_a_revision_too_long_before_the_start_is_expired(backend: Backend) -> None:
    old = await write(backend, "a")
    await write(backend, "b")
    async with caching(backend, limits=CacheLimits(replay=0)) as (_, pods):
        with pytest.raises(RevisionExpired):
            async with pods.watch(EVERYTHING, "v1", after=old):
                pass


async def test_the_window_keeps_what_is_young_and_a_few_of_what_is_old(backend: Backend) -> None:
    clock = HandClock()
    limits = CacheLimits(window=WindowSize(age=75, min_changes=2, max_changes=1000))
    async with caching(backend, limits=limits, clock=clock) as (cache, pods):
        for number in range(10):
            await write(backend, "a", str(number))
        await synced(cache, backend)
        window = pods.collection.window
        await clock.advance(74)
        assert len(window) == 10

        await clock.advance(2)

        assert len(window) == 2


async def test_the_state_is_told_and_then_what_happens(backend: Backend) -> None:
    first = await write(backend, "b")
    second = await write(backend, "a")
    async with (
        caching(backend) as (cache, pods),
        pods.watch_from_state(EVERYTHING, "v1", bookmarks=True) as watcher,
    ):
        live = await write(backend, "c")
        await synced(cache, backend)

        events = await take(watcher, 3) + await take(watcher, 1)

    assert [told(event) for event in events] == [
        ("ADDED", "a", second),
        ("ADDED", "b", first),
        ("BOOKMARK", "", second),
        ("ADDED", "c", live),
    ]
    assert [event.initial_events_end for event in events] == [False, False, True, False]
    assert b"initialEventsEnd" in events[2].frame


async def test_without_bookmarks_the_end_of_the_state_is_not_told(backend: Backend) -> None:
    await write(backend, "a", app="web")
    await write(backend, "b")
    async with (
        caching(backend) as (_, pods),
        pods.watch_from_state(labelled("app", "web"), "v1", at=Freshness.ANY) as watcher,
    ):
        assert [text for _, text, _ in await hear(watcher, 1)] == ["a"]
        assert await is_waiting(watcher)


async def test_the_newest_state_shows_every_acknowledged_write(backend: Backend) -> None:
    async with caching(backend) as (_, pods):
        for number in range(5):
            revision = await write(backend, f"p{number}")
            async with pods.watch_from_state(EVERYTHING, "v1", bookmarks=True) as watcher:
                heard = await hear(watcher, number + 2)
            assert heard[-1] == ("BOOKMARK", "", revision)


async def test_a_state_not_older_than_the_future_is_too_large(backend: Backend) -> None:
    async with caching(backend, limits=HASTY) as (cache, pods):
        with pytest.raises(TooLargeRevision):
            async with pods.watch_from_state(
                EVERYTHING, "v1", at=NotOlderThan(cache.revision + 99)
            ):
                pass


async def test_a_state_read_past_a_silent_feed_is_followed_without_gap_or_double(
    backend: Backend,
) -> None:
    """The state is newer than the cache then; the feed, when it speaks again, is behind it."""
    board = Switchboard(backend)
    async with caching(board, limits=HASTY) as (_, pods):
        board.silent = True
        await write(backend, "a")
        seen = await write(backend, "b")
        async with pods.watch_from_state(EVERYTHING, "v1", bookmarks=True) as watcher:
            board.silent = False
            board.cut(None)
            live = await write(backend, "c")

            assert (await hear(watcher, 3))[-1] == ("BOOKMARK", "", seen)
            assert await hear(watcher, 1) == [("ADDED", "c", live)]


async def test_a_long_state_comes_in_parts(backend: Backend) -> None:
    for number in range(7):
        await write(backend, f"p{number}")
    limits = CacheLimits(watch=WatchLimits(batch=3))
    async with (
        caching(backend, limits=limits) as (_, pods),
        pods.watch_from_state(EVERYTHING, "v1") as watcher,
    ):
        assert [len(await anext(watcher)) for _ in range(3)] == [3, 3, 1]


async def test_everything_that_waits_is_one_batch(backend: Backend) -> None:
    limits = CacheLimits(watch=WatchLimits(batch=4))
    async with (
        caching(backend, limits=limits) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        for number in range(6):
            await write(backend, f"p{number}")
        await synced(cache, backend)

        assert [len(await anext(watcher)) for _ in range(2)] == [4, 2]


async def test_a_thousand_watchers_share_one_frame(backend: Backend) -> None:
    view = JsonView()
    async with caching(backend, view=view) as (cache, pods):
        watches = [pods.watch(EVERYTHING, "v1", after=cache.revision) for _ in range(1000)]
        watchers = [await watch.__aenter__() for watch in watches]
        await write(backend, "a")

        frames = [(await take(watcher, 1))[0].frame for watcher in watchers]

        assert all(frame is frames[0] for frame in frames)
        assert (view.looked, view.encoded, view.framed) == (1, 1, 1)
        for watch in watches:
            await watch.__aexit__(None, None, None)
        assert len(pods.collection.fanout) == 0


async def test_each_form_has_its_own_frame(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as one,
        pods.watch(EVERYTHING, "v2", after=cache.revision) as two,
    ):
        await write(backend, "a")

        (first,), (second,) = await take(one, 1), await take(two, 1)

        assert orjson.loads(first.frame)["object"]["form"] == "v1"
        assert orjson.loads(second.frame)["object"]["form"] == "v2"
        assert orjson.loads(first.frame_in("table"))["object"]["form"] == "table"
        assert first.frame.endswith(b"}\n")


async def test_a_watcher_that_does_not_keep_up_is_ended_and_holds_up_nobody(
    backend: Backend,
) -> None:
    limits = CacheLimits(watch=WatchLimits(queue=3))
    async with (
        caching(backend, limits=limits) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as slow,
        pods.watch(EVERYTHING, "v1", after=cache.revision) as quick,
    ):
        for number in range(5):
            await write(backend, f"p{number}")
            assert len(await take(quick, 1)) == 1

        heard = [event async for batch in slow for event in batch]

        assert [told(event)[1] for event in heard] == ["p0", "p1", "p2"]
        assert (slow.slow, quick.slow) == (True, False)
        assert pods.collection.fanout.slow == 1
        assert len(pods.collection.fanout) == 1
        async with pods.watch(EVERYTHING, "v1", after=heard[-1].revision) as resumed:
            assert [text for _, text, _ in await hear(resumed, 2)] == ["p3", "p4"]


async def test_a_long_backlog_is_told_in_order_and_before_what_is_new(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is matched while it is sent, and changes go on meanwhile."""
    monkeypatch.setattr(fanout, "SHORT_BACKLOG", 10)
    async with caching(backend) as (cache, pods):
        start = cache.revision
        for number in range(30):
            await write(backend, f"p{number}", app="x" if number % 10 == 0 else "y")
        await synced(cache, backend)

        async with (
            pods.watch(labelled("app", "x"), "v1", after=start) as watcher,
            pods.watch(labelled("app", "z"), "v1", after=start) as unmatched,
        ):
            await write(backend, "new", app="x")
            await write(backend, "other", app="z")

            assert [text for _, text, _ in await hear(watcher, 4)] == ["p0", "p10", "p20", "new"]
            assert [text for _, text, _ in await hear(unmatched, 1)] == ["other"]


async def test_a_burst_longer_than_the_queue_does_not_end_a_watcher_that_reads(
    backend: Backend,
) -> None:
    limits = CacheLimits(chunk=2, watch=WatchLimits(queue=4))
    board = Switchboard(backend, silent=True)
    async with caching(board, limits=limits) as (cache, pods):
        start = cache.revision
        for number in range(40):
            await backend.create(pod(f"p{number}"), value())
        async with pods.watch(EVERYTHING, "v1", after=start) as watcher:
            board.silent = False
            board.cut(None)

            heard = 0
            async for batch in watcher:
                heard += len(batch)
                if heard >= 40:
                    break

        assert (heard, watcher.slow) == (40, False)


async def test_a_failing_selector_ends_only_its_own_watch(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    broken = EntrySelection(labels=lambda labels: bool(labels["missing"]))
    async with (
        caching(backend) as (cache, pods),
        pods.watch(broken, "v1", after=cache.revision) as failing,
        pods.watch(EVERYTHING, "v1", after=cache.revision) as fine,
    ):
        await write(backend, "a")

        assert [event async for event in failing] == []
        assert len(await take(fine, 1)) == 1
    assert "selector failed" in caplog.text


async def test_closing_the_cache_ends_the_watches(backend: Backend) -> None:
    async with caching(backend) as (cache, pods):
        watch = pods.watch(EVERYTHING, "v1", after=cache.revision)
        watcher = await watch.__aenter__()
        hearing = asyncio.ensure_future(anext(watcher))
        await settle()

    with pytest.raises(StopAsyncIteration):
        await hearing
    await watch.__aexit__(None, None, None)


async def test_removing_a_resource_ends_its_watches(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        cache.unregister(pods)

        assert [event async for event in watcher] == []


async def test_a_cancelled_reader_can_go_on_reading(backend: Backend) -> None:
    async with (
        caching(backend) as (cache, pods),
        pods.watch(EVERYTHING, "v1", after=cache.revision) as watcher,
    ):
        assert await is_waiting(watcher)
        revision = await write(backend, "a")

        assert await hear(watcher, 1) == [("ADDED", "a", revision)]
