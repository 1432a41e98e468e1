"""SQLite damage: notice that a database file is damaged, and refuse all writes from then on.

SQLite reports damage only to the statement that meets it. Every other statement goes on, so a store
would take writes into a file of which a part is lost already. Here the first sign of damage, in any
thread of any process, is recorded in a file beside the database (`store.sqlite.damaged`). While
that file exists no process writes; what can be read is still served. Only an operator removes it,
by `apiserver storage verify` after the database has been restored.

The signs are errors of statements, and what `find_damage` finds: when a store is opened, every hour
while it is open, and after an answer that cannot be explained otherwise.
"""

import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from apiserver.storage.interface import Damaged, StorageError

SUFFIX: Final = ".damaged"
"""Added to the name of the database for the file that records its damage."""
SCAN_SECONDS: Final = 3600.0
"""Seconds between two checks of the whole file."""
SUSPICION_SECONDS: Final = 60.0
"""Seconds between two checks that inexplicable answers cause."""
FINDINGS: Final = 10
"""The maximum number of problems that one check looks for."""
REMEDY: Final = (
    "it takes no writes until an operator restores it from a backup and runs `apiserver storage"
    " verify`"
)

_SIGNS: Final = frozenset(
    {
        sqlite3.SQLITE_IOERR_READ,
        sqlite3.SQLITE_IOERR_SHORT_READ,
        sqlite3.SQLITE_IOERR_DATA,
        sqlite3.SQLITE_IOERR_CORRUPTFS,
    }
)
_MISSING: Final = """
    SELECT n.key FROM newest n LEFT JOIN history h ON h.revision = n.revision
    WHERE h.revision IS NULL LIMIT ?
"""
_UNCOUNTED: Final = """
    SELECT max(h.revision) FROM history h, store s HAVING max(h.revision) > max(s.revision)
"""

_log = logging.getLogger(__name__)


class DamagedFile(Damaged):
    """The database file is damaged; *reason* is what is wrong with it."""

    def __init__(self, reason: str, *, uncertain: bool = False) -> None:
        super().__init__(f"SQLite: {reason}; {REMEDY}", uncertain=uncertain)
        self.reason = reason


class CheckInterrupted(Exception):
    """A check of the whole file was stopped before its end."""


class DamageRecord:
    """Whether a database is damaged, as known to all its processes; *path* None is in memory."""

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else path.with_name(path.name + SUFFIX)
        self._path = path
        self._reason = ""
        self.suspect: Callable[[], None] = _do_nothing
        """Requests a check of the whole file; called by any thread."""

    @property
    def reason(self) -> str:
        """Why the database is damaged, empty if it is not known to be."""
        if self._reason or self._file is None:
            return self._reason
        # Asked before every transaction: a file that is missing costs a microsecond.
        if os.path.exists(self._file):
            with contextlib.suppress(OSError):
                text = self._file.read_text("utf-8", "replace")
                self._reason = text.strip() or "no reason is recorded"
        return self._reason

    def check(self) -> None:
        """Raise Damaged if the database is known to be damaged."""
        if reason := self.reason:
            raise DamagedFile(reason)

    def note(self, reason: str) -> None:
        """Record damage, for this and all other processes; the first reason is kept."""
        if self.reason:
            return
        _log.critical("%s is damaged: %s; %s", self._path or "the store", reason, REMEDY)
        if self._file is not None:
            try:
                self._file.write_text(reason + "\n", "utf-8")
            except OSError as error:
                _log.error("the damage cannot be recorded for other processes: %s", error)
        self._reason = reason

    def clear(self) -> None:
        """Forget the damage: the database has been checked and is sound."""
        self._reason = ""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether *error* means that the file, not the statement or the moment, is at fault."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or code in _SIGNS


def find_damage(connection: sqlite3.Connection, *, seconds: float | None = None) -> list[str]:
    """Check the whole database; return what is wrong with it.

    Takes about 0.3 s per gigabyte that the operating system has in memory, otherwise as long as
    reading the file does. Raises CheckInterrupted after *seconds*.
    """
    with _interrupted_after(connection, seconds):
        try:
            return list(_findings(connection))
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                raise CheckInterrupted from error
            if is_damage(error):
                return [str(error)]
            raise


def _findings(connection: sqlite3.Connection) -> Iterator[str]:
    # One snapshot: the statements must not see the writes of other connections in between.
    connection.execute("BEGIN")
    try:
        lines = connection.execute(f"PRAGMA integrity_check({FINDINGS})").fetchall()
        problems = [str(line) for (line,) in lines if line != "ok"]
        yield from problems
        if problems:
            return
        # A page may be sound in itself and older than the others.
        for (key,) in connection.execute(_MISSING, (FINDINGS,)):
            yield f"the value of {key!r} is missing"
        for (revision,) in connection.execute(_UNCOUNTED):
            yield f"revision {revision} is stored and not counted"
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextlib.contextmanager
def _interrupted_after(connection: sqlite3.Connection, seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class DamageScanner:
    """A thread that checks the whole file every hour, and soon after `DamageRecord.suspect`."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        record: DamageRecord,
        *,
        overdue: bool = False,
    ) -> None:
        """With *overdue* the first check starts at once."""
        self._connect = connect
        self._record = record
        self._first_pause = 0.0 if overdue else SCAN_SECONDS
        self._wakeup = threading.Event()
        self._closing = threading.Event()
        self._checking: sqlite3.Connection | None = None
        record.suspect = self._wakeup.set
        self._thread = threading.Thread(target=self._run, name="sqlite damage", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop a check in progress and end the thread."""
        self._closing.set()
        self._wakeup.set()
        checking = self._checking
        if checking is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):  # it has been closed meanwhile
                checking.interrupt()
        self._thread.join()

    def _run(self) -> None:
        pause = self._first_pause
        while not self._closing.is_set():
            self._wakeup.wait(pause)
            self._wakeup.clear()
            if self._closing.is_set() or self._record.reason:
                return
            self._check()
            self._closing.wait(SUSPICION_SECONDS)
            pause = SCAN_SECONDS

    def _check(self) -> None:
        try:
            connection = self._checking = self._connect()
            try:
                problems = [] if self._closing.is_set() else find_damage(connection)
            finally:
                self._checking = None
                connection.close()
        except CheckInterrupted:
            return
        except (sqlite3.Error, StorageError) as error:
            _log.warning("the store could not be checked for damage: %s", error)
            return
        if problems:
            self._record.note("; ".join(problems))


def _do_nothing() -> None:
    return None
