"""PriorityQueue: a work queue that serves urgent items first.

Objects that exist when a controller starts, and updates repeated by a resync, can wait
(`LOW_PRIORITY`): a change made just now must not queue behind ten thousand of them.

An item waits once, with the highest priority and the earliest time of all its additions. Items of
equal priority are served in the order in which they became ready. An item that is added while a
worker processes it keeps its place in that order and is skipped until the worker calls `done`.
"""

import heapq
import itertools
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from client.runtime.clock import Clock, SystemClock
from client.workqueue.queue_metrics import MetricsProvider, QueueMetrics
from client.workqueue.rate_limiters import ExponentialFailure, RateLimiter
from client.workqueue.workqueue import Queue

T = TypeVar("T", bound=Hashable)

LOW_PRIORITY: Final = -100
"""For objects that existed when a controller started, and for updates that change nothing."""


class _Entry(Generic[T]):
    """A waiting item. An entry that was replaced stays in its heap with `current` false."""

    __slots__ = ("current", "item", "place", "priority", "ready_at")

    def __init__(self, item: T, priority: int, ready_at: float | None, place: int) -> None:
        self.item = item
        self.priority = priority
        self.ready_at = ready_at
        """When its delay ends; None if it is ready."""
        self.place = place
        self.current = True

    def __lt__(self, other: "_Entry[T]") -> bool:
        if self.ready_at is not None and other.ready_at is not None:
            return (self.ready_at, self.place) < (other.ready_at, other.place)
        return (-self.priority, self.place) < (-other.priority, other.place)


class PriorityQueue(Queue[T]):
    """A work queue ordered by priority, then by the time at which items became ready."""

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
            rate_limiter=rate_limiter or ExponentialFailure(),
            metrics=QueueMetrics(name, metrics, clock, by_priority=True),
            clock=clock,
        )
        self._entries: dict[T, _Entry[T]] = {}
        self._ready: list[_Entry[T]] = []
        self._delayed: list[_Entry[T]] = []
        self._places = itertools.count()
        # Entries that are ready while a worker processes the same item.
        self._skipped: dict[T, _Entry[T]] = {}

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

    def __len__(self) -> int:
        self._promote()
        entries = self._entries.values()
        return sum(e.ready_at is None and e.item not in self._processing for e in entries)

    def _add(self, item: T, priority: int, ready_at: float | None) -> None:
        if self._shutting_down:
            return
        waiting = self._entries.get(item)
        if waiting is None:
            self._put(_Entry(item, priority, ready_at, next(self._places)))
            if ready_at is None:
                self.metrics.added(item, priority=priority)
            return
        is_sooner = waiting.ready_at is not None and (
            ready_at is None or ready_at < waiting.ready_at
        )
        if priority <= waiting.priority and not is_sooner:
            return
        waiting.current = False
        ready_at = ready_at if is_sooner else waiting.ready_at
        entry = _Entry(item, max(priority, waiting.priority), ready_at, next(self._places))
        self._put(entry)
        if waiting.ready_at is None:
            self.metrics.moved(waiting.priority, entry.priority)
        elif entry.ready_at is None:
            self.metrics.added(item, priority=entry.priority)

    def _put(self, entry: _Entry[T]) -> None:
        self._entries[entry.item] = entry
        if entry.ready_at is not None:
            heapq.heappush(self._delayed, entry)
            if self._delayed[0] is entry:
                # The worker that watches the clock must wait for this earlier time instead.
                self._parking.wake_one()
        elif entry.item in self._processing:
            self._skipped[entry.item] = entry
        else:
            heapq.heappush(self._ready, entry)
            self._parking.wake_one()

    def _take(self) -> tuple[T, int] | None:
        while self._ready:
            entry = heapq.heappop(self._ready)
            if entry.current:
                del self._entries[entry.item]
                return entry.item, entry.priority
        return None

    def _requeue(self, item: T) -> bool:
        skipped = self._skipped.pop(item, None)
        if skipped is not None and skipped.current:
            heapq.heappush(self._ready, skipped)
        return item in self._entries

    def _promote(self) -> None:
        now = self._clock.monotonic()
        while (at := self._next_ready()) is not None and at <= now:
            entry = heapq.heappop(self._delayed)
            entry.ready_at = None
            entry.place = next(self._places)
            self.metrics.added(entry.item, at=at, priority=entry.priority)
            self._put(entry)

    def _next_ready(self) -> float | None:
        while self._delayed and not self._delayed[0].current:
            heapq.heappop(self._delayed)
        return self._delayed[0].ready_at if self._delayed else None

    def _drop_delayed(self) -> None:
        for entry in self._delayed:
            if entry.current:
                del self._entries[entry.item]
        self._delayed.clear()
