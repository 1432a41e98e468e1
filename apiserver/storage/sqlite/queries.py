"""SQLite queries: reads of records, pages and changes, with many rows packed into one.

Python's sqlite3 releases and reacquires the interpreter lock for every row. Beside a busy event
loop each row then waits for its turn, and a list of 10,000 takes seconds instead of milliseconds.
So every query here packs its rows into one: SQLite joins the small columns as JSON and the values
as one byte string, and Python splits them. Values over LARGE are fetched one by one, which keeps
the packed row within SQLite's size limit. The LIMIT in each inner query preserves its order for the
packing: it prevents SQLite from merging the inner query into the outer one. A record without a
value is damage: because of the outer joins it is noticed, and not taken for a deletion.

Every function runs inside a transaction of the caller, which provides its snapshot.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from apiserver.storage.interface import (
    ChangeBatch,
    Compacted,
    FutureRevision,
    KeyPage,
    Record,
    StoredChange,
)
from apiserver.storage.sqlite.damage import DamagedFile

LARGE: Final = 64 * 1024
ROWS: Final = 100
"""The number of rows packed into one; beyond it, memory costs more than fewer steps save."""

FEED_ROWS: Final = 500
FEED_REVISIONS: Final = 5000
FEED_BYTES: Final = 4 * 1024 * 1024

# Cast values to text: SQLite concatenates text without inspecting the bytes.
_SMALL: Final = f"CASE WHEN length({{0}}) <= {LARGE} THEN CAST({{0}} AS TEXT) ELSE '' END".format

_PACK_RECORDS: Final = f"""
    SELECT json_group_array(json_array(key, revision, created, length(value))),
           CAST(group_concat({_SMALL("value")}, '') AS BLOB)
    FROM (%s)
"""

_GET: Final = """
    SELECT n.key, n.revision, n.created, h.value
    FROM newest n LEFT JOIN history h ON h.revision = n.revision
    WHERE n.key IN (%s) AND n.created IS NOT NULL
"""

_RANGE_NEWEST: Final = (
    _PACK_RECORDS
    % """
    SELECT n.key, n.revision, n.created, h.value
    FROM newest n LEFT JOIN history h ON h.revision = n.revision
    WHERE n.key >= :start AND n.key < :end AND n.created IS NOT NULL
    ORDER BY n.key LIMIT :limit
"""
)

_COUNT_NEWEST: Final = """
    SELECT count(*) FROM newest
    WHERE key > :start AND key < :end AND created IS NOT NULL
"""

# The record of a key at :revision: follow its chain to the first row that is not newer. This costs
# one step per write since then, and only for keys written since then.
_REVISION_THEN: Final = """
    CASE WHEN n.revision <= :revision THEN n.revision ELSE (
        WITH RECURSIVE chain (revision) AS (
            SELECT n.revision
            UNION ALL
            SELECT c.previous FROM chain JOIN history c ON c.revision = chain.revision
            WHERE chain.revision > :revision
        )
        SELECT min(revision) FROM chain
    ) END
"""

_RANGE_THEN: Final = (
    _PACK_RECORDS
    % f"""
    SELECT n.key, h.revision, h.created, h.value
    FROM newest n CROSS JOIN history h ON h.revision = {_REVISION_THEN}
    WHERE n.key >= :start AND n.key < :end AND h.value IS NOT NULL
    ORDER BY n.key LIMIT :limit
"""
)

_COUNT_THEN: Final = f"""
    SELECT count(*)
    FROM newest n CROSS JOIN history h ON h.revision = {_REVISION_THEN}
    WHERE n.key > :start AND n.key < :end AND h.value IS NOT NULL
"""

# Read the sizes first, to decide how many rows fit into one batch.
_SIZES: Final = """
    SELECT json_group_array(json_array(revision, size)) FROM (
        SELECT h.revision, ifnull(length(h.value), 0) + ifnull(length(p.value), 0) AS size
        FROM history h LEFT JOIN history p ON p.revision = h.previous
        WHERE h.revision > :after AND h.revision <= :until AND h.key >= :start AND h.key < :end
        ORDER BY h.revision LIMIT :limit
    )
"""

_CHANGES: Final = f"""
    SELECT json_group_array(
               json_array(key, revision, created, length(value), old, length(previous))),
           CAST(group_concat(
               ifnull({_SMALL("value")}, '') || ifnull({_SMALL("previous")}, ''), '') AS BLOB)
    FROM (
        SELECT h.key, h.revision, h.created, h.value, h.previous AS old, p.value AS previous
        FROM history h LEFT JOIN history p ON p.revision = h.previous
        WHERE h.revision > :after AND h.revision <= :until AND h.key >= :start AND h.key < :end
        ORDER BY h.revision LIMIT :limit
    )
