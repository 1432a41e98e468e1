"""A feed whose store cannot be read for a while, and one whose reader is cancelled."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from apiserver.storage.interface import ChangeBatch, StoredChange, Unavailable
from apiserver.storage.sqlite.backend import SqliteBackend, open_sqlite
from apiserver.storage.sqlite.feed import NewestRevision, SqliteFeed
from tests.apiserver.storage.reading import take

CHANGE = StoredChange("/a", b"one", None, 2, 2)


@pytest.fixture
async def backend() -> AsyncIterator[SqliteBackend]:
    opened = await open_sqlite("sqlite://:memory:")
    yield opened
    await opened.close()


async def test_a_store_that_cannot_be_read_does_not_end_a_feed() -> None:
    positions: list[int] = []

    async def read(prefix: str, after: int) -> tuple[ChangeBatch, int]:
        positions.append(after)
        if len(positions) < 3:
            raise Unavailable("disk I/O error")
        return ChangeBatch((CHANGE,), 2), 2

    newest = NewestRevision()
    feed = SqliteFeed(newest, read, "/", after=1)
    newest.feeds.add(feed)
    reading = asyncio.create_task(take(feed, 1))
    while len(positions) < 3:
        # A write of this process wakes it; otherwise it would try again by itself.
        newest.advance(newest.revision + 1)
        await asyncio.sleep(0)

    assert await reading == [CHANGE]
    assert positions == [1, 1, 1]


async def test_a_feed_tries_again_by_itself() -> None:
    tries = 0

    async def read(prefix: str, after: int) -> tuple[ChangeBatch, int]:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise Unavailable("disk I/O error")
        return ChangeBatch((CHANGE,), 2), 2

    assert await take(SqliteFeed(NewestRevision(), read, "/", after=1), 1) == [CHANGE]


async def test_a_reader_cancelled_at_any_moment_loses_nothing(backend: SqliteBackend) -> None:
    """Cancelled before, while and after the store is read, the next one still gets every change."""
    told: list[int] = []

    async def read() -> None:
        told.extend(change.revision for change in (await anext(feed)).changes)

    async with backend.watch("/", after=0) as feed:
        for number in range(60):
            reading = asyncio.create_task(read())
            writing = asyncio.create_task(backend.create(f"/{number}", b""))
            for _ in range(number % 8):
                await asyncio.sleep(0)
            reading.cancel()
            last = await writing
            await asyncio.gather(reading, return_exceptions=True)
        while not told or told[-1] < last:
            await read()

    assert told == list(range(2, 62))


async def test_progress_asked_for_during_a_read_is_answered_by_a_later_one() -> None:
    """The read under way may have begun before what the progress has to cover."""
    revision = 5
    reads = 0
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def read(prefix: str, after: int) -> tuple[ChangeBatch, int]:
        nonlocal reads
        reads += 1
        current = revision
        begun.set()
        await go_on.wait()
        return ChangeBatch((), current), current

    feed = SqliteFeed(NewestRevision(), read, "/", after=1)
    reading = asyncio.create_task(anext(feed))
    await begun.wait()
    revision = 6
    await feed.request_progress()
    go_on.set()

    assert await reading == ChangeBatch((), 6)
    assert reads == 2


async def test_a_feed_that_is_behind_reads_on_without_being_woken() -> None:
    async def read(prefix: str, after: int) -> tuple[ChangeBatch, int]:
        change = StoredChange("/a", b"", None, after + 1, after + 1)
        return ChangeBatch((change,), after + 1), 5

    feed = SqliteFeed(NewestRevision(), read, "/", after=1)

    assert [change.revision for change in await take(feed, 4)] == [2, 3, 4, 5]
