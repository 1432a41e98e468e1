"""SQLite feeds: deliver changes to watches and detect writes of other processes.

A feed repeatedly reads the history after its position. Writes of its own process wake it at once;
writes of other processes are detected by the StorePoller, a thread that reads the revision of the
store every few milliseconds, which costs microseconds. The poller also requests the deletion of
expired keys.
"""

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from typing import Final, Self

from apiserver.storage.interface import ChangeBatch, Unavailable

POLL_SECONDS: Final = 0.004
"""The poll interval while there are feeds."""

IDLE_POLL_SECONDS: Final = 0.1
"""The poll interval without feeds, when only expiring keys need polling."""

RETRY_SECONDS: Final = 0.25

ReadBatch = Callable[[str, int], Awaitable[tuple[ChangeBatch, int]]]

_log = logging.getLogger(__name__)


class NewestRevision:
    """The newest revision that this process has seen; wakes the feeds when it advances."""

    def __init__(self) -> None:
        self.revision = 0
        self.feeds: set[SqliteFeed] = set()

    def advance(self, revision: int) -> None:
        if revision > self.revision:
            self.revision = revision
            for feed in self.feeds:
                feed.wake()


class SqliteFeed:
    """An open watch: a position in the history. Iterate it from one task only."""

    def __init__(self, newest: NewestRevision, read: ReadBatch, prefix: str, *, after: int) -> None:
        self._newest = newest
        self._read = read
        self._prefix = prefix
        self._position = after
        # Nothing has been read yet: there may be changes, or the position may be compacted.
        self._caught_up = -1
        self._wakeup = asyncio.Event()
        self._requested = 0
        self._reported = 0
        self._closed = False
        self._unavailable = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChangeBatch:
        while not self._closed:
            if self._caught_up >= self._newest.revision and self._reported == self._requested:
                self._wakeup.clear()
                await self._wakeup.wait()
                continue
            batch = await self._advance()
            if batch is not None and not self._closed:
                return batch
        raise StopAsyncIteration

    async def request_progress(self) -> bool:
        self._requested += 1
        self.wake()
        return True

    def wake(self) -> None:
        self._wakeup.set()

    def end(self) -> None:
        self._closed = True
        self.wake()

    async def _advance(self) -> ChangeBatch | None:
        """Read the next batch; safe to cancel, as the feed changes only after a successful read."""
        requested = self._requested
        try:
            batch, current = await self._read(self._prefix, self._position)
        except Unavailable as error:
            await self._back_off(error)
            return None
        self._unavailable = False
        # This read may be the first to see writes of another process, so there may be more to read.
        self._newest.advance(current)
        # A feed may be opened at a revision in the future.
        self._position = max(self._position, batch.revision)
        self._caught_up = max(self._caught_up, batch.revision)
        if batch.revision >= current:
            progress, self._reported = requested > self._reported, requested
        else:
            progress = False
        return batch if batch.changes or progress else None

    async def _back_off(self, error: Unavailable) -> None:
        if self._closed:
            return
        if not self._unavailable:
            _log.warning("watch of %r: the store is unavailable, retrying: %s", self._prefix, error)
        self._unavailable = True
        self._wakeup.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await self._wakeup.wait()


class StorePoller:
    """A thread that polls the store for other processes' writes and the clock for expiry."""

    def __init__(
        self,
        query: Callable[[str], int | None],
        newest: NewestRevision,
        expire: Callable[[int], None],
        clock: Callable[[], float],
    ) -> None:
        self._query = query
        self._newest = newest
        self._expire = expire
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._polled_revision: int | None = None
        self._next_expiry: int | None = None
        self._closed = False
        self._wakeup = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sqlite poller", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Poll now, and then at the interval the feeds need."""
        self._wakeup.set()

    async def close(self) -> None:
        self._closed = True
        self.wake()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        unavailable = False
        while not self._closed:
            self._wakeup.wait(POLL_SECONDS if self._newest.feeds else IDLE_POLL_SECONDS)
            self._wakeup.clear()
            try:
                self._poll()
                unavailable = False
            except RuntimeError:
                # The event loop was closed without closing the store.
                return
            except (sqlite3.Error, Unavailable) as error:
                if not unavailable:
                    _log.warning("failed to poll the store, retrying: %s", error)
                unavailable = True

    def _poll(self) -> None:
        revision = self._query("SELECT revision FROM store")
        if revision is not None and revision != self._polled_revision:
            self._next_expiry = self._query(
                "SELECT min(expires) FROM newest WHERE expires IS NOT NULL"
            )
            self._loop.call_soon_threadsafe(self._newest.advance, revision)
            self._polled_revision = revision
        now = int(self._clock() * 1000)
        if self._next_expiry is not None and self._next_expiry <= now:
            self._expire(now)
            # Expiring keys advances the revision, and the next poll then reads the next expiry
            # time; if expiring fails, retry it.
            self._next_expiry = now + int(RETRY_SECONDS * 1000)
