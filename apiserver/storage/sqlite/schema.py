"""The SQLite file: its tables, the marks by which we know it as ours, and how it is opened.

    history   one row per write; its id is the revision. A deletion is a row without a value.
              `previous` is the revision of the same key that the row replaced (0: none), so
              the versions of a key are a chain that any read of the past can walk down.
    newest    one row per key: the head of its chain. A deleted key keeps its row, without
              `created`, until compaction forgets the deletion.
    store     one row: the revision of the whole store, the oldest revision that can be read
              (`compacted`), and how far the rows it made superfluous are removed (`swept`).

A list therefore reads `newest` in the order of the keys and never meets history, however long
that is, and the counter survives the removal of the row that counted last. Revisions are given
out inside `BEGIN IMMEDIATE`, of which SQLite allows one at a time over all processes, so no
reader can see revision n+1 without n.

This is apart from the reading and writing because only it decides whose file this is.
"""

import contextlib
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, TypeVar

from apiserver.storage.interface import Full, StorageError, Unavailable

APPLICATION_ID: Final = 0x4B415049
"""'KAPI' in the header of the file, where `file` and other programs look for it."""

SCHEMA_VERSION: Final = 1

MINIMUM_SQLITE: Final = (3, 38, 0)
"""The first that always has JSON, in which rows come packed."""

BUSY_SECONDS: Final = 30.0
"""How long a process waits for the others' transactions before it gives up."""

# The first revision is 1, as in etcd: an empty list has a revision too, and 0 means "any".
_TABLES: Final = """
    CREATE TABLE store (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        revision INTEGER NOT NULL,
        compacted INTEGER NOT NULL,
        swept INTEGER NOT NULL
    );
    INSERT INTO store VALUES (1, 1, 0, 0);
    CREATE TABLE history (
        revision INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        created INTEGER NOT NULL,
        previous INTEGER NOT NULL,
        value BLOB
    );
    CREATE TABLE newest (
        key TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        created INTEGER,
        expires INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX newest_expires ON newest (expires) WHERE expires IS NOT NULL;
"""

Synchronous = Literal["full", "normal", "off"]
T = TypeVar("T")


class CannotOpen(StorageError):
    """The file cannot be used as a store; the message says why and what to do."""


class NotOurFile(CannotOpen):
    """The file holds something else; it has not been changed."""


class NewerSchema(CannotOpen):
    """The file was written by a newer version of this program; it has not been changed."""


def open_file(path: Path, *, synchronous: Synchronous = "full") -> sqlite3.Connection:
    """Open the store in *path*, and make it if there is none."""
    try:
        _check_path(path)
        connection = _connect(str(path))
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(f"{path}: {error}; check that the file may be read and written") from error
    try:
        retry_busy(lambda: _adopt(connection, path))
        _tune(connection, synchronous)
    except sqlite3.Error as error:
        connection.close()
        raise _refusal(path, error) from error
    except StorageError:
        connection.close()
        raise
    return connection


def open_memory() -> sqlite3.Connection:
    """A new store without a file; it is gone when the connection is closed."""
    connection = _connect(":memory:")
    _create(connection)
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is in the way, so that trying again can help."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_uncertain(error: sqlite3.Error) -> bool:
    """Whether a commit that failed so may have reached the disk all the same."""
    return _code(error) == sqlite3.SQLITE_IOERR


def is_too_much(error: sqlite3.Error) -> bool:
    """Whether less at a time might succeed."""
    return _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM)


def roll_back(connection: sqlite3.Connection) -> None:
    """Leave the transaction; some errors have done so already, some leave it to us."""
    if connection.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def retry_busy(action: Callable[[], T]) -> T:
    """Run *action* until no other connection is in its way.

    SQLite's own busy handler sleeps up to 100 ms between its attempts, which is a hundred commits
    of the process it waits for. The random part keeps two processes from meeting again.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"another process has kept the database locked for {BUSY_SECONDS:.0f} s"
                ) from error
        time.sleep(random.uniform(0.0002, 0.001))


def unavailable(error: sqlite3.Error, *, uncertain: bool = False) -> Unavailable:
    """What a caller may know of an error of SQLite."""
    advice = {
        sqlite3.SQLITE_FULL: "; make room on the disk, nothing has been written",
        sqlite3.SQLITE_READONLY: "; check that the file and its directory may be written",
        sqlite3.SQLITE_CORRUPT: "; the file is damaged, restore it from a backup",
    }.get(_code(error), "")
    kind = Full if _code(error) == sqlite3.SQLITE_FULL else Unavailable
    return kind(f"SQLite: {error}{advice}", uncertain=uncertain)


def _code(error: sqlite3.Error) -> int:
    # The low byte is the primary code; the extended one says more than anybody here asks.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise CannotOpen(f"{path}: is a directory; name a file in it")
    if not path.parent.is_dir():
        raise CannotOpen(f"{path}: the directory {path.parent} does not exist; create it first")
    # To SQLite a file of one byte is a new one.
    if path.exists() and path.stat().st_size == 1:
        raise NotOurFile(f"{path}: is not an SQLite database; name another file")
    # SQLite would open these read-only, or fail at the first write; WAL needs files beside it.
    for needed in (path, path.parent):
        if needed.exists() and not os.access(needed, os.R_OK | os.W_OK):
            raise CannotOpen(f"{path}: no permission to read and write {needed}; change its mode")


def _connect(database: str) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        needed = ".".join(map(str, MINIMUM_SQLITE))
        raise CannotOpen(f"SQLite is {sqlite3.sqlite_version}; install {needed} or newer")
    # Each connection is used by one thread at a time, but not always by the one that opened it.
    return sqlite3.connect(
        database, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=512
    )


def _adopt(connection: sqlite3.Connection, path: Path) -> None:
    # Inside a transaction: another process may be making the tables right now.
    with _transaction(connection, "BEGIN"):
        ours = _recognise(connection, path)
    if not ours:
        # Has no effect any more once the file is written to.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise CannotOpen(f"{path}: cannot have a write-ahead log there; put it on a local disk")
    if not ours:
        with _transaction(connection, "BEGIN IMMEDIATE"):
            if not _recognise(connection, path):
                _create(connection)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        roll_back(connection)


def _tune(connection: sqlite3.Connection, synchronous: Synchronous) -> None:
    # FULL makes a commit durable; SQLite's fsync on macOS needs the second to mean it.
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA fullfsync = ON")
    # A longer log is copied into the file less often, a page that changed twice only once.
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    connection.execute("PRAGMA cache_size = -16000")
    # Debian's SQLite overwrites what it deletes with zeros, which compaction would wait for.
    connection.execute("PRAGMA secure_delete = OFF")


def _recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a store of ours: False if it is empty, an error if it is not ours."""
    identity = _pragma(connection, "application_id")
    version = _pragma(connection, "user_version")
    if identity == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise NewerSchema(
                f"{path}: has schema version {version}, this program knows up to "
                f"{SCHEMA_VERSION}; use the program that wrote it, or a newer one"
            )
        return True
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if identity or version or tables:
        raise NotOurFile(f"{path}: is the database of another application; name another file")
    return False


def _create(connection: sqlite3.Connection) -> None:
    # Not executescript(), which commits the transaction that makes this all or nothing.
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _refusal(path: Path, error: sqlite3.Error) -> CannotOpen:
    if _code(error) == sqlite3.SQLITE_NOTADB:
        return NotOurFile(f"{path}: is not an SQLite database; name another file")
    return CannotOpen(f"{path}: {error}; check the file, its directory and the space on the disk")
