"""WorkQueue: items to be worked on, each by one worker at a time.

Three places: the *queue*, in order; *dirty*, what needs work; *processing*, what a worker has. An
item that is added while it is worked on becomes dirty and is queued when the worker is done. So an
item is never worked on twice at once, waits at most once, and no change is missed.

Nothing is bounded but by the number of different items: they are keys, and there are not more of
them than there are objects.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from client.runtime.clock import Clock, SystemClock
from client.workqueue.parking import Parking
from client.workqueue.queue_metrics import MetricsProvider, QueueMetrics
from client.workqueue.rate_limiters import RateLimiter, default_rate_limiter

T = TypeVar("T", bound=Hashable)


class QueueShutDown(Exception):
    """The queue was shut down and has nothing left to give."""


class Queue(Protocol[T]):
    """What a controller needs of a queue."""

    def add(self, item: T, *, priority: int = 0) -> None:
        """Have *item* worked on; *priority* counts in queues that know it."""

    def add_after(self, item: T, delay: float, *, priority: int = 0) -> None:
        """Add *item* in *delay* seconds."""

    def add_rate_limited(self, item: T, *, priority: int = 0) -> None:
        """Add *item* when the rate limiter says so."""

    def forget(self, item: T) -> None:
        """Let the rate limiter forget the failures of *item*; `done` is still owed."""

    def num_requeues(self, item: T) -> int: ...

    async def get(self) -> T:
        """The next item, as soon as there is one; QueueShutDown when there will be none."""

    async def get_with_priority(self) -> tuple[T, int]: ...

    def done(self, item: T) -> None:
        """The work on *item* has ended; whoever got it owes this call."""

    def shut_down(self) -> None:
        """Take nothing more; what is queued can still be got, what is delayed is dropped."""

    async def shut_down_with_drain(self) -> None:
        """Shut down, and return when nothing is being worked on; `shut_down` ends the wait."""

    @property
    def shutting_down(self) -> bool: ...

    def __len__(self) -> int:
        """How many items could be got now."""


class WorkQueue(Generic[T]):
    """A queue in the order in which items were added."""

    def __init__(
        self,
        name: str = "",
        *,
        rate_limiter: RateLimiter[T] | None = None,
        metrics: MetricsProvider | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self._clock = clock or SystemClock()
        self._limiter: RateLimiter[T] = rate_limiter or default_rate_limiter(self._clock)
        self.metrics: QueueMetrics[T] = QueueMetrics(name, metrics, self._clock)
        self._queue: deque[T] = deque()
        self._dirty: set[T] = set()
        self._processing: set[T] = set()
        self._delayed = _Delayed[T]()
        self._parking = Parking(self._clock, self._delayed.next_ready)
        self._idle = Parking(self._clock, lambda: None)
        self._shutting_down = False
        self._draining = False

    def add(self, item: T, *, priority: int = 0) -> None:
        """Have *item* worked on; *priority* is of no consequence here."""
        self._promote()
        self._add(item)

    def add_after(self, item: T, delay: float, *, priority: int = 0) -> None:
        """Add *item* in *delay* seconds; of several moments the earliest counts."""
        if self._shutting_down:
            return
        self.metrics.retried()
        if delay <= 0:
            self.add(item)
        elif self._delayed.put(item, self._clock.monotonic() + delay):
            # Whoever watches the clock must look again.
            self._parking.wake_one()

    def add_rate_limited(self, item: T, *, priority: int = 0) -> None:
        self.add_after(item, self._limiter.when(item))

    def forget(self, item: T) -> None:
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        return self._limiter.num_requeues(item)

    async def get(self) -> T:
        while True:
            self._promote()
            if self._queue:
                break
            if self._shutting_down:
                raise QueueShutDown(f"queue {self.name!r} was shut down")
            await self._parking.wait()
        item = self._queue.popleft()
        self.metrics.taken(item)
        self._processing.add(item)
        self._dirty.discard(item)
        self._parking.leave()
        return item

    async def get_with_priority(self) -> tuple[T, int]:
        return await self.get(), 0

    def done(self, item: T) -> None:
        self.metrics.done(item)
        self._processing.discard(item)
        if item in self._dirty:
            self._queue.append(item)
            self._parking.wake_one()
        elif not self._processing:
            self._idle.wake_all()

    def shut_down(self) -> None:
        self._draining = False
        self._end()

    async def shut_down_with_drain(self) -> None:
        self._draining = True
        self._end()
        while self._processing and self._draining:
            await self._idle.wait()

    @property
    def shutting_down(self) -> bool:
        return self._shutting_down

    def __len__(self) -> int:
        self._promote()
        return len(self._queue)

    def _add(self, item: T, *, at: float | None = None) -> None:
        if self._shutting_down or item in self._dirty:
            return
        self.metrics.added(item, at=at)
        self._dirty.add(item)
        if item not in self._processing:
            self._queue.append(item)
            self._parking.wake_one()

    def _promote(self) -> None:
        """Queue what has become ready, in the order in which it did."""
        while (ready := self._delayed.pop(self._clock.monotonic())) is not None:
            at, item = ready
            self._add(item, at=at)

    def _end(self) -> None:
        self._shutting_down = True
        self._delayed.clear()
        self._parking.wake_all()
        self._idle.wake_all()


class _Delayed(Generic[T]):
    """Items by the moment at which they are ready; each waits once, for its earliest moment."""

    def __init__(self) -> None:
        self._moments: dict[T, float] = {}
        # Entries whose moment is no longer the item's are left behind and skipped.
        self._heap: list[tuple[float, int, T]] = []
        self._order = itertools.count()

    def put(self, item: T, at: float) -> bool:
        """Whether nothing is ready earlier than *item* now."""
        known = self._moments.get(item)
        if known is not None and known <= at:
            return False
        self._moments[item] = at
        heapq.heappush(self._heap, (at, next(self._order), item))
        return self.next_ready() == at

    def next_ready(self) -> float | None:
        while self._heap:
            at, _, item = self._heap[0]
            if self._moments.get(item) == at:
                return at
            heapq.heappop(self._heap)
        return None

    def pop(self, now: float) -> tuple[float, T] | None:
        at = self.next_ready()
        if at is None or at > now:
            return None
        item = heapq.heappop(self._heap)[2]
        del self._moments[item]
        return at, item

    def clear(self) -> None:
        self._moments.clear()
        self._heap.clear()
