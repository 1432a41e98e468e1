"""Lost commits: detect that a damaged write-ahead log has cost committed transactions.

After a crash SQLite replays its log up to the first frame that is not intact and drops the rest
silently: a damaged frame looks like one that the crash interrupted. Yet a transaction is written
only after the one before has reached the disk, with `synchronous=full`. So if a commit in the
dropped rest is followed by further frames, it was durable, and somebody may have been told so.

What remains undetected is damage of the very last transaction of a log.
"""

import os
import shutil
import sqlite3
import struct
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# https://www.sqlite.org/fileformat2.html#the_write_ahead_log
_HEADER: Final = struct.Struct(">IIII8sII")
_FRAME: Final = struct.Struct(">II8sII")
_MAGIC: Final = 0x377F0682
_PAGE_SIZES: Final = frozenset(1 << power for power in range(9, 17))
_DEFAULT_PAGE_SIZE: Final = 4096


@dataclass(frozen=True, slots=True)
class WriteAheadLog:
    """The frames of a log file, as they are on the disk."""

    is_intact: bool
    """Whether the header is what it was written as."""
    commits: tuple[bool, ...]
    """For each frame whether it ends a transaction; frames of an older log are False."""
    last: int
    """The number of the last frame that belongs to this log."""


def replay_log(database: Path) -> int:
    """Have SQLite replay what a crash has left in the log; return how many transactions are lost.

    Then the log is copied to `-wal.damaged` first. While other connections use the database nothing
    is done: the first of them has replayed the log.
    """
    if not os.path.exists(_log_file(database)):  # a name that is too long does not exist
        return 0
    # SQLite removes the log of an empty file at once.
    log = _read_log(database) if _is_empty(database) else None
    with closing(sqlite3.connect(database, isolation_level=None, timeout=0)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            # Not before the lock: whoever closes the database last replays and removes the log.
            log = log or _read_log(database)
            _, replayed, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error:  # others use it, or it is damaged itself
            return 0
        lost = _count_lost(log, max(replayed, 0)) if log else 0
        if lost:
            file = _log_file(database)
            with suppress(OSError):
                shutil.copyfile(file, file.with_name(file.name + ".damaged"))
    return lost


def _count_lost(log: WriteAheadLog, replayed: int) -> int:
    if not log.is_intact:
        return sum(log.commits) if replayed == 0 else 0
    # The last frame may be the end of a transaction that the crash interrupted.
    return sum(log.commits[replayed : max(replayed, log.last - 1)])


def _is_empty(database: Path) -> bool:
    return not os.path.exists(database) or os.path.getsize(database) == 0


def _log_file(database: Path) -> Path:
    return database.with_name(database.name + "-wal")


def _read_log(database: Path) -> WriteAheadLog | None:
    # Only the log: closing another file of the database would release SQLite's locks on it.
    with suppress(OSError, struct.error), _log_file(database).open("rb") as file:
        return _parse(file.fileno(), os.fstat(file.fileno()).st_size)
    return None


def _parse(log: int, size: int) -> WriteAheadLog:
    head = os.pread(log, _HEADER.size, 0)
    magic, _, page_size, _, salt, *checksum = _HEADER.unpack(head)
    is_intact = magic & ~1 == _MAGIC and _checksum(head[:24], magic) == tuple(checksum)
    if not is_intact:
        # Neither the salt nor the size of a page can be trusted.
        page_size = page_size if page_size in _PAGE_SIZES else _DEFAULT_PAGE_SIZE
        salt = os.pread(log, 8, _HEADER.size + 8)
    commits, last = [], 0
    for offset in range(_HEADER.size, size - _FRAME.size, page_size + _FRAME.size):
        _, size_after, frame_salt, *_ = _FRAME.unpack(os.pread(log, _FRAME.size, offset))
        commits.append(frame_salt == salt and size_after > 0)
        if frame_salt == salt:
            last = len(commits)
    return WriteAheadLog(is_intact, tuple(commits), last)


def _checksum(data: bytes, magic: int) -> tuple[int, int]:
    order = ">" if magic & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    first = second = 0
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
