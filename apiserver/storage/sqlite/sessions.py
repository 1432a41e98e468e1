"""Connections to one database, and what a thread does with one.

A file gets a connection for every thread, and readers see a snapshot while the writer goes on. A
database in memory belongs to its one connection, so there the threads take turns.
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
"""A key, or None for the revision of the store."""

Query: TypeAlias = Callable[[sqlite3.Connection], Any]


class SqliteSession:
    """A connection that is this thread's while it holds the lock."""

    def __init__(self, connection: sqlite3.Connection, lock: threading.Lock) -> None:
        self._connection = connection
        self._lock = lock

    @property
    def largest(self) -> int:
        """How many bytes a row can have."""
        return self._connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)

    def write(self, jobs: Sequence[Write | Maintenance]) -> list[Any]:
        with self._lock:
            return run_writes(self._connection, jobs)

    def query(self, jobs: Sequence[Query]) -> list[Any]:
        """Answer each query from a snapshot of its own."""
        return [self._answer(job) for job in jobs]

    def look_up(self, jobs: Sequence[Lookup]) -> list[Any]:
        """Answer all from one snapshot, which is newer than any of the questions."""
        keys = [key for key in jobs if key is not None]
        answer = self._answer(lambda connection: _look_up(connection, keys))
        if isinstance(answer, StorageError):
            return [answer] * len(jobs)
        records, revision = answer
        return [revision if key is None else records.get(key) for key in jobs]

    def glance(self) -> int | None:
        """The revision of the store if it can be read without waiting for anybody, else None.

        For the event loop: it is one row, which some process has written or read a moment ago and
        which is therefore in memory, and readers of SQLite's log wait for no lock.
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
        """The one number that *statement* selects."""
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
    """*count* sessions of the database in a file, or in memory if *path* is None."""
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
