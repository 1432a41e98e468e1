"""SQLite sessions: the connections of the threads that use one database.

With a file, every thread has its own connection, and readers see a snapshot while the writer
proceeds. An in-memory database exists only in its one connection, so the threads take turns.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from apiserver.storage.interface import StorageError
from apiserver.storage.sqlite.damage import (
    CheckInterrupted,
    DamagedFile,
    DamageRecord,
    find_damage,
)
from apiserver.storage.sqlite.lost_commits import replay_log
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

CHECK_SECONDS: Final = 10.0
"""Seconds for which opening a file waits until it is checked; later the check goes on beside."""

Query: TypeAlias = Callable[[sqlite3.Connection], Any]


class SqliteSession:
    """A connection that a thread uses while it holds the lock."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        lock: threading.Lock,
        damage: DamageRecord | None = None,
    ) -> None:
        self._connection = connection
        self._lock = lock
        self._damage = damage or DamageRecord(None)

    def write(self, jobs: Sequence[Write | Maintenance]) -> list[Any]:
        """Run writes; if the database is damaged, refuse them all."""
        try:
            self._damage.check()
        except DamagedFile as error:
            return [error] * len(jobs)
        with self._lock:
            results = run_writes(self._connection, jobs)
        for result in results:
            if isinstance(result, DamagedFile):
                self._damage.note(result.reason)
        return results

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
        try:
            with self._lock:
                (value,) = retry_busy(lambda: self._connection.execute(statement).fetchone())
        except sqlite3.Error as error:
            raise self._noting(unavailable(error)) from error
        return None if value is None else int(value)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _answer(self, query: Query) -> Any:
        try:
            with self._lock:
                return retry_busy(lambda: self._snapshot(query))
        except StorageError as error:
            return self._noting(error)
        except sqlite3.Error as error:
            return self._noting(unavailable(error))
        except UnicodeEncodeError:
            raise  # a key that cannot exist
        except (TypeError, ValueError):
            # Rows that do not fit the code that wrote them: a bug, or damage.
            self._damage.suspect()
            raise

    def _noting(self, error: StorageError) -> StorageError:
        if isinstance(error, DamagedFile):
            self._damage.note(error.reason)
        return error

    def _snapshot(self, query: Query) -> Any:
        self._connection.execute("BEGIN")
        try:
            return query(self._connection)
        finally:
            roll_back(self._connection)


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """The sessions of a database, and what is known about its damage."""

    sessions: list[SqliteSession]
    damage: DamageRecord
    is_checked: bool = True
    """Whether the whole file could be checked in time."""


def open_sessions(path: Path | None, *, count: int, synchronous: Synchronous) -> OpenDatabase:
    """Open *count* sessions of the database at *path*, or of one in memory if *path* is None.

    A file is checked for damage first, for CHECK_SECONDS at most.
    """
    damage = DamageRecord(path)
    if path is None:
        connection, lock = open_memory(), threading.Lock()
        return OpenDatabase([SqliteSession(connection, lock) for _ in range(count)], damage)
    # Otherwise a power failure may leave the same traces, and lose what was never promised.
    if synchronous == "full" and (lost := replay_log(path)):
        damage.note(f"its write-ahead log is damaged: {lost} transactions are lost")
    with contextlib.ExitStack() as opened:
        connections = []
        for _ in range(count):
            connection = open_file(path, synchronous=synchronous)
            opened.callback(connection.close)
            connections.append(connection)
        is_checked = bool(damage.reason) or _check(connections[0], damage)
        opened.pop_all()
    sessions = [SqliteSession(connection, threading.Lock(), damage) for connection in connections]
    return OpenDatabase(sessions, damage, is_checked)


def _check(connection: sqlite3.Connection, damage: DamageRecord) -> bool:
    """Look for damage; return False if that takes too long to wait for it."""
    try:
        problems = retry_busy(lambda: find_damage(connection, seconds=CHECK_SECONDS))
    except CheckInterrupted:
        return False
    if problems:
        damage.note("; ".join(problems))
    return True


def _look_up(connection: sqlite3.Connection, keys: Sequence[str]) -> tuple[Any, int]:
    return read_records(connection, keys), read_state(connection).revision
