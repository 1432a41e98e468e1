"""WorkQueue: items for workers, each processed by at most one worker at a time.

`Queue` is the part that all work queues share: rate limiting, blocking `get`, `done`, shutdown and
metrics. `WorkQueue` adds the order of arrival; `client.workqueue.priority_queue` adds priorities.

An item that is added while a worker processes it is queued again when the worker calls `done`. An
item is therefore never processed twice at once, waits at most once, and no change is missed.

A queue is unbounded, but holds each item at most once: items are object keys, so a queue never
holds more items than there are objects.
"""

import heapq
import itertools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from client.runtime.clock import Clock, SystemClock
from client.workqueue.parking import Parking
from client.workqueue.queue_metrics import MetricsProvider, QueueMetrics
from client.workqueue.rate_limiters import RateLimiter, default_rate_limiter

T = TypeVar("T", bound=Hashable)


class QueueShutDown(Exception):
    """Raised by `get` when the queue was shut down and is empty."""


class Queue(ABC, Generic[T]):
    """A work queue; subclasses decide the order of the items and keep the delayed ones."""

    def __init__(
        self,
        name: str,
        *,
        rate_limiter: RateLimiter[T],
        metrics: QueueMetrics[T],
        clock: Clock,
    ) -> None:
        self.name = name
        self.metrics = metrics
        self._clock = clock
        self._limiter = rate_limiter
        self._processing: set[T] = set()
        self._parking = Parking(clock, self._next_ready)
        self._draining_waiters = Parking(clock, lambda: None)
        self._shutting_down = False
        self._draining = False

    @abstractmethod
    def add(self, item: T, *, priority: int = 0) -> None:
        """Enqueue *item*; *priority* only matters to a PriorityQueue."""

    @abstractmethod
    def add_after(self, item: T, delay: float, *, priority: int = 0) -> None:
        """Enqueue *item* in *delay* seconds; of several delays the one that ends first counts."""

    def add_rate_limited(self, item: T, *, priority: int = 0) -> None:
        """Enqueue *item* after the delay that the rate limiter returns for it."""
        self.add_after(item, self._limiter.when(item), priority=priority)

    def forget(self, item: T) -> None:
        """Reset the rate limiter's failure count of *item*; `done` must still be called."""
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        """Return how often *item* was added rate limited since it was last forgotten."""
        return self._limiter.num_requeues(item)

    async def get(self) -> T:
        """Wait for the next item and return it. Raises QueueShutDown if there will be none.

        The caller must call `done` with the item when it has been processed.
        """
        return (await self.get_with_priority())[0]

    async def get_with_priority(self) -> tuple[T, int]:
        """Return the next item like `get`, with its priority: 0 in a queue without priorities."""
        while True:
            self._promote()
            entry = self._take()
            if entry is not None:
                break
            if self._shutting_down:
                raise QueueShutDown(f"queue {self.name!r} was shut down")
            await self._parking.wait()
        item, priority = entry
        self.metrics.taken(item, priority=priority)
        self._processing.add(item)
        self._parking.leave()
        return entry

    def done(self, item: T) -> None:
        """Mark *item* as processed; if it was added meanwhile, it can be taken again."""
        self.metrics.done(item)
        self._processing.discard(item)
        if self._requeue(item):
            self._parking.wake_one()
        elif not self._processing:
            self._draining_waiters.wake_all()

    def shut_down(self) -> None:
        """Accept no more items and drop the delayed ones; queued items can still be taken."""
        self._draining = False
        self._end()

    async def shut_down_with_drain(self) -> None:
        """Shut down and wait until no item is being processed; `shut_down` ends the wait."""
        self._draining = True
        self._end()
        while self._processing and self._draining:
            await self._draining_waiters.wait()

    @property
    def shutting_down(self) -> bool:
        return self._shutting_down

    @abstractmethod
    def __len__(self) -> int:
        """Return how many items could be taken now."""

    @abstractmethod
    def _take(self) -> tuple[T, int] | None:
        """Remove and return the first queued item with its priority; None if nothing is queued."""

    @abstractmethod
    def _requeue(self, item: T) -> bool:
        """Make *item*, which was just processed, available again; return whether it still waits."""

    @abstractmethod
    def _promote(self) -> None:
        """Enqueue the delayed items whose delay has ended, in the order in which it ended."""

    @abstractmethod
    def _next_ready(self) -> float | None:
        """Return the time at which the next delayed item becomes ready, or None."""

    @abstractmethod
    def _drop_delayed(self) -> None: ...

    def _end(self) -> None:
        self._shutting_down = True
        self._drop_delayed()
        self._parking.wake_all()
        self._draining_waiters.wake_all()


