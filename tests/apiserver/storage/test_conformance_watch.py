"""What every backend promises of watch: every change, once, in order, with what was before."""

import asyncio

import pytest

from apiserver.storage.interface import Backend, ChangeBatch, Compacted, StoredChange
from tests.apiserver.storage.reading import PATIENCE_SECONDS, create_all, take, take_until


async def test_the_three_kinds_of_change(backend: Backend) -> None:
    start = await backend.current_revision()
    created = await backend.create("/a", b"one")
    updated = await backend.update("/a", b"two", revision=created)
    deleted = await backend.delete("/a", revision=updated)

    async with backend.watch("/", after=start) as feed:
        changes = await take(feed, 3)

    assert changes == [
        StoredChange("/a", b"one", None, created, created),
        StoredChange("/a", b"two", b"one", updated, created),
        StoredChange("/a", None, b"two", deleted, created),
    ]


async def test_a_key_created_again_has_no_previous_value(backend: Backend) -> None:
    first = await backend.create("/a", b"one")
    deleted = await backend.delete("/a", revision=first)
    second = await backend.create("/a", b"two")

    async with backend.watch("/", after=deleted) as feed:
        assert await take(feed, 1) == [StoredChange("/a", b"two", None, second, second)]


async def test_changes_come_while_the_feed_runs(backend: Backend) -> None:
    async with backend.watch("/", after=await backend.current_revision()) as feed:
        for number in range(5):
            revision = await backend.create(f"/{number}", b"")
            assert [change.revision for change in await take(feed, 1)] == [revision]


async def test_a_waiting_feed_is_woken(backend: Backend) -> None:
    async with backend.watch("/", after=await backend.current_revision()) as feed:
        waiting = asyncio.create_task(take(feed, 1))
        await asyncio.sleep(0)
        revision = await backend.create("/a", b"")

        assert [change.revision for change in await waiting] == [revision]


async def test_only_changes_after_the_revision_are_told(backend: Backend) -> None:
    revisions = await create_all(backend, ["/a", "/b", "/c", "/d"])

    async with backend.watch("/", after=revisions["/b"]) as feed:
        assert [change.key for change in await take(feed, 2)] == ["/c", "/d"]


async def test_the_previous_value_may_be_older_than_where_the_feed_began(
    backend: Backend,
) -> None:
    first = await backend.create("/a", b"one")
    start = await backend.create("/b", b"")
    await backend.compact(start)
    second = await backend.update("/a", b"two", revision=first)

    async with backend.watch("/", after=start) as feed:
        assert await take(feed, 1) == [StoredChange("/a", b"two", b"one", second, first)]


async def test_only_changes_of_the_prefix_are_told(backend: Backend) -> None:
    start = await backend.current_revision()
    keys = ["/a", "/a/", "/a/b", "/a0", "/b", "/a/\U0010ffff", "/A/b"]
    await create_all(backend, keys)

    async with backend.watch("/a/", after=start) as feed:
        assert [change.key for change in await take(feed, 3)] == ["/a/", "/a/b", "/a/\U0010ffff"]


async def test_a_feed_from_a_revision_to_come_waits_for_it(backend: Backend) -> None:
    start = await backend.current_revision()

    async with backend.watch("/", after=start + 2) as feed:
        revisions = list((await create_all(backend, ["/a", "/b", "/c", "/d"])).values())
        changes = await take(feed, sum(revision > start + 2 for revision in revisions))

    assert [change.revision for change in changes] == [r for r in revisions if r > start + 2]


async def test_feeds_do_not_take_from_each_other(backend: Backend) -> None:
    start = await backend.current_revision()
    async with backend.watch("/", after=start) as one, backend.watch("/", after=start) as other:
        await create_all(backend, ["/a", "/b"])

        assert await take(one, 2) == await take(other, 2)


async def test_changes_come_in_the_order_of_their_revisions_across_keys(backend: Backend) -> None:
    """Many write at once; the feed tells each write once, in order, and what it replaced."""
    start = await backend.current_revision()

    async def write(name: str) -> None:
        revision = await backend.create(name, b"0")
        for number in range(1, 10):
            revision = await backend.update(name, str(number).encode(), revision=revision)
        await backend.delete(name, revision=revision)

    async with backend.watch("/", after=start) as feed:
        reading = asyncio.create_task(take(feed, 20 * 11))
        await asyncio.gather(*(write(f"/{number}") for number in range(20)))
        changes = await reading

    revisions = [change.revision for change in changes]
    assert revisions == sorted(set(revisions))
    last: dict[str, bytes | None] = {}
    for change in changes:
        assert change.previous == last.get(change.key)
        last[change.key] = change.value
    assert set(last.values()) == {None}


async def test_a_feed_can_be_resumed_from_every_batch(backend: Backend) -> None:
    """The revision of a batch is a place to go on from without loss or repetition."""
    start = await backend.current_revision()
    revisions = list((await create_all(backend, [f"/{n:03}" for n in range(100)])).values())
    async with backend.watch("/", after=start) as feed:
        batches = await take_until(feed, revisions[-1])

    for batch in batches:
        after = [revision for revision in revisions if revision > batch.revision]
        async with backend.watch("/", after=batch.revision) as feed:
            assert [change.revision for change in await take(feed, len(after))] == after


