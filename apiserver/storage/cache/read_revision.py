"""Read revisions: the revision that a read requires, and waiting until the cache reaches it.

A linearizable read may be served from memory once the cache has reached a revision that the backend
returned *after* the read arrived. `SharedCall` fetches that revision once for all reads waiting at
that moment; `ReachedRevision` delays the reads until the feed has advanced the cache.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from apiserver.storage.interface import StorageError, Unavailable

T = TypeVar("T")

_CLOSED = "the watch cache is closed"


class Freshness(Enum):
    """How recent the state must be if the read gives no revision."""

    ANY = "any"
    """The state that the cache has now."""
    NEWEST = "newest"
    """A state that includes every write acknowledged before the read arrived."""


@dataclass(frozen=True, slots=True)
class NotOlderThan:
    """The state at this revision or at any later one."""

    revision: int


@dataclass(frozen=True, slots=True)
class Exact:
    """The state at exactly this revision."""

    revision: int


At = Freshness | NotOlderThan | Exact


class TooLargeRevision(StorageError):
    """The requested revision is in the future, and was not reached while the read waited."""

    def __init__(self, requested: int, *, current: int) -> None:
        super().__init__(f"Too large resource version: {requested}, current: {current}")
        self.requested = requested
        self.current = current


class RevisionExpired(StorageError):
    """The changes after *requested* are no longer available; those after *oldest* are."""

    def __init__(self, requested: int, *, oldest: int) -> None:
        super().__init__(f"too old resource version: {requested} ({oldest})")
        self.requested = requested
        self.oldest = oldest


class NotReady(StorageError):
    """The cache has not yet listed the resource."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"the watch cache of {prefix!r} is not filled yet")
        self.prefix = prefix


class SharedCall(Generic[T]):
    """Coalesces calls: one result serves every caller that requested it before the call started.

    A caller that arrives during a call waits for the next one: the result in flight may be older
    than a state that this caller has already seen.
    """

    def __init__(self, call: Callable[[], Awaitable[T]]) -> None:
        self._call = call
        self._waiting: list[asyncio.Future[T]] = []
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def result(self) -> asyncio.Future[T]:
        """Return the future of a call that starts after this method was called."""
        if self._closed:
            raise Unavailable(_CLOSED)
        value: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(value)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="shared call")
        return value

    async def close(self) -> None:
        """Stop calling; waiting callers get Unavailable."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for future in _unresolved(self._waiting):
            future.set_exception(Unavailable(_CLOSED))
        self._waiting.clear()

    async def _run(self) -> None:
        while self._waiting:
            callers, self._waiting = self._waiting, []
            try:
                value = await self._call()
            except Exception as error:
                # Fail all waiting callers, also those of the next call: an unavailable store takes
                # a while to time out, and no caller should wait for that twice.
                callers, self._waiting = [*callers, *self._waiting], []
                for future in _unresolved(callers):
                    future.set_exception(error)
            except asyncio.CancelledError:
                for future in _unresolved(callers):
                    future.set_exception(Unavailable(_CLOSED))
                raise
            else:
                for future in _unresolved(callers):
                    future.set_result(value)


class ReachedRevision:
    """The revision that the cache has reached, and the reads that wait for a later one."""

    def __init__(self) -> None:
        self.revision = 0
        # Reads that share a call wait for the same revision, so there are few distinct keys.
        self._waiting: dict[int, set[asyncio.Future[None]]] = {}

    def advance(self, revision: int) -> None:
        """Record that changes up to *revision* are visible, and wake the reads waiting for it."""
        self.revision = max(revision, self.revision)
        for target in [target for target in self._waiting if target <= self.revision]:
            for future in _unresolved(self._waiting.pop(target)):
                future.set_result(None)

    async def wait(self, revision: int, *, seconds: float) -> bool:
        """Return whether *revision* is reached within *seconds*."""
        if revision <= self.revision:
            return True
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(revision, set()).add(future)
        try:
            async with asyncio.timeout(seconds):
                await future
        except TimeoutError:
            return revision <= self.revision
        finally:
            self._discard(revision, future)
        return True

    def _discard(self, revision: int, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(revision)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._waiting[revision]


def _unresolved(futures: Iterable[asyncio.Future[T]]) -> Iterator[asyncio.Future[T]]:
    """Yield the futures whose readers were not cancelled."""
    return (future for future in futures if not future.done())
