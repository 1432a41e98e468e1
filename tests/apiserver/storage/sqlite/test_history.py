"""The rows that compaction removes, what reads cost, and feeds that are behind."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.interface import Compacted, StoredChange
from apiserver.storage.sqlite import compaction as sqlite_compaction
from apiserver.storage.sqlite import queries as sqlite_queries
from apiserver.storage.sqlite.backend import SqliteBackend, open_sqlite
from apiserver.storage.sqlite.compaction import mark_compacted, sweep
from apiserver.storage.sqlite.queries import prefix_end, read_batch, read_page, read_state
from apiserver.storage.sqlite.schema import open_file, open_memory
from apiserver.storage.sqlite.writes import Create, Delete, Update, run_writes
from tests.apiserver.storage.conftest import SettableClock
from tests.apiserver.storage.reading import take, take_until

TEXT = st.text(max_size=3) | st.text("\ud7ff\ue000\uffff\U00010000\U0010ffff\0a", max_size=3)


@pytest.fixture
async def backend(tmp_path: Path, clock: SettableClock) -> AsyncIterator[SqliteBackend]:
    opened = await open_sqlite(
        f"sqlite:///{tmp_path}/store.db?max-value-bytes=4000000", clock=clock
    )
    yield opened
    await opened.close()


def rows(path: Path, table: str) -> list[Any]:
    connection = sqlite3.connect(path / "store.db")
    found = connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
    connection.close()
    return found


def steps(connection: sqlite3.Connection, action: Callable[[], object]) -> int:
    """How many instructions SQLite runs for *action*, in tens: its cost, without a stop-watch."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    connection.set_progress_handler(step, 10)
    action()
    connection.set_progress_handler(None, 0)
    return count


@given(prefix=TEXT, rest=TEXT, other=TEXT)
def test_prefix_end_bounds_exactly_the_keys_with_the_prefix(
    prefix: str, rest: str, other: str
) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE keys (key TEXT)")

    def inside(key: str) -> bool:
        return bool(
            connection.execute(
                "SELECT ?1 >= ?2 AND ?1 < ?3", (key, prefix, prefix_end(prefix))
            ).fetchone()[0]
        )

    assert inside(prefix + rest)
    assert inside(other) == other.startswith(prefix)
    connection.close()


async def test_the_first_write_has_revision_2_and_the_history_begins_with_0(
    backend: SqliteBackend,
) -> None:
    async with backend.watch("/", after=0) as feed:
        assert await backend.create("/a", b"one") == 2
        assert await take(feed, 1) == [StoredChange("/a", b"one", None, 2, 2)]


async def test_compaction_removes_what_nobody_can_ask_for(
    backend: SqliteBackend, tmp_path: Path
) -> None:
    first = await backend.create("/a", b"1")
    second = await backend.update("/a", b"2", revision=first)
    gone = await backend.create("/gone", b"1")
    deleted = await backend.delete("/gone", revision=gone)
    third = await backend.update("/a", b"3", revision=second)
    await backend.create("/b", b"1")

    await backend.compact(deleted)
    assert [row[0] for row in rows(tmp_path, "history")] == [second, third, third + 1]
    assert [row[0] for row in rows(tmp_path, "newest")] == ["/a", "/b"]

    await backend.compact(third)
    assert [row[0] for row in rows(tmp_path, "history")] == [third, third + 1]


async def test_a_key_created_again_outlives_the_compaction_of_its_deletion(
    backend: SqliteBackend,
) -> None:
    first = await backend.create("/a", b"1")
    deleted = await backend.delete("/a", revision=first)
    again = await backend.create("/a", b"2")
    await backend.compact(deleted)

    assert (await backend.range("/", revision=deleted)).records == []
    async with backend.watch("/", after=deleted) as feed:
        assert await take(feed, 1) == [StoredChange("/a", b"2", None, again, again)]


def test_a_sweep_that_was_cut_off_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_compaction, "SWEEP_REVISIONS", 10)
    connection = open_file(tmp_path / "store.db")
    run_writes(
        connection, [Create("/a", b"", None), *(Update("/a", b"", n, None) for n in range(2, 52))]
    )
    mark_compacted(connection, 50)
    assert sweep(connection)
    left = len(connection.execute("SELECT * FROM history").fetchall())
    connection.close()

    connection = open_file(tmp_path / "store.db")
    mark_compacted(connection, 50)
    while sweep(connection):
        pass

    assert left > 30
    assert connection.execute("SELECT revision FROM history").fetchall() == [(50,), (51,), (52,)]
    assert read_state(connection).swept == 50
    connection.close()


def test_space_is_given_back_in_slices_that_are_neither_long_nor_many(tmp_path: Path) -> None:
    connection = open_file(tmp_path / "store.db")
    writes = [Update("/a", bytes(20_000), n, None) for n in range(2, 202)]
    run_writes(connection, [Create("/a", b"", None), *writes])
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    mark_compacted(connection, read_state(connection).revision)

    sizes = [pages]
    while sweep(connection):
        sizes += connection.execute("PRAGMA page_count").fetchone()

    shrunk = [before - after for before, after in pairwise(sizes)]
    # SQLite's own map of the pages shrinks with them.
    assert max(shrunk) <= sqlite_compaction.VACUUM_PAGES + 2
    assert len(shrunk) < 5 + pages / sqlite_compaction.VACUUM_PAGES
    connection.close()


