"""SQLite sessions: the connections of the threads that use one database.

With a file, every thread has its own connection, and readers see a snapshot while the writer
proceeds. An in-memory database exists only in its one connection, so the threads take turns.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from apiserver.storage.interface import StorageError
from apiserver.storage.sqlite.queries import read_records, read_state
from apiserver.storage.sqlite.schema import (
    Synchronous,
    open_file,
    open_memory,
    retry_busy,
    roll_back,
    unavailable,
)
from apiserver.storage.sqlite.writes import Maintenance, Write, run_writes

T = TypeVar("T")

Lookup: TypeAlias = str | None
"""A key to read, or None to read the revision of the store."""

Query: TypeAlias = Callable[[sqlite3.Connection], Any]


class SqliteSession:
    """A connection that a thread uses while it holds the lock."""

    def __init__(self, connection: sqlite3.Connection, lock: threading.Lock) -> None:
        self._connection = connection
        self._lock = lock

    @property
    def max_row_bytes(self) -> int:
        """Return the maximum size of a row in bytes."""
        return self._connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)

    def write(self, jobs: Sequence[Write | Maintenance]) -> list[Any]:
        with self._lock:
            return run_writes(self._connection, jobs)

    def query(self, jobs: Sequence[Query]) -> list[Any]:
        """Run each query in a snapshot of its own."""
        return [self._answer(job) for job in jobs]

    def look_up(self, jobs: Sequence[Lookup]) -> list[Any]:
        """Answer all lookups from one snapshot, which is newer than any of the requests."""
        keys = [key for key in jobs if key is not None]
        outcome = self._answer(lambda connection: _look_up(connection, keys))
        if isinstance(outcome, StorageError):
            return [outcome] * len(jobs)
        records, revision = outcome
        return [revision if key is None else records.get(key) for key in jobs]

    def try_read_revision(self) -> int | None:
        """Return the revision of the store, or None if that would block.

        Called on the event loop: it reads one row, which is in memory because some process has just
        read or written it, and readers of the write-ahead log wait for no lock.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            (revision,) = self._connection.execute("SELECT revision FROM store").fetchone()
        except sqlite3.Error:
            return None
        finally:
            self._lock.release()
        return int(revision)

    def value(self, statement: str) -> int | None:
        """Return the single number that *statement* selects, None if it selects NULL."""
        with self._lock:
            (value,) = retry_busy(lambda: self._connection.execute(statement).fetchone())
        return None if value is None else int(value)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _answer(self, query: Query) -> Any:
        try:
            with self._lock:
                return retry_busy(lambda: self._snapshot(query))
        except StorageError as error:
            return error
        except sqlite3.Error as error:
            return unavailable(error)

    def _snapshot(self, query: Query) -> Any:
        self._connection.execute("BEGIN")
        try:
            return query(self._connection)
        finally:
            roll_back(self._connection)


def open_sessions(
    path: Path | None, *, count: int, synchronous: Synchronous
) -> list[SqliteSession]:
    """Open *count* sessions of the database at *path*, or of one in memory if *path* is None."""
    if path is None:
        connection, lock = open_memory(), threading.Lock()
        return [SqliteSession(connection, lock) for _ in range(count)]
    with contextlib.ExitStack() as opened:
        connections = []
        for _ in range(count):
            connection = open_file(path, synchronous=synchronous)
            opened.callback(connection.close)
            connections.append(connection)
        opened.pop_all()
    return [SqliteSession(connection, threading.Lock()) for connection in connections]


def _look_up(connection: sqlite3.Connection, keys: Sequence[str]) -> tuple[Any, int]:
    return read_records(connection, keys), read_state(connection).revision
