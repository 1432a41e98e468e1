"""Group commit, and what happens when the file is locked or the disk is full."""

import asyncio
import resource
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from apiserver.storage.interface import KeyExists, RevisionConflict, Unavailable
from apiserver.storage.sqlite.backend import SqliteBackend, open_sqlite
from apiserver.storage.sqlite.damage import DamageRecord
from apiserver.storage.sqlite.schema import open_file
from apiserver.storage.sqlite.sessions import OpenDatabase, SqliteSession, open_sessions
from apiserver.storage.sqlite.writes import Create, Delete, Update, run_writes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def backend(path: Path) -> AsyncIterator[SqliteBackend]:
    opened = await open_sqlite(f"sqlite:///{path}?max-value-bytes=3000000")
    yield opened
    await opened.close()


def check_integrity(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_waiting_writes_are_one_transaction_of_few_statements(path: Path) -> None:
    connection = open_file(path)
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    answers = run_writes(connection, [Create(f"/{n}", b"x", None) for n in range(128)])

    connection.close()
    assert answers == list(range(2, 130))
    assert [each for each in statements if each in ("BEGIN IMMEDIATE", "COMMIT")] == [
        "BEGIN IMMEDIATE",
        "COMMIT",
    ]
    assert len(statements) < 10


def test_writes_of_one_group_see_each_other(path: Path) -> None:
    connection = open_file(path)

    answers = run_writes(
        connection,
        [
            Create("/a", b"one", None),
            Create("/a", b"two", None),
            Update("/a", b"three", 2, None),
            Update("/a", b"four", 2, None),
            Delete("/a", 3),
            Create("/a", b"five", None),
        ],
    )

    connection.close()
    assert [answer for answer in answers if isinstance(answer, int)] == [2, 3, 4, 5]
    assert isinstance(answers[1], KeyExists)
    assert isinstance(answers[3], RevisionConflict)
    assert answers[3].current is not None
    assert answers[3].current.value == b"three"


async def test_a_write_waits_for_another_process_and_then_happens(
    backend: SqliteBackend, path: Path
) -> None:
    """Neither the event loop nor readers wait with it."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    writing = [asyncio.create_task(backend.create(f"/{n}", b"")) for n in range(10)]
    for _ in range(20):
        assert await backend.get("/0") is None
        assert (await backend.range("/")).records == []
    assert not any(task.done() for task in writing)
    other.execute("COMMIT")
    other.close()

    assert sorted(await asyncio.gather(*writing)) == list(range(2, 12))


async def test_a_reader_does_not_hold_up_a_writer(backend: SqliteBackend, path: Path) -> None:
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    before = reader.execute("SELECT revision FROM store").fetchone()

    async with asyncio.timeout(10):
        revision = await backend.create("/a", b"")

    assert reader.execute("SELECT revision FROM store").fetchone() == before
    reader.execute("COMMIT")
    assert reader.execute("SELECT revision FROM store").fetchone() == (revision,)
    reader.close()


async def test_the_revision_is_read_while_somebody_writes(
    backend: SqliteBackend, path: Path
) -> None:
    revision = await backend.create("/a", b"")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE store SET revision = revision + 1")

    assert await backend.current_revision() == revision

    writer.execute("COMMIT")
    assert await backend.current_revision() == revision + 1
    writer.close()


async def test_a_glance_does_not_wait_for_whoever_uses_the_connection(path: Path) -> None:
    (session,) = open_sessions(path, count=1, synchronous="full").sessions
    assert session.try_read_revision() == 1

    with session._lock:
        assert session.try_read_revision() is None

    session.close()
    assert session.try_read_revision() is None


async def test_a_bad_job_does_not_hurt_those_beside_it(backend: SqliteBackend) -> None:
    """A lone surrogate is no text; nothing can be stored under it or found."""
    outcomes = await asyncio.gather(
        backend.create("/a", b""),
        backend.create("/\ud800", b""),
        backend.create("/b", b""),
        return_exceptions=True,
    )
    found = await asyncio.gather(
        backend.get("/a"), backend.get("/\ud800"), backend.get("/b"), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [int, UnicodeEncodeError, int]
    assert isinstance(found[1], UnicodeEncodeError)
    assert [getattr(found[0], "key", None), getattr(found[2], "key", None)] == ["/a", "/b"]


async def test_a_full_disk_is_unavailable_until_there_is_room(path: Path) -> None:
    connections = [open_file(path) for _ in range(6)]
    sessions = [SqliteSession(each, threading.Lock()) for each in connections]
    backend = SqliteBackend(OpenDatabase(sessions, DamageRecord(path)))
    first = await backend.create("/first", b"x" * 10_000)
    (pages,) = connections[0].execute("PRAGMA page_count").fetchone()
    connections[0].execute(f"PRAGMA max_page_count = {pages + 5}")

    outcomes = await asyncio.gather(
        backend.create("/large", b"x" * 100_000),
        backend.create("/small", b"x"),
        backend.update("/first", b"y" * 100_000, revision=first),
        return_exceptions=True,
    )

    for outcome in (outcomes[0], outcomes[2]):
        assert isinstance(outcome, Unavailable)
        assert not outcome.uncertain
        assert "disk is full" in str(outcome)
    assert outcomes[1] == first + 1
    record = await backend.get("/first")
    assert record is not None
    assert record.value == b"x" * 10_000

    connections[0].execute("PRAGMA max_page_count = 1000000")
    assert await backend.create("/large", b"x" * 100_000) == first + 2
    await backend.close()
    check_integrity(path)


async def test_a_failing_disk_is_unavailable_until_it_works(
    backend: SqliteBackend, path: Path
) -> None:
    """The kernel refuses to let the files grow, as a broken disk or a quota would."""
    await backend.create("/first", b"")
    before = await backend.current_revision()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(Unavailable, match="SQLite"):
            await backend.create("/large", b"x" * 2_000_000)
        assert await backend.get("/large") is None
        assert await backend.current_revision() == before
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert await backend.create("/large", b"x" * 2_000_000) == before + 1
    await backend.close()
    check_integrity(path)


async def test_closing_waits_for_the_writes_that_wait(backend: SqliteBackend, path: Path) -> None:
    writing = [asyncio.create_task(backend.create(f"/{n}", b"")) for n in range(200)]
    await asyncio.sleep(0)

    await backend.close()

    assert sorted(await asyncio.gather(*writing)) == list(range(2, 202))
    again = await open_sqlite(f"sqlite:///{path}")
    assert len((await again.range("/")).records) == 200
    await again.close()


async def test_a_cancelled_writer_leaves_the_others_alone(backend: SqliteBackend) -> None:
    writing = [asyncio.create_task(backend.create(f"/{n}", b"")) for n in range(20)]
    await asyncio.sleep(0)
    for task in writing[::2]:
        task.cancel()

    outcomes = await asyncio.gather(*writing, return_exceptions=True)

    assert all(isinstance(outcome, int) for outcome in outcomes[1::2])