async def test_compaction_gives_space_back(backend: SqliteBackend, tmp_path: Path) -> None:
    revision = await backend.create("/a", b"")
    for _ in range(200):
        revision = await backend.update("/a", bytes(20_000), revision=revision)
    path = tmp_path / "store.db"
    large = _pages(path)

    await backend.compact(revision)

    assert _pages(path) < large // 10
    assert await backend.update("/a", b"", revision=revision) == revision + 1


def _pages(path: Path) -> int:
    connection = sqlite3.connect(path)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.close()
    return int(pages)


def test_the_cost_of_a_list_does_not_grow_with_history() -> None:
    connection = open_memory()
    run_writes(connection, [Create(f"/a/{n:03}", b"", None) for n in range(100)])
    run_writes(connection, [Create(f"/b/{n:03}", b"", None) for n in range(100)])

    def read() -> None:
        page = read_page(connection, "/a/", start="", limit=0, revision=None)
        assert len(page.records) == 100

    before = steps(connection, read)
    for _ in range(30):
        records = read_page(connection, "/a/", start="", limit=0, revision=None).records
        run_writes(connection, [Update(each.key, b"", each.revision, None) for each in records])
    gone = [Create(f"/a/{n:03}~", b"", None) for n in range(100)]
    for write, revision in zip(gone, run_writes(connection, gone), strict=True):
        run_writes(connection, [Delete(write.key, revision)])
    current = read_state(connection).revision
    mark_compacted(connection, current)
    while sweep(connection):
        pass

    assert steps(connection, read) <= before + 5
    connection.close()


def test_a_page_costs_the_same_among_many_keys() -> None:
    connection = open_memory()
    run_writes(connection, [Create(f"/a/{n:05}", b"", None) for n in range(100)])

    def read() -> None:
        read_page(connection, "/a/00050", start="", limit=0, revision=None)

    before = steps(connection, read)
    run_writes(connection, [Create(f"/a/{n:05}", b"", None) for n in range(100, 10_000)])

    assert steps(connection, read) <= before + 5
    connection.close()


async def test_a_feed_reads_what_it_is_behind_in_slices(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        last = await backend.create(f"/{number:02}", bytes(1000))
    monkeypatch.setattr(sqlite_queries, "FEED_ROWS", 7)
    monkeypatch.setattr(sqlite_queries, "FEED_BYTES", 5000)

    async with backend.watch("/", after=0) as feed:
        batches = await take_until(feed, last)

    assert max(len(batch.changes) for batch in batches) == 5
    told = [change.revision for batch in batches for change in batch.changes]
    assert told == list(range(2, 52))


async def test_a_change_larger_than_a_slice_comes_alone(backend: SqliteBackend) -> None:
    large = bytes(3 * 1024 * 1024)
    first = await backend.create("/a", large)
    last = await backend.update("/a", large, revision=first)

    async with backend.watch("/", after=0) as feed:
        batches = await take_until(feed, last)

    assert [len(batch.changes) for batch in batches] == [1, 1]


def test_a_feed_of_few_changes_among_many_goes_on_in_steps() -> None:
    connection = open_memory()
    for start in range(0, 12_000, 1000):
        run_writes(connection, [Create(f"/b/{start + n}", b"", None) for n in range(1000)])
    run_writes(connection, [Create("/a/1", b"", None)])

    seen = []
    after = 0
    while True:
        batch, current = read_batch(connection, "/a/", after=after)
        seen.append((after, len(batch.changes)))
        after = batch.revision
        if after == current:
            break

    assert seen == [(0, 0), (5000, 0), (10_000, 1)]
    connection.close()


async def test_a_feed_that_is_behind_when_compaction_passes_it_is_told(
    backend: SqliteBackend,
) -> None:
    first = await backend.create("/a", b"1")
    async with backend.watch("/", after=first) as feed:
        second = await backend.update("/a", b"2", revision=first)
        third = await backend.update("/a", b"3", revision=second)
        await backend.compact(third)

        with pytest.raises(Compacted) as refused:
            await anext(feed)

    assert (refused.value.revision, refused.value.oldest) == (first, third)


async def test_thousands_of_keys_expire_together(
    backend: SqliteBackend, clock: SettableClock
) -> None:
    for number in range(1200):
        last = await backend.create(f"/{number:04}", b"", ttl=10)

    async with backend.watch("/", after=last) as feed:
        clock.advance(10)
        changes = await take(feed, 1200)

    assert {change.key for change in changes} == {f"/{number:04}" for number in range(1200)}
    assert all(change.value is None for change in changes)


async def test_time_is_kept_to_the_second(backend: SqliteBackend, clock: SettableClock) -> None:
    """A key that goes a second later shows that the moment before was too early."""
    last = await backend.create("/a", b"", ttl=10)
    await backend.create("/early", b"", ttl=9)

    async with backend.watch("/", after=last + 1) as feed:
        clock.advance(9)
        assert [change.key for change in await take(feed, 1)] == ["/early"]
        assert await backend.get("/a") is not None
        clock.advance(1)
        assert [change.key for change in await take(feed, 1)] == ["/a"]
