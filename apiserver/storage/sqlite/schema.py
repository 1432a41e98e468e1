"""SQLite schema: the tables, the marks that identify the file, and opening connections.

    history   one row per write; its id is the revision. A deletion is a row without a value.
              `previous` is the revision of the same key that the row replaced (0: none), so
              the versions of a key form a chain that a read at an older revision follows.
    newest    one row per key: the head of its chain. A deleted key keeps its row, without
              `created`, until compaction removes the deletion.
    store     one row: the revision of the whole store, the oldest revision that can be read
              (`compacted`), and the revision up to which compacted rows are deleted (`swept`).

A list therefore reads `newest` in key order and never touches history, however long it is, and the
revision counter survives the deletion of the last row. Revisions are assigned inside `BEGIN
IMMEDIATE`, of which SQLite allows one at a time over all processes, so no reader can see revision
n+1 without n.

Kept apart from reading and writing because only this module decides whether a file is one of
ours.
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
from apiserver.storage.sqlite.damage import DamagedFile, is_damage

APPLICATION_ID: Final = 0x4B415049
"""'KAPI' in the header of the file, where `file` and other programs read it."""

SCHEMA_VERSION: Final = 1

MINIMUM_SQLITE: Final = (3, 38, 0)
"""The first release that always includes the JSON functions, which pack rows."""

BUSY_SECONDS: Final = 30.0
"""How long a process waits for the transactions of other processes before giving up."""

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
    """The file cannot be used as a store; the message gives the reason and the remedy."""


class NotOurFile(CannotOpen):
    """The file contains something else; it has not been changed."""


class NewerSchema(CannotOpen):
    """The file was written by a newer version of this program; it has not been changed."""


def open_file(path: Path, *, synchronous: Synchronous = "full") -> sqlite3.Connection:
    """Open the store at *path*; create it if it does not exist. Raises CannotOpen."""
    try:
        _check_path(path)
        connection = _connect(str(path))
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(
            f"{path}: {error}; check that the file is readable and writable"
        ) from error
    try:
        retry_busy(lambda: _initialize(connection, path))
        _tune(connection, synchronous)
    except sqlite3.Error as error:
        connection.close()
        raise _refusal(path, error) from error
    except StorageError:
        connection.close()
        raise
    return connection


def open_memory() -> sqlite3.Connection:
    """Create an in-memory store; its data is lost when the connection is closed."""
    connection = _connect(":memory:")
    _create(connection)
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection holds a lock, so that a retry can succeed."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_uncertain(error: sqlite3.Error) -> bool:
    """Return whether a commit that failed with *error* may still have reached the disk."""
    return _code(error) == sqlite3.SQLITE_IOERR


def is_size_error(error: sqlite3.Error) -> bool:
    """Return whether a smaller transaction might succeed."""
    return _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM)


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back the transaction unless SQLite has already done so because of an error."""
    if connection.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def retry_busy(action: Callable[[], T]) -> T:
    """Run *action*, retrying while another connection holds a lock. Raises Unavailable.

    SQLite's own busy handler sleeps up to 100 ms between attempts, the time of a hundred commits of
    the process that holds the lock. The random sleep keeps two processes from colliding again.
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
    """Translate an SQLite error, with advice for the operator."""
    advice = {
        sqlite3.SQLITE_FULL: "; free space on the disk, nothing has been written",
        sqlite3.SQLITE_READONLY: "; check that the file and its directory are writable",
    }.get(_code(error), "")
    if is_damage(error):
        return DamagedFile(str(error), uncertain=uncertain)
    kind = Full if _code(error) == sqlite3.SQLITE_FULL else Unavailable
    return kind(f"SQLite: {error}{advice}", uncertain=uncertain)


def _code(error: sqlite3.Error) -> int:
    # The low byte is the primary error code, which is all that is required here.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise CannotOpen(f"{path}: is a directory; name a file in it")
    if not path.parent.is_dir():
        raise CannotOpen(f"{path}: the directory {path.parent} does not exist; create it first")
    # SQLite treats a file of one byte as a new database.
    if path.exists() and path.stat().st_size == 1:
        raise NotOurFile(f"{path}: is not an SQLite database; name another file")
    # Without these permissions SQLite opens the file read-only or fails at the first write; the
    # write-ahead log needs files beside it.
    for required in (path, path.parent):
        if required.exists() and not os.access(required, os.R_OK | os.W_OK):
            raise CannotOpen(f"{path}: no permission to read and write {required}; change its mode")


def _connect(database: str) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        required = ".".join(map(str, MINIMUM_SQLITE))
        raise CannotOpen(f"SQLite is {sqlite3.sqlite_version}; install {required} or newer")
    # One thread at a time uses a connection, but not always the thread that opened it.
    return sqlite3.connect(
        database, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=512
    )


def _initialize(connection: sqlite3.Connection, path: Path) -> None:
    # In a transaction, because another process may be creating the tables at the same time.
    with _transaction(connection, "BEGIN"):
        initialized = _is_initialized(connection, path)
    if not initialized:
        # Has no effect once the file has been written to.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise CannotOpen(
            f"{path}: write-ahead logging is not supported there; use a file on a local disk"
        )
    if not initialized:
        with _transaction(connection, "BEGIN IMMEDIATE"):
            if not _is_initialized(connection, path):
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
    # FULL makes a commit durable; on macOS, fsync reaches the disk only with fullfsync.
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA fullfsync = ON")
    # A longer log is copied into the file less often, and a page changed twice is copied once.
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    connection.execute("PRAGMA cache_size = -16000")
    # Debian's SQLite overwrites deleted rows with zeros, which would slow down compaction.
    connection.execute("PRAGMA secure_delete = OFF")


def _is_initialized(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the file is a store of ours; False if it is empty.

    Raises NotOurFile or NewerSchema.
    """
    identity = _pragma(connection, "application_id")
    version = _pragma(connection, "user_version")
    if identity == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise NewerSchema(
                f"{path}: has schema version {version}, this program supports up to "
                f"{SCHEMA_VERSION}; use the version that wrote it, or a newer one"
            )
        return True
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if identity or version or tables:
        raise NotOurFile(f"{path}: is the database of another application; name another file")
    return False


def _create(connection: sqlite3.Connection) -> None:
    # executescript() would commit the transaction that makes this atomic.
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _refusal(path: Path, error: sqlite3.Error) -> CannotOpen:
    if _code(error) == sqlite3.SQLITE_NOTADB:
        return NotOurFile(
            f"{path}: is not an SQLite database; name another file, or restore this one from a"
            " backup if it was a store"
        )
    if is_damage(error):
        return CannotOpen(f"{path}: is damaged: {error}; restore it from a backup")
    return CannotOpen(f"{path}: {error}; check the file, its directory and the space on the disk")
