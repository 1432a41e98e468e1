"""What every backend promises when several use one store, as the workers of a server do."""

import asyncio

import pytest

from apiserver.storage.interface import Backend, KeyExists, RevisionConflict, StoredChange
from tests.apiserver.storage.conftest import SettableClock, open_store
from tests.apiserver.storage.reading import create_all, take

Pair = tuple[Backend, Backend]


async def test_each_sees_what_the_other_has_written(pair: Pair) -> None:
    one, other = pair
    revision = await one.create("/a", b"one")

    record = await other.get("/a")

    assert record is not None
    assert record.revision == revision
    assert await other.current_revision() == revision
    assert (await other.range("/")).records == [record]


async def test_a_store_that_answers_has_healthy_members(pair: Pair) -> None:
    assert [await backend.check_members() for backend in pair] == [[""], [""]]


async def test_each_is_bound_by_what_the_other_has_written(pair: Pair) -> None:
    one, other = pair
    created = await one.create("/a", b"one")

    with pytest.raises(KeyExists):
        await other.create("/a", b"two")
    updated = await other.update("/a", b"two", revision=created)
    with pytest.raises(RevisionConflict) as refused:
        await one.update("/a", b"three", revision=created)
    assert refused.value.current is not None
    assert refused.value.current.revision == updated


async def test_a_feed_tells_what_the_other_writes(pair: Pair) -> None:
    one, other = pair
    async with one.watch("/", after=await one.current_revision()) as feed:
        created = await other.create("/a", b"one")
        assert await take(feed, 1) == [StoredChange("/a", b"one", None, created, created)]
        deleted = await other.delete("/a", revision=created)
        assert await take(feed, 1) == [StoredChange("/a", None, b"one", deleted, created)]


async def test_feeds_of_both_tell_the_writes_of_both_in_one_order(pair: Pair) -> None:
    start = await pair[0].current_revision()
    async with pair[0].watch("/", after=start) as one, pair[1].watch("/", after=start) as other:
        writes = await asyncio.gather(
            *(pair[n % 2].create(f"/{n:03}", str(n).encode()) for n in range(100))
        )
        told, told_other = await take(one, 100), await take(other, 100)

    assert told == told_other
    assert [change.revision for change in told] == sorted(writes)


async def test_of_many_updaters_on_both_one_wins(pair: Pair) -> None:
    first = await pair[0].create("/a", b"")

    outcomes = await asyncio.gather(
        *(pair[n % 2].update("/a", str(n).encode(), revision=first) for n in range(40)),
        return_exceptions=True,
    )

    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, RevisionConflict) for outcome in outcomes) == 39


async def test_progress_covers_what_the_other_has_written(pair: Pair) -> None:
    one, other = pair
    async with one.watch("/a/", after=await one.current_revision()) as feed:
        for number in range(10):
            revision = await other.create(f"/b/{number}", b"")
            if await feed.request_progress():
                batch = await anext(feed)
                while batch.revision < revision:
                    batch = await anext(feed)
                assert batch.changes == ()


async def test_a_key_expires_once_though_both_look(pair: Pair, clock: SettableClock) -> None:
    one, other = pair
    start = await one.current_revision()
    for number in range(5):
        await one.create(f"/{number}", b"", ttl=1)

    async with one.watch("/", after=start) as feed, other.watch("/", after=start) as feed_other:
        clock.advance(1)
        told = await take(feed, 10)
        assert await take(feed_other, 10) == told
        last = await one.create("/last", b"")
        assert [change.revision for change in await take(feed, 1)] == [last]

    assert sorted(change.key for change in told[5:]) == [f"/{number}" for number in range(5)]
    assert all(change.value is None for change in told[5:])


async def test_what_is_written_is_there_when_the_store_is_opened_again(
    shared_url: str, clock: SettableClock
) -> None:
    first = await open_store(shared_url, clock)
    start = await first.current_revision()
    revisions = await create_all(first, ["/a", "/b"])
    deleted = await first.delete("/a", revision=revisions["/a"])
    page = await first.range("/")
    await first.close()

    second = await open_store(shared_url, clock)

    assert (await second.range("/")).records == page.records
    assert await second.range("/", revision=page.revision) == page
    assert await second.current_revision() >= deleted
    async with second.watch("/", after=start) as feed:
        told = await take(feed, 3)
    assert [change.revision for change in told] == [*revisions.values(), deleted]
    assert await second.create("/c", b"") > deleted
    await second.close()


async def test_compaction_and_times_are_remembered_when_the_store_is_opened_again(
    shared_url: str, clock: SettableClock
) -> None:
    first = await open_store(shared_url, clock)
    created = await first.create("/a", b"one", ttl=2)
    await first.compact(created)
    await first.close()

    second = await open_store(shared_url, clock)

    await second.compact(created - 1)
    async with second.watch("/", after=created) as feed:
        clock.advance(2)
        (change,) = await take(feed, 1)
    assert (change.key, change.value, change.previous) == ("/a", None, b"one")
    await second.close()