class WorkQueue(Queue[T]):
    """A work queue in order of arrival; priorities are accepted and ignored.

    As in client-go, an item can be in `_queue` (waiting for a worker), `_dirty` (to be processed)
    and `_processing` (a worker has it). An item that is added while it is processed is only dirty.
    """

    def __init__(
        self,
        name: str = "",
        *,
        rate_limiter: RateLimiter[T] | None = None,
        metrics: MetricsProvider | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        super().__init__(
            name,
            rate_limiter=rate_limiter or default_rate_limiter(clock),
            metrics=QueueMetrics(name, metrics, clock),
            clock=clock,
        )
        self._queue: deque[T] = deque()
        self._dirty: set[T] = set()
        self._delayed = _DelayedItems[T]()

    def add(self, item: T, *, priority: int = 0) -> None:
        self._promote()
        self._add(item)

    def add_after(self, item: T, delay: float, *, priority: int = 0) -> None:
        if self._shutting_down:
            return
        self.metrics.retried()
        if delay <= 0:
            self.add(item)
        elif self._delayed.put(item, self._clock.monotonic() + delay):
            # The worker that watches the clock must wait for this earlier time instead.
            self._parking.wake_one()

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

    def _take(self) -> tuple[T, int] | None:
        if not self._queue:
            return None
        item = self._queue.popleft()
        self._dirty.discard(item)
        return item, 0

    def _requeue(self, item: T) -> bool:
        if item not in self._dirty:
            return False
        self._queue.append(item)
        return True

    def _promote(self) -> None:
        while (ready := self._delayed.pop(self._clock.monotonic())) is not None:
            at, item = ready
            self._add(item, at=at)

    def _next_ready(self) -> float | None:
        return self._delayed.next_ready()

    def _drop_delayed(self) -> None:
        self._delayed.clear()


class _DelayedItems(Generic[T]):
    """Items by the time at which they become ready; each item is kept with its earliest time."""

    def __init__(self) -> None:
        self._ready_at: dict[T, float] = {}
        # An entry whose time is no longer that of its item is outdated: it stays and is skipped.
        self._heap: list[tuple[float, int, T]] = []
        self._order = itertools.count()

    def put(self, item: T, at: float) -> bool:
        """Keep *item* until *at*; return whether it is now the first to become ready."""
        current = self._ready_at.get(item)
        if current is not None and current <= at:
            return False
        self._ready_at[item] = at
        heapq.heappush(self._heap, (at, next(self._order), item))
        return self.next_ready() == at

    def next_ready(self) -> float | None:
        while self._heap:
            at, _, item = self._heap[0]
            if self._ready_at.get(item) == at:
                return at
            heapq.heappop(self._heap)
        return None

    def pop(self, now: float) -> tuple[float, T] | None:
        """Remove the first item that is ready at *now*; return it with the time it became so."""
        at = self.next_ready()
        if at is None or at > now:
            return None
        item = heapq.heappop(self._heap)[2]
        del self._ready_at[item]
        return at, item

    def clear(self) -> None:
        self._ready_at.clear()
        self._heap.clear()
