"""SQLite backend: one file, shared by any number of processes on one machine.

One thread writes and commits all pending writes in one transaction; other threads read. SQLite's
write-ahead log lets both proceed at the same time. See `schema` for the tables, `writes` for the
write transaction and `feed` for how changes are detected.

URLs:
    sqlite:///name.db               a file relative to the working directory
    sqlite:////var/lib/x/name.db    a file by its absolute path (four slashes)
    sqlite://:memory:               no file: private to this process, lost when closed
    ...?synchronous=normal          do not wait for the disk at every commit: a power failure may
                                    undo the last commits (a crash of the process does not);
                                    `off` may damage the file. The default is `full`.
    ...?max-value-bytes=3000000     take objects up to this size, 1,500,000 bytes by default

The file must be on a local disk: the processes share memory beside it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias, cast, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

from apiserver.storage.backends import InvalidURL
from apiserver.storage.interface import (
    KEEP_TTL,
    ChangeBatch,
    KeyPage,
    Record,
    StorageError,
    Unavailable,
)
from apiserver.storage.sqlite.compaction import mark_compacted, sweep
from apiserver.storage.sqlite.damage import DamageScanner
from apiserver.storage.sqlite.feed import NewestRevision, SqliteFeed, StorePoller
from apiserver.storage.sqlite.queries import read_batch, read_page
from apiserver.storage.sqlite.schema import Synchronous, open_file
from apiserver.storage.sqlite.sessions import Lookup, OpenDatabase, Query, open_sessions
from apiserver.storage.sqlite.threads import BatchExecutor
from apiserver.storage.sqlite.writes import Create, Delete, Expire, Maintenance, Update, Write
from apiserver.storage.value_limit import DEFAULT_LIMIT, PARAMETER, ValueLimit, parse_value_limit

Clock: TypeAlias = Callable[[], float]
"""Seconds since the epoch, as `time.time`: keys must also expire after a restart."""

WRITE_BATCH_SIZE: Final = 1000
LOOKUP_BATCH_SIZE: Final = 1000
FEED_BATCH_SIZE: Final = 16
RANGE_THREADS: Final = 2


async def open_sqlite(url: str, *, clock: Clock = time.time) -> "SqliteBackend":
    """Open the store that *url* names; create it if it does not exist."""
    location = parse_url(url)
    database = await asyncio.to_thread(
        open_sessions, location.path, count=5 + RANGE_THREADS, synchronous=location.synchronous
    )
    backend = SqliteBackend(database, clock=clock, limit=location.value_limit)
    if location.path is not None:
        connect = partial(open_file, location.path, synchronous=location.synchronous)
        backend.scan(DamageScanner(connect, database.damage, overdue=not database.is_checked))
    return backend


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """A parsed URL; *path* is None for an in-memory store."""

    path: Path | None
    synchronous: Synchronous = "full"
    value_limit: ValueLimit = DEFAULT_LIMIT


def parse_url(url: str) -> DatabaseLocation:
    """Parse a URL of the forms in the docstring of this module. Raises InvalidURL.

    The messages do not repeat the URL: a URL meant for another backend may contain a password.
    """
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        raise InvalidURL(
            "sqlite URL: expected sqlite:///path, with options as ?name=value&name=value"
        ) from None
    synchronous = options.pop("synchronous", "full")
    if synchronous not in get_args(Synchronous):
        raise InvalidURL(f"sqlite URL: synchronous is one of {', '.join(get_args(Synchronous))}")
    limit = parse_value_limit(options.pop(PARAMETER, None))
    if options:
        raise InvalidURL(f"sqlite URL: unknown option {', '.join(options)}")
    path = _path(parts.netloc, parts.path)
    location = DatabaseLocation(path, cast(Synchronous, synchronous), limit)
    if parts.fragment:
        raise InvalidURL("sqlite URL: write # as %23")
    return location


def _path(host: str, path: str) -> Path | None:
    if (host, path) == (":memory:", ""):
        return None
    if host:
        raise InvalidURL(
            "sqlite URL: expected sqlite:///relative/path, sqlite:////absolute/path or "
            "sqlite://:memory:"
        )
    name = unquote(path[1:])
    if not name or "\0" in name:
        raise InvalidURL("sqlite URL: expected the path of a file after sqlite:///")
    return Path(name)


class SqliteBackend:
    """A `Backend` over one database, used from the event loop on which it was created."""

    def __init__(
        self,
        database: OpenDatabase,
        *,
        clock: Clock = time.time,
        limit: ValueLimit = DEFAULT_LIMIT,
    ) -> None:
        self._limit = limit
        self._sessions = database.sessions
        self._damage = database.damage
        self._scanner: DamageScanner | None = None
        self._clock = clock
        writer, lookups, feeds, polls, self._revision_session, *ranges = database.sessions
        self._writer = BatchExecutor[Write | Maintenance](
            "writer", [writer.write], batch_size=WRITE_BATCH_SIZE
        )
        self._lookups = BatchExecutor[Lookup](
            "lookups", [lookups.look_up], batch_size=LOOKUP_BATCH_SIZE
        )
        self._feeds = BatchExecutor[Query]("feeds", [feeds.query], batch_size=FEED_BATCH_SIZE)
        self._ranges = BatchExecutor[Query](
            "ranges", [session.query for session in ranges], batch_size=1
        )
        self._newest = NewestRevision()
        self._poller = StorePoller(
            polls.value,
            self._newest,
            expire=lambda now: self._writer.post(Expire(now)),
            clock=clock,
        )
        self._closed = False

    def scan(self, scanner: DamageScanner) -> None:
        """Have *scanner* look for damage until the store is closed."""
        self._scanner = scanner

    async def get(self, key: str) -> Record | None:
        record: Record | None = await self._lookups.submit(key)
        return record

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        page: KeyPage = await self._ranges.submit(
            partial(read_page, prefix=prefix, start=start, limit=limit, revision=revision)
        )
        return page

    async def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        self._limit.check(value)
        return await self._write(Create(key, value, self._expiry(ttl)))

    async def update(
        self,
        key: str,
        value: bytes,
        *,
        revision: int,
        ttl: int | None = None,
        replaced_bytes: int = 0,
    ) -> int:
        self._limit.check(value, replaced_bytes)
        expires = KEEP_TTL if ttl == KEEP_TTL else self._expiry(ttl)
        return await self._write(Update(key, value, revision, expires))

    async def delete(self, key: str, *, revision: int) -> int:
        return await self._write(Delete(key, revision))

    @asynccontextmanager
    async def watch(self, prefix: str, *, after: int) -> AsyncIterator[SqliteFeed]:
        if self._closed:
            raise Unavailable("the store is closed")
        feed = SqliteFeed(self._newest, self._read_batch, prefix, after=after)
        self._newest.feeds.add(feed)
        self._poller.wake()
        try:
            yield feed
        finally:
            self._newest.feeds.discard(feed)
            feed.end()

    async def current_revision(self) -> int:
        revision: int | None = self._revision_session.try_read_revision()
        if revision is None:
            revision = await self._lookups.submit(None)
        return revision

    async def compact(self, revision: int) -> None:
        await self._writer.submit(partial(mark_compacted, revision=revision))
        # Each slice is queued behind the writes that have arrived in the meantime.
        while await self._writer.submit(sweep):
            pass

    async def check_integrity(self) -> None:
        self._damage.check()

    async def check_members(self) -> list[str]:
        try:
            await self.check_integrity()
            await self.current_revision()
        except StorageError as error:
            return [str(error)]
        return [""]

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._scanner is not None:
            await asyncio.to_thread(self._scanner.close)
        for feed in self._newest.feeds:
            feed.end()
        await self._poller.close()
        for executor in (self._writer, self._lookups, self._feeds, self._ranges):
            await executor.close()
        for session in self._sessions:
            await asyncio.to_thread(session.close)

    async def _write(self, write: Write) -> int:
        revision: int = await self._writer.submit(write)
        self._newest.advance(revision)
        return revision

    async def _read_batch(self, prefix: str, after: int) -> tuple[ChangeBatch, int]:
        batch: tuple[ChangeBatch, int] = await self._feeds.submit(
            partial(read_batch, prefix=prefix, after=after)
        )
        return batch

    def _expiry(self, ttl: int | None) -> int | None:
        return None if ttl is None else int((self._clock() + ttl) * 1000)
