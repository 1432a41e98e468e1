"""Forgetting: what compaction removes from the SQLite file, a slice at a time.

The promise is made at once, by the number in `store` that every reader checks. The rows that it
made superfluous are swept up after that in short transactions between which other writes go on:
for each write up to the promise, the row that it replaced, and the write itself if it is a
deletion. What is swept is remembered as well, so a sweep that was cut off is taken up by the
next, in any process.
"""

import sqlite3
from typing import Final

from apiserver.storage.interface import FutureRevision
from apiserver.storage.sqlite.queries import read_state

SWEEP_REVISIONS: Final = 1000
VACUUM_PAGES: Final = 100

SPARE_SHARE: Final = 4
"""One page in so many may stay free: the next writes will want it."""


def promise(connection: sqlite3.Connection, revision: int) -> None:
    """From now on, refuse what is older than *revision*."""
    state = read_state(connection)
    if revision > state.revision:
        raise FutureRevision(revision, current=state.revision)
    if revision > state.compacted:
        connection.execute("UPDATE store SET compacted = ?", (revision,))


def sweep(connection: sqlite3.Connection) -> bool:
    """Remove a slice of what has been promised; whether there is more to do."""
    state = read_state(connection)
    if state.swept >= state.compacted:
        return _vacuum(connection)
    until = min(state.swept + SWEEP_REVISIONS, state.compacted)
    window = {"after": state.swept, "until": until}
    connection.execute(
        """DELETE FROM history WHERE revision IN (
            SELECT previous FROM history WHERE revision > :after AND revision <= :until
        )""",
        window,
    )
    connection.execute(
        """DELETE FROM newest WHERE created IS NULL AND revision <= :until AND key IN (
            SELECT key FROM history
            WHERE revision > :after AND revision <= :until AND value IS NULL
        )""",
        window,
    )
    connection.execute(
        """DELETE FROM history
        WHERE revision > :after AND revision <= :until AND value IS NULL""",
        window,
    )
    connection.execute("UPDATE store SET swept = ?", (until,))
    return True


def _vacuum(connection: sqlite3.Connection) -> bool:
    """Give a slice of the free pages back to the file system; whether there is more to do."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    surplus = free - pages // SPARE_SHARE
    if surplus <= 0:
        return False
    # Python steps a statement without rows once, and each step frees one page.
    for _ in range(min(surplus, VACUUM_PAGES)):
        connection.execute("PRAGMA incremental_vacuum(1)")
    (left,) = connection.execute("PRAGMA freelist_count").fetchone()
    # A file that was made otherwise may not be able to shrink: do not try for ever.
    return bool(left < free)
