"""Which revision a read needs, and waiting until the cache has come that far.

A linearizable read may be answered from memory once the cache has reached a revision that the
backend named *after* the read arrived. `Shared` asks that question once for all reads that wait at
that moment; `Reached` holds the reads back until the feed has brought the cache there.
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
    """How new an answer must be when no revision is named."""

    ANY = "any"
    """Whatever the cache has now."""
    NEWEST = "newest"
    """Every write acknowledged before the read arrived."""


@dataclass(frozen=True, slots=True)
class NotOlderThan:
    """The state at this revision or at any later one."""

    revision: int


@dataclass(frozen=True, slots=True)
class Exact:
    """The state at this revision and no other."""

    revision: int


At = Freshness | NotOlderThan | Exact


class TooLargeRevision(StorageError):
    """The revision asked for has not happened, and did not while the read waited."""

    def __init__(self, asked: int, *, current: int) -> None:
        super().__init__(f"Too large resource version: {asked}, current: {current}")
        self.asked = asked
        self.current = current


class RevisionExpired(StorageError):
    """The changes after *asked* are no longer known; those after *oldest* are."""

    def __init__(self, asked: int, *, oldest: int) -> None:
        super().__init__(f"too old resource version: {asked} ({oldest})")
        self.asked = asked
        self.oldest = oldest


class NotReady(StorageError):
    """The cache has not listed the resource yet."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"the watch cache of {prefix!r} is not filled yet")
        self.prefix = prefix


class Shared(Generic[T]):
    """A question whose answer serves everybody who asked before it was put.

    Whoever asks while one is under way waits for the next: the answer in flight may be older than
    what the newcomer has already seen.
    """

    def __init__(self, question: Callable[[], Awaitable[T]]) -> None:
        self._question = question
        self._waiting: list[asyncio.Future[T]] = []
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def ask(self) -> asyncio.Future[T]:
        """An answer to a question put after this call."""
        if self._closed:
            raise Unavailable(_CLOSED)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="shared question")
        return answer

    async def close(self) -> None:
        """Stop asking; whoever still waits is told Unavailable."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for future in _undecided(self._waiting):
            future.set_exception(Unavailable(_CLOSED))
        self._waiting.clear()

    async def _run(self) -> None:
        while self._waiting:
            asking, self._waiting = self._waiting, []
            try:
                answer = await self._question()
            except Exception as error:
                # Told to everybody who waits, also for the next one: a store that is away takes
                # its time to be given up, and nobody should wait for that twice.
                asking, self._waiting = [*asking, *self._waiting], []
                for future in _undecided(asking):
                    future.set_exception(error)
            except asyncio.CancelledError:
                for future in _undecided(asking):
                    future.set_exception(Unavailable(_CLOSED))
                raise
            else:
                for future in _undecided(asking):
                    future.set_result(answer)


class Reached:
    """How far the cache has come, and who waits for it to come further."""

    def __init__(self) -> None:
        self.revision = 0
        # Shared questions make few distinct revisions of many reads.
        self._waiting: dict[int, set[asyncio.Future[None]]] = {}

    def advance(self, revision: int) -> None:
        """Say that every change up to *revision* can be seen, and wake those who waited for it."""
        self.revision = max(revision, self.revision)
        for awaited in [awaited for awaited in self._waiting if awaited <= self.revision]:
            for future in _undecided(self._waiting.pop(awaited)):
                future.set_result(None)

    async def wait(self, revision: int, *, seconds: float) -> bool:
        """Whether *revision* is reached within the given time."""
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
            self._forget(revision, future)
        return True

    def _forget(self, revision: int, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(revision)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._waiting[revision]


def _undecided(futures: Iterable[asyncio.Future[T]]) -> Iterator[asyncio.Future[T]]:
    """Those whose reader has not gone away."""
    return (future for future in futures if not future.done())