async def test_batches_say_how_far_the_feed_has_come(backend: Backend) -> None:
    start = await backend.current_revision()
    last = list((await create_all(backend, [f"/{n:03}" for n in range(100)])).values())[-1]

    async with backend.watch("/", after=start) as feed:
        batches = await take_until(feed, last)

    came = start
    for batch in batches:
        assert all(came < change.revision <= batch.revision for change in batch.changes)
        assert came <= batch.revision
        came = batch.revision
    assert came == last


async def test_progress_is_told_when_asked_for_though_nothing_changes(backend: Backend) -> None:
    async with backend.watch("/a/", after=await backend.current_revision()) as feed:
        elsewhere = await backend.create("/b/1", b"")

        if await feed.request_progress():
            assert (await take_until(feed, elsewhere))[-1] == ChangeBatch((), elsewhere)


async def test_progress_comes_after_the_changes_before_it(backend: Backend) -> None:
    start = await backend.current_revision()
    async with backend.watch("/a/", after=start) as feed:
        inside = await create_all(backend, [f"/a/{number:03}" for number in range(50)])
        elsewhere = await backend.create("/b/1", b"")

        if await feed.request_progress():
            batches = await take_until(feed, elsewhere)
            told = [change.revision for batch in batches for change in batch.changes]
            assert told == list(inside.values())


async def test_progress_can_be_asked_for_while_somebody_waits(backend: Backend) -> None:
    async with backend.watch("/a/", after=await backend.current_revision()) as feed:
        elsewhere = await backend.create("/b/1", b"")
        waiting = asyncio.create_task(take_until(feed, elsewhere))
        await asyncio.sleep(0)

        if await feed.request_progress():
            assert (await waiting)[-1].revision >= elsewhere
        else:
            waiting.cancel()


async def test_a_cancelled_wait_loses_nothing(backend: Backend) -> None:
    async with backend.watch("/", after=await backend.current_revision()) as feed:
        for _ in range(3):
            waiting = asyncio.create_task(take(feed, 1))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        revision = await backend.create("/a", b"")

        assert [change.revision for change in await take(feed, 1)] == [revision]


async def test_watching_after_a_compacted_revision_is_refused(backend: Backend) -> None:
    first = await backend.create("/a", b"one")
    second = await backend.update("/a", b"two", revision=first)
    await backend.compact(second)

    with pytest.raises(Compacted) as refused:
        async with backend.watch("/", after=first) as feed:
            await take(feed, 1)

    assert (refused.value.revision, refused.value.oldest) == (first, second)


async def test_watching_after_the_oldest_revision_works(backend: Backend) -> None:
    first = await backend.create("/a", b"one")
    await backend.compact(first)
    second = await backend.update("/a", b"two", revision=first)

    async with backend.watch("/", after=first) as feed:
        assert await take(feed, 1) == [StoredChange("/a", b"two", b"one", second, first)]


async def test_a_feed_that_keeps_up_is_not_ended_by_compaction(backend: Backend) -> None:
    async with backend.watch("/a/", after=await backend.current_revision()) as feed:
        first = await backend.create("/a/1", b"one")
        await take(feed, 1)
        await backend.compact(first)
        second = await backend.update("/a/1", b"two", revision=first)

        assert await take(feed, 1) == [StoredChange("/a/1", b"two", b"one", second, first)]


async def test_large_values_are_told_with_what_they_replaced(backend: Backend) -> None:
    large = b"0123456789abcdef" * (5 * 64 * 1024)
    start = await backend.current_revision()
    first = await backend.create("/a", large)
    second = await backend.update("/a", b"small", revision=first)
    third = await backend.update("/a", large[::-1], revision=second)
    fourth = await backend.delete("/a", revision=third)

    async with backend.watch("/", after=start) as feed:
        changes = await take(feed, 4)

    assert changes == [
        StoredChange("/a", large, None, first, first),
        StoredChange("/a", b"small", large, second, first),
        StoredChange("/a", large[::-1], b"small", third, first),
        StoredChange("/a", None, large[::-1], fourth, first),
    ]


async def test_closing_the_backend_ends_its_feeds(backend: Backend) -> None:
    async def read_to_the_end() -> list[ChangeBatch]:
        async with backend.watch("/", after=await backend.current_revision()) as feed:
            started.set()
            return [batch async for batch in feed]

    started = asyncio.Event()
    reading = asyncio.create_task(read_to_the_end())
    await started.wait()
    await backend.close()

    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await reading == []


async def test_a_feed_ends_with_its_async_with(backend: Backend) -> None:
    async with backend.watch("/", after=await backend.current_revision()) as feed:
        pass

    with pytest.raises(StopAsyncIteration):
        await anext(feed)
