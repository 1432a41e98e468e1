"""PriorityQueue: a work queue in which some items are more urgent than others.

What exists when a controller starts, and what is only told again, can wait (`LOW_PRIORITY`); a
change that somebody just made should not stand in line behind ten thousand of those.

An item waits once, with the highest priority and for the earliest moment that it was added with.
Within a priority the order is that of becoming ready. An item that a worker has stays where it is
in line and is passed over, until the worker is done.
"""

import heapq
import itertools
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from client.runtime.clock import Clock, SystemClock
from client.workqueue.parking import Parking
from client.workqueue.queue_metrics import MetricsProvider, QueueMetrics
from client.workqueue.rate_limiters import ExponentialFailure, RateLimiter
from client.workqueue.workqueue import QueueShutDown

T = TypeVar("T", bound=Hashable)

LOW_PRIORITY: Final = -100
"""For what was there when a controller started, and for updates that change nothing."""


class _Entry(Generic[T]):
    """One item that waits. Entries that were replaced are left in their heap, not `current`."""

    __slots__ = ("current", "item", "place", "priority", "ready_at")

    def __init__(self, item: T, priority: int, ready_at: float | None, place: int) -> None:
        self.item = item
        self.priority = priority
        self.ready_at = ready_at
        """When it can be taken; None when it can be now."""
        self.place = place
        self.current = True

    def __lt__(self, other: "_Entry[T]") -> bool:
        if self.ready_at is not None and other.ready_at is not None:
            return (self.ready_at, self.place) < (other.ready_at, other.place)
        return (-self.priority, self.place) < (-other.priority, other.place)


class PriorityQueue(Generic[T]):
    """A queue with the most urgent items first; see `client.workqueue.workqueue.Queue`."""

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
        self._limiter: RateLimiter[T] = rate_limiter or ExponentialFailure()
        self.metrics: QueueMetrics[T] = QueueMetrics(name, metrics, self._clock, by_priority=True)
        self._entries: dict[T, _Entry[T]] = {}
        self._ready: list[_Entry[T]] = []
        self._delayed: list[_Entry[T]] = []
        self._places = itertools.count()
        # Ready, but a worker has the same item.
        self._passed_over: dict[T, _Entry[T]] = {}
        self._processing: set[T] = set()
        self._parking = Parking(self._clock, self._next_ready)
        self._idle = Parking(self._clock, lambda: None)
        self._shutting_down = False
        self._draining = False

    def add(self, item: T, *, priority: int = 0) -> None:
        self._promote()
        self._add(item, priority, None)

    def add_after(self, item: T, delay: float, *, priority: int = 0) -> None:
        if self._shutting_down:
            return
        self._promote()
        if delay > 0:
            self.metrics.retried()
        self._add(item, priority, self._clock.monotonic() + delay if delay > 0 else None)

    def add_rate_limited(self, item: T, *, priority: int = 0) -> None:
        self.add_after(item, self._limiter.when(item), priority=priority)

    def forget(self, item: T) -> None:
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        return self._limiter.num_requeues(item)

    async def get(self) -> T:
        return (await self.get_with_priority())[0]

    async def get_with_priority(self) -> tuple[T, int]:
        while True:
            self._promote()
            entry = self._take()
            if entry is not None:
                break
            if self._shutting_down:
                raise QueueShutDown(f"queue {self.name!r} was shut down")
            await self._parking.wait()
        self.metrics.taken(entry.item, priority=entry.priority)
        self._processing.add(entry.item)
        self._parking.leave()
        return entry.item, entry.priority

    def done(self, item: T) -> None:
        self.metrics.done(item)
        self._processing.discard(item)
        passed_over = self._passed_over.pop(item, None)
        if passed_over is not None and passed_over.current:
            heapq.heappush(self._ready, passed_over)
        if item in self._entries:
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
        entries = self._entries.values()
        return sum(e.ready_at is None and e.item not in self._processing for e in entries)

    def _add(self, item: T, priority: int, ready_at: float | None) -> None:
        if self._shutting_down:
            return
        known = self._entries.get(item)
        if known is None:
            self._put(_Entry(item, priority, ready_at, next(self._places)))
            if ready_at is None:
                self.metrics.added(item, priority=priority)
            return
        sooner = known.ready_at is not None and (ready_at is None or ready_at < known.ready_at)
        if priority <= known.priority and not sooner:
            return
        known.current = False
        moment = ready_at if sooner else known.ready_at
        made = _Entry(item, max(priority, known.priority), moment, next(self._places))
        self._put(made)
        if known.ready_at is None:
            self.metrics.moved(known.priority, made.priority)
        elif made.ready_at is None:
            self.metrics.added(item, priority=made.priority)

    def _put(self, entry: _Entry[T]) -> None:
        self._entries[entry.item] = entry
        if entry.ready_at is not None:
            heapq.heappush(self._delayed, entry)
            if self._delayed[0] is entry:
                # Whoever watches the clock must look again.
                self._parking.wake_one()
        elif entry.item in self._processing:
            self._passed_over[entry.item] = entry
        else:
            heapq.heappush(self._ready, entry)
            self._parking.wake_one()

    def _take(self) -> _Entry[T] | None:
        while self._ready:
            entry = heapq.heappop(self._ready)
            if entry.current:
                del self._entries[entry.item]
                return entry
        return None

    def _next_ready(self) -> float | None:
        while self._delayed and not self._delayed[0].current:
            heapq.heappop(self._delayed)
        return self._delayed[0].ready_at if self._delayed else None

    def _promote(self) -> None:
        """Put what has become ready in line, in the order in which it did."""
        now = self._clock.monotonic()
        while (at := self._next_ready()) is not None and at <= now:
            entry = heapq.heappop(self._delayed)
            entry.ready_at = None
            entry.place = next(self._places)
            self.metrics.added(entry.item, at=at, priority=entry.priority)
            self._put(entry)

    def _end(self) -> None:
        self._shutting_down = True
        for entry in self._delayed:
            if entry.current:
                del self._entries[entry.item]
        self._delayed.clear()
        self._parking.wake_all()
        self._idle.wake_all()
