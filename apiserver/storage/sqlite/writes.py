"""SQLite writes: group commit, one transaction for all pending writes.

A transaction reads the heads of all keys of the group at once, decides each write in turn in
memory, and inserts all rows at once. So the number of SQL statements hardly depends on the number
of writes, and a refused write has touched nothing: the other writes proceed.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import orjson

from apiserver.storage.interface import (
    KEEP_TTL,
    KeyExists,
    Record,
    RevisionConflict,
    StorageError,
    Unavailable,
)
from apiserver.storage.sqlite.damage import DamagedFile
from apiserver.storage.sqlite.queries import read_state, read_value, with_placeholders
from apiserver.storage.sqlite.schema import (
    is_size_error,
    is_uncertain,
    retry_busy,
    roll_back,
    unavailable,
)

EXPIRED_BATCH_SIZE: Final = 500

_HEADS: Final = """
    SELECT json_group_array(json_array(key, revision, created, expires))
    FROM newest WHERE key IN (%s)
"""
_EXPIRED: Final = """
    SELECT json_group_array(key) FROM (
        SELECT key FROM newest WHERE expires <= ? ORDER BY expires LIMIT ?
    )
"""
_INSERT_HISTORY: Final = "INSERT INTO history (revision, key, created, previous, value) VALUES "
_REPLACE_NEWEST: Final = "REPLACE INTO newest (key, revision, created, expires) VALUES "


@dataclass(frozen=True, slots=True)
class Create:
    key: str
    value: bytes
    expires: int | None


@dataclass(frozen=True, slots=True)
class Update:
    key: str
    value: bytes
    revision: int
    expires: int | None


@dataclass(frozen=True, slots=True)
class Delete:
    key: str
    revision: int


@dataclass(frozen=True, slots=True)
class Expire:
    """Delete the expired keys; decided inside the transaction, so each expires only once."""

    now: int


T = TypeVar("T")

Write: TypeAlias = Create | Update | Delete | Expire

Maintenance: TypeAlias = Callable[[sqlite3.Connection], Any]
"""A job that runs in a write transaction of its own."""


@dataclass(frozen=True, slots=True)
class Head:
    """A row of `newest`; *created* is None for a deleted key."""

    revision: int
    created: int | None
    expires: int | None


def run_writes(connection: sqlite3.Connection, jobs: Sequence[Write | Maintenance]) -> list[Any]:
    """Run the writes among *jobs* in one transaction, then the other jobs.

    Returns one result per job, as `BatchExecutor` expects.
    """
    writes = [job for job in jobs if not callable(job)]
    results = iter(_commit_writes(connection, writes))
    return [_run_separately(connection, job) if callable(job) else next(results) for job in jobs]


def _commit_writes(connection: sqlite3.Connection, writes: Sequence[Write]) -> list[Any]:
    """Commit *writes* together; return the outcome of each, once it is durable."""
    if not writes:
        return []
    try:
        return _transaction(connection, lambda: Transaction(connection, writes).apply())
    except Unavailable as error:
        # Out of space for the whole group: raise, so that the writes are retried one by one.
        if isinstance(error.__cause__, sqlite3.Error) and is_size_error(error.__cause__):
            raise
        if isinstance(error, DamagedFile):
            return [error] * len(writes)
        return [Unavailable(str(error), uncertain=error.uncertain) for _ in writes]


def _run_separately(connection: sqlite3.Connection, job: Maintenance) -> Any:
    try:
        return _transaction(connection, lambda: job(connection))
    except StorageError as error:
        return error


def _transaction(connection: sqlite3.Connection, body: Callable[[], T]) -> T:
    """Return the result of *body*, committed; if this raises, nothing has been written."""
    committing = False
    try:
        retry_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
        outcome = body()
        committing = True
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise unavailable(error, uncertain=committing and is_uncertain(error)) from error
    finally:
        roll_back(connection)
    return outcome


class Transaction:
    """Applies a group of writes inside an SQLite transaction that the caller commits."""

    def __init__(self, connection: sqlite3.Connection, writes: Sequence[Write]) -> None:
        self._connection = connection
        self._writes = writes
        self._revision = read_state(connection).revision
        self._heads: dict[str, Head] = {}
        self._read_heads(write.key for write in writes if not isinstance(write, Expire))
        self._rows: list[tuple[int, str, int, int, bytes | None]] = []
        self._touched: dict[str, Head] = {}

    def apply(self) -> list[Any]:
        """Decide every write and store the accepted ones; return all outcomes, also refusals."""
        results: list[Any] = []
        for write in self._writes:
            try:
                results.append(self._decide(write))
            except StorageError as refusal:
                results.append(refusal)
        self._store()
        return results

    def _decide(self, write: Write) -> int:
        match write:
            case Create(key, value, expires):
                head = self._heads.get(key)
                if head is not None and head.created is not None:
                    raise KeyExists(key)
                return self._write(key, value, created=self._revision + 1, expires=expires)
            case Update(key, value, revision, expires):
                created = self._expect(key, revision)
                if expires == KEEP_TTL:
                    expires = self._heads[key].expires
                return self._write(key, value, created=created, expires=expires)
            case Delete(key, revision):
                return self._write(key, None, created=self._expect(key, revision))
            case Expire(now):
                return self._expire(now)

    def _expect(self, key: str, revision: int) -> int:
        """Return the revision that created *key*, which must be at *revision* now.

        Raises RevisionConflict.
        """
        head = self._heads.get(key)
        if head is None or head.created is None:
            raise RevisionConflict(key, expected=revision, current=None)
        if head.revision != revision:
            value = self._value(head.revision)
            current = Record(key, value, head.revision, head.created)
            raise RevisionConflict(key, expected=revision, current=current)
        return head.created

    def _write(
        self, key: str, value: bytes | None, *, created: int, expires: int | None = None
    ) -> int:
        self._revision += 1
        head = self._heads.get(key)
        previous = head.revision if head else 0
        self._rows.append((self._revision, key, created, previous, value))
        head = Head(self._revision, None if value is None else created, expires)
        self._heads[key] = self._touched[key] = head
        return self._revision

    def _expire(self, now: int) -> int:
        (packed,) = self._connection.execute(_EXPIRED, (now, EXPIRED_BATCH_SIZE)).fetchone()
        expired: list[str] = orjson.loads(packed)
        self._read_heads(key for key in expired if key not in self._heads)
        for key in expired:
            head = self._heads[key]
            # A write of the same group may have extended its expiry or deleted it.
            if head.created is not None and head.expires is not None and head.expires <= now:
                self._write(key, None, created=head.created)
        return self._revision

    def _read_heads(self, keys: Iterable[str]) -> None:
        for chunk, placeholders in with_placeholders(list(dict.fromkeys(keys))):
            (packed,) = self._connection.execute(_HEADS % placeholders, chunk).fetchone()
            for key, *head in orjson.loads(packed):
                self._heads[key] = Head(*head)

    def _value(self, revision: int) -> bytes:
        for row in self._rows:
            if row[0] == revision and row[4] is not None:
                return row[4]
        return read_value(self._connection, revision)

    def _store(self) -> None:
        if not self._rows:
            return
        newest = [
            (key, head.revision, head.created, head.expires) for key, head in self._touched.items()
        ]
        _insert(self._connection, _INSERT_HISTORY, self._rows)
        _insert(self._connection, _REPLACE_NEWEST, newest)
        self._connection.execute("UPDATE store SET revision = ?", (self._revision,))


def _insert(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert *rows* in chunks whose lengths are powers of two (see `with_placeholders`)."""
    offset = 0
    row_placeholders = f"({', '.join('?' * len(rows[0]))})"
    while offset < len(rows):
        count = min(1 << ((len(rows) - offset).bit_length() - 1), 128)
        values = [value for row in rows[offset : offset + count] for value in row]
        connection.execute(statement + ", ".join([row_placeholders] * count), values)
        offset += count
