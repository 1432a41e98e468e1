"""SQLite compaction: removes old history from the file, a slice at a time.

`mark_compacted` takes effect at once: every reader checks the `compacted` revision in `store`.
`sweep` then deletes the rows that are no longer needed in short transactions, so that other writes
can run in between: for each write up to the compacted revision, the row that it replaced, and the
write itself if it is a deletion. The swept revision is stored as well, so any process can continue
an interrupted sweep.
"""

import sqlite3
from typing import Final

from apiserver.storage.interface import FutureRevision
from apiserver.storage.sqlite.queries import read_state

SWEEP_REVISIONS: Final = 1000
VACUUM_PAGES: Final = 100

SPARE_SHARE: Final = 4
"""The fraction of pages, 1/SPARE_SHARE, that may stay free for the next writes."""


def mark_compacted(connection: sqlite3.Connection, revision: int) -> None:
    """Refuse reads of revisions before *revision* from now on. Raises FutureRevision."""
    state = read_state(connection)
    if revision > state.revision:
        raise FutureRevision(revision, current=state.revision)
    if revision > state.compacted:
        connection.execute("UPDATE store SET compacted = ?", (revision,))


def sweep(connection: sqlite3.Connection) -> bool:
    """Delete a slice of the compacted rows; return whether there is more to do."""
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
    """Return a slice of the free pages to the file system; return whether there is more to do."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    surplus = free - pages // SPARE_SHARE
    if surplus <= 0:
        return False
    # Python steps a statement that returns no rows only once, and each step frees one page.
    for _ in range(min(surplus, VACUUM_PAGES)):
        connection.execute("PRAGMA incremental_vacuum(1)")
    (remaining,) = connection.execute("PRAGMA freelist_count").fetchone()
    # A file created without incremental vacuum cannot shrink: stop instead of looping forever.
    return bool(remaining < free)
