"""Feeds of changes over an SQLite file, and how they learn that there are some.

A feed reads the history after its position, again and again. It is woken by the writes of its own
process at once, and by those of other processes through the lookout: a thread that asks every few
milliseconds for the revision of the store, which costs microseconds. The lookout sees, too, when
the time of a key has come.
"""

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from typing import Final, Self

from apiserver.storage.interface import ChangeBatch, Unavailable

ALERT_SECONDS: Final = 0.004
"""How often the lookout looks while there are feeds."""

CALM_SECONDS: Final = 0.1
"""How often it looks when only keys that expire can need it."""

RETRY_SECONDS: Final = 0.25

ReadBatch = Callable[[str, int], Awaitable[tuple[ChangeBatch, int]]]

_log = logging.getLogger(__name__)


class Tide:
    """The newest revision that this process knows of, for feeds to wait on."""

    def __init__(self) -> None:
        self.revision = 0
        self.feeds: set[SqliteFeed] = set()

    def rise(self, revision: int) -> None:
        if revision > self.revision:
            self.revision = revision
            for feed in self.feeds:
                feed.wake()


class SqliteFeed:
    """A running watch: a position in the history. Iterate it from one task only."""

    def __init__(self, tide: Tide, read: ReadBatch, prefix: str, *, after: int) -> None:
        self._tide = tide
        self._read = read
        self._prefix = prefix
        self._position = after
        # What has not been looked at yet may hold changes, or be compacted.
        self._caught_up = -1
        self._woken = asyncio.Event()
        self._asked = 0
        self._answered = 0
        self._ended = False
        self._troubled = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChangeBatch:
        while not self._ended:
            if self._caught_up >= self._tide.revision and self._answered == self._asked:
                self._woken.clear()
                await self._woken.wait()
                continue
            batch = await self._advance()
            if batch is not None and not self._ended:
                return batch
        raise StopAsyncIteration

    async def request_progress(self) -> bool:
        self._asked += 1
        self.wake()
        return True

    def wake(self) -> None:
        self._woken.set()

    def end(self) -> None:
        self._ended = True
        self.wake()

    async def _advance(self) -> ChangeBatch | None:
        """Read on; nothing of the feed changes unless the read succeeds, so it may be cancelled."""
        asked = self._asked
        try:
            batch, current = await self._read(self._prefix, self._position)
        except Unavailable as error:
            await self._rest(error)
            return None
        self._troubled = False
        # What this read saw of other processes' writes may be news: there can be more to read.
        self._tide.rise(current)
        # A feed may be opened at a revision that has yet to come.
        self._position = max(self._position, batch.revision)
        self._caught_up = max(self._caught_up, batch.revision)
        if batch.revision >= current:
            progress, self._answered = asked > self._answered, asked
        else:
            progress = False
        return batch if batch.changes or progress else None

    async def _rest(self, error: Unavailable) -> None:
        if self._ended:
            return
        if not self._troubled:
            _log.warning("a feed of %r waits for the store: %s", self._prefix, error)
        self._troubled = True
        self._woken.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await self._woken.wait()


class Lookout:
    """A thread that watches the store for the writes of others, and the clock for expiry."""

    def __init__(
        self,
        query: Callable[[str], int | None],
        tide: Tide,
        expire: Callable[[int], None],
        clock: Callable[[], float],
    ) -> None:
        self._query = query
        self._tide = tide
        self._expire = expire
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._seen: int | None = None
        self._due: int | None = None
        self._stopped = False
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sqlite lookout", daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        """Look now, and then as often as the feeds need."""
        self._hurry.set()

    async def close(self) -> None:
        self._stopped = True
        self.hurry()
        await asyncio.to_thread(self._thread.join)

    def _watch(self) -> None:
        troubled = False
        while not self._stopped:
            self._hurry.wait(ALERT_SECONDS if self._tide.feeds else CALM_SECONDS)
            self._hurry.clear()
            try:
                self._look()
                troubled = False
            except RuntimeError:
                # The loop is gone, and its owner has not closed the store.
                return
            except (sqlite3.Error, Unavailable) as error:
                if not troubled:
                    _log.warning("the store cannot be watched: %s", error)
                troubled = True

    def _look(self) -> None:
        revision = self._query("SELECT revision FROM store")
        if revision is not None and revision != self._seen:
            self._due = self._query("SELECT min(expires) FROM newest WHERE expires IS NOT NULL")
            self._loop.call_soon_threadsafe(self._tide.rise, revision)
            self._seen = revision
        now = int(self._clock() * 1000)
        if self._due is not None and self._due <= now:
            self._expire(now)
            # It will change the revision, and then this is read anew; if not, it is tried again.
            self._due = now + int(RETRY_SECONDS * 1000)