"""


@dataclass(frozen=True, slots=True)
class StoreState:
    """The single row of `store`."""

    revision: int
    compacted: int
    swept: int


def read_state(connection: sqlite3.Connection) -> StoreState:
    row = connection.execute("SELECT revision, compacted, swept FROM store").fetchone()
    if row is None:
        raise DamagedFile("the revision of the store is missing")
    return StoreState(*row)


def read_records(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Record]:
    """Return the newest records of those *keys* that exist."""
    records: dict[str, Record] = {}
    for chunk, placeholders in with_placeholders(list(dict.fromkeys(keys))):
        cursor = connection.execute(_PACK_RECORDS % (_GET % placeholders), chunk)
        records.update((record.key, record) for record in _unpack_records(connection, cursor))
    return records


def read_page(
    connection: sqlite3.Connection, prefix: str, *, start: str, limit: int, revision: int | None
) -> KeyPage:
    state = read_state(connection)
    if revision is None or revision == state.revision:
        revision, rows, count = state.revision, _RANGE_NEWEST, _COUNT_NEWEST
    else:
        check_revision(state, revision)
        rows, count = _RANGE_THEN, _COUNT_THEN
    bounds = {"start": max(prefix, start), "end": prefix_end(prefix), "revision": revision}
    records = _read_range(connection, rows, bounds, limit)
    remaining = 0
    if limit and len(records) == limit:
        bounds["start"] = records[-1].key
        (remaining,) = connection.execute(count, bounds).fetchone()
    return KeyPage(records, revision, remaining)


def read_batch(
    connection: sqlite3.Connection, prefix: str, *, after: int
) -> tuple[ChangeBatch, int]:
    """Return the next changes of *prefix* after a revision, and the revision of the whole store.

    The batch reaches the store's revision unless there are more changes than one batch may hold.
    """
    state = read_state(connection)
    if after < state.compacted:
        raise Compacted(after, oldest=state.compacted)
    if after >= state.revision:
        return ChangeBatch((), state.revision), state.revision
    bounds: dict[str, int | str | bytes] = {
        "start": prefix,
        "end": prefix_end(prefix),
        "after": after,
        "until": min(after + FEED_REVISIONS, state.revision),
        "limit": FEED_ROWS,
    }
    (packed,) = connection.execute(_SIZES, bounds).fetchone()
    sizes: list[tuple[int, int]] = orjson.loads(packed)
    if not sizes:
        return ChangeBatch((), int(bounds["until"])), state.revision
    fitting = _count_fitting(sizes)
    if fitting < len(sizes) or fitting == FEED_ROWS:
        bounds["until"] = sizes[fitting - 1][0]
    changes = _unpack_changes(connection, connection.execute(_CHANGES, bounds))
    return ChangeBatch(changes, int(bounds["until"])), state.revision


def check_revision(state: StoreState, revision: int) -> None:
    if revision < state.compacted:
        raise Compacted(revision, oldest=state.compacted)
    if revision > state.revision:
        raise FutureRevision(revision, current=state.revision)


def prefix_end(prefix: str) -> str | bytes:
    """Return the smallest bound above every key that begins with *prefix*.

    SQLite compares the UTF-8 bytes of keys, which is the order of the code points; any bytes value
    is greater than any text.
    """
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return b""
    following = ord(stem[-1]) + 1
    # Skip the surrogates, which are not characters and have no UTF-8 encoding.
    return stem[:-1] + chr(0xE000 if following == 0xD800 else following)


def with_placeholders(values: list[str]) -> list[tuple[list[str], str]]:
    """Split *values* into chunks, each with its `?, ?, ...` placeholders.

    Chunk lengths are powers of two, padded with the last value, so that SQLite prepares few
    distinct statements.
    """
    chunks = []
    for offset in range(0, len(values), 256):
        chunk = values[offset : offset + 256]
        length = 1 << (len(chunk) - 1).bit_length()
        chunk += chunk[-1:] * (length - len(chunk))
        chunks.append((chunk, ", ".join("?" * length)))
    return chunks


def _read_range(
    connection: sqlite3.Connection,
    query: str,
    bounds: dict[str, int | str | bytes],
    limit: int,
) -> list[Record]:
    records: list[Record] = []
    bounds = dict(bounds)
    while True:
        count = min(limit - len(records), ROWS) if limit else ROWS
        cursor = connection.execute(query, bounds | {"limit": count})
        page = _unpack_records(connection, cursor)
        records += page
        if len(page) < count or len(records) == limit:
            return records
        # The smallest key above another is that key followed by a zero byte.
        bounds["start"] = records[-1].key + "\0"


def _unpack_records(connection: sqlite3.Connection, cursor: sqlite3.Cursor) -> list[Record]:
    heads, body = cursor.fetchone()
    records = []
    offset = 0
    for key, revision, created, length in orjson.loads(heads):
        if length is None:
            raise DamagedFile(f"the value of {key!r} is missing")
        if length <= LARGE:
            value = body[offset : offset + length]
            offset += length
        else:
            value = read_value(connection, revision)
        records.append(Record(key, value, revision, created))
    return records


def _unpack_changes(
    connection: sqlite3.Connection, cursor: sqlite3.Cursor
) -> tuple[StoredChange, ...]:
    heads, body = cursor.fetchone()
    changes = []
    offset = 0
    for key, revision, created, length, old, old_length in orjson.loads(heads):
        values: list[bytes | None] = []
        for source, size in ((revision, length), (old, old_length)):
            if size is None:
                values.append(None)
            elif size <= LARGE:
                values.append(body[offset : offset + size])
                offset += size
            else:
                values.append(read_value(connection, source))
        changes.append(StoredChange(key, values[0], values[1], revision, created))
    return tuple(changes)


def read_value(connection: sqlite3.Connection, revision: int) -> bytes:
    """Return the value that a write stored. Raises DamagedFile if it is missing."""
    row = connection.execute("SELECT value FROM history WHERE revision = ?", (revision,)).fetchone()
    if row is None or row[0] is None:
        raise DamagedFile(f"the value of revision {revision} is missing")
    return bytes(row[0])


def _count_fitting(sizes: list[tuple[int, int]]) -> int:
    """Return how many changes fit into a batch of FEED_BYTES: at least one."""
    total = 0
    for count, (_, size) in enumerate(sizes):
        total += size
        if count and total > FEED_BYTES:
            return count
    return len(sizes)
