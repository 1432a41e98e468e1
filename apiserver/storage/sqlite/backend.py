"""The embedded store: one SQLite file, shared by any number of processes on one machine.

Writes go through one thread, which commits all that wait in one transaction; reads go through
others, and SQLite's write-ahead log keeps the two out of each other's way. See `sqlite_schema`
for the tables, `sqlite_writes` for the transaction, `sqlite_feed` for how changes are noticed.

URLs:
    sqlite:///name.db               a file relative to the working directory
    sqlite:////var/lib/x/name.db    a file by its absolute path (four slashes)
    sqlite://:memory:               no file: a store of this process, gone when it is closed
    ...?synchronous=normal          do not wait for the disk at every commit: a power failure may
                                    undo the last ones (a crash of the process does not);
                                    `off` may damage the file. The default is `full`.

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
from apiserver.storage.interface import ChangeBatch, KeyPage, Record, Unavailable, ValueTooLarge
from apiserver.storage.sqlite.compaction import promise, sweep
from apiserver.storage.sqlite.feed import Lookout, SqliteFeed, Tide
from apiserver.storage.sqlite.queries import read_batch, read_page
from apiserver.storage.sqlite.schema import Synchronous
from apiserver.storage.sqlite.sessions import Lookup, Query, SqliteSession, open_sessions
from apiserver.storage.sqlite.threads import Lane
from apiserver.storage.sqlite.writes import Create, Delete, Expire, Maintenance, Update, Write

Clock: TypeAlias = Callable[[], float]
"""Seconds since the epoch, as `time.time`: what expires must do so after a restart, too."""

WRITES_TOGETHER: Final = 1000
LOOKUPS_TOGETHER: Final = 1000
FEEDS_TOGETHER: Final = 16
RANGE_THREADS: Final = 2
ROW_BYTES: Final = 100
"""What a row has besides its key and its value, at most."""


async def open_sqlite(url: str, *, clock: Clock = time.time) -> "SqliteBackend":
    """Open the store that *url* names, and make it if it does not exist."""
    location = parse_url(url)
    sessions = await asyncio.to_thread(
        open_sessions, location.path, count=5 + RANGE_THREADS, synchronous=location.synchronous
    )
    return SqliteBackend(sessions, clock=clock)


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """What a URL says; *path* is None for memory."""

    path: Path | None
    synchronous: Synchronous = "full"


def parse_url(url: str) -> DatabaseLocation:
    """Understand a URL of the forms in the docstring of this module, or raise InvalidURL.

    The messages do not repeat the URL: one that was meant for another store may hold a password.
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
    if options:
        raise InvalidURL(f"sqlite URL: unknown option {', '.join(options)}")
    location = DatabaseLocation(_path(parts.netloc, parts.path), cast(Synchronous, synchronous))
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
    """A `Backend` over one database, used from the event loop it was made on."""

    def __init__(self, sessions: list[SqliteSession], *, clock: Clock = time.time) -> None:
        self._sessions = sessions
        self._clock = clock
        writer, lookups, feeds, lookout, self._glances, *ranges = sessions
        self._largest = writer.largest
        self._writer = Lane[Write | Maintenance]("writer", [writer.write], together=WRITES_TOGETHER)
        self._lookups = Lane[Lookup]("lookups", [lookups.look_up], together=LOOKUPS_TOGETHER)
        self._feeds = Lane[Query]("feeds", [feeds.query], together=FEEDS_TOGETHER)
        self._ranges = Lane[Query]("ranges", [each.query for each in ranges], together=1)
        self._tide = Tide()
        self._lookout = Lookout(
            lookout.value,
            self._tide,
            expire=lambda now: self._writer.post(Expire(now)),
            clock=clock,
        )
        self._closed = False

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
        self._check_size(key, value)
        return await self._write(Create(key, value, self._expires(ttl)))

    async def update(self, key: str, value: bytes, *, revision: int, ttl: int | None = None) -> int:
        self._check_size(key, value)
        return await self._write(Update(key, value, revision, self._expires(ttl)))

    async def delete(self, key: str, *, revision: int) -> int:
        return await self._write(Delete(key, revision))

    @asynccontextmanager
    async def watch(self, prefix: str, *, after: int) -> AsyncIterator[SqliteFeed]:
        if self._closed:
            raise Unavailable("the store is closed")
        feed = SqliteFeed(self._tide, self._read_batch, prefix, after=after)
        self._tide.feeds.add(feed)
        self._lookout.hurry()
        try:
            yield feed
        finally:
            self._tide.feeds.discard(feed)
            feed.end()

    async def current_revision(self) -> int:
        revision: int | None = self._glances.glance()
        if revision is None:
            revision = await self._lookups.submit(None)
        return revision

    async def compact(self, revision: int) -> None:
        await self._writer.submit(partial(promise, revision=revision))
        # Each slice queues behind the writes that have come in the meantime.
        while await self._writer.submit(sweep):
            pass

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for feed in self._tide.feeds:
            feed.end()
        await self._lookout.close()
        for lane in (self._writer, self._lookups, self._feeds, self._ranges):
            await lane.close()
        for session in self._sessions:
            await asyncio.to_thread(session.close)

    def _check_size(self, key: str, value: bytes) -> None:
        limit = self._largest - 4 * len(key) - ROW_BYTES
        if len(value) > limit:
            raise ValueTooLarge(
                f"SQLite: the value of {key!r} has {len(value)} bytes, the limit is {limit}"
            )

    async def _write(self, write: Write) -> int:
        revision: int = await self._writer.submit(write)
        self._tide.rise(revision)
        return revision

    async def _read_batch(self, prefix: str, after: int) -> tuple[ChangeBatch, int]:
        answer: tuple[ChangeBatch, int] = await self._feeds.submit(
            partial(read_batch, prefix=prefix, after=after)
        )
        return answer

    def _expires(self, ttl: int | None) -> int | None:
        return None if ttl is None else int((self._clock() + ttl) * 1000)
