"""Metrics of work queues, under the names that client-go uses and dashboards expect.

`QueueMetrics` computes the values and reports them to a `MetricsProvider`; without a provider
nothing is reported.
"""

from collections.abc import Hashable
from typing import Final, Generic, Protocol, TypeVar

from client.runtime.clock import Clock

T = TypeVar("T", bound=Hashable)

DEPTH: Final = "workqueue_depth"
ADDS: Final = "workqueue_adds_total"
QUEUE_DURATION: Final = "workqueue_queue_duration_seconds"
WORK_DURATION: Final = "workqueue_work_duration_seconds"
UNFINISHED: Final = "workqueue_unfinished_work_seconds"
LONGEST_RUNNING: Final = "workqueue_longest_running_processor_seconds"
RETRIES: Final = "workqueue_retries_total"


class MetricsProvider(Protocol):
    """Receives the metrics of all queues; *queue* is the value of the `name` label."""

    def count(self, metric: str, queue: str) -> None:
        """Increment a counter."""

    def set(self, metric: str, queue: str, value: float, *, priority: int | None = None) -> None:
        """Set a gauge; the depth of a priority queue is reported for each priority."""

    def observe(self, metric: str, queue: str, seconds: float) -> None:
        """Add a value to a histogram."""


class NoQueueMetrics:
    """A provider that discards all metrics."""

    def count(self, metric: str, queue: str) -> None: ...

    def set(
        self, metric: str, queue: str, value: float, *, priority: int | None = None
    ) -> None: ...

    def observe(self, metric: str, queue: str, seconds: float) -> None: ...


class QueueMetrics(Generic[T]):
    """Tracks the items of one queue and reports its metrics."""

    def __init__(
        self,
        name: str,
        provider: MetricsProvider | None,
        clock: Clock,
        *,
        by_priority: bool = False,
    ) -> None:
        self._name = name
        self._provider = provider or NoQueueMetrics()
        self._clock = clock
        self._by_priority = by_priority
        self._depths: dict[int, int] = {}
        self._added_at: dict[T, float] = {}
        self._started_at: dict[T, float] = {}

    def added(self, item: T, *, at: float | None = None, priority: int = 0) -> None:
        """Count *item* as waiting since *at*, or since now."""
        self._provider.count(ADDS, self._name)
        self._change_depth(priority, 1)
        self._added_at.setdefault(item, self._clock.monotonic() if at is None else at)

    def taken(self, item: T, *, priority: int = 0) -> None:
        now = self._clock.monotonic()
        self._change_depth(priority, -1)
        self._started_at[item] = now
        added_at = self._added_at.pop(item, None)
        if added_at is not None:
            self._provider.observe(QUEUE_DURATION, self._name, now - added_at)

    def moved(self, before: int, after: int) -> None:
        """Count a waiting item under another priority."""
        self._change_depth(before, -1)
        self._change_depth(after, 1)

    def done(self, item: T) -> None:
        started_at = self._started_at.pop(item, None)
        if started_at is not None:
            elapsed = self._clock.monotonic() - started_at
            self._provider.observe(WORK_DURATION, self._name, elapsed)

    def retried(self) -> None:
        self._provider.count(RETRIES, self._name)

    def report_running(self) -> None:
        """Set the gauges of items being processed; to be called before metrics are collected."""
        now = self._clock.monotonic()
        elapsed = [now - started_at for started_at in self._started_at.values()]
        self._provider.set(UNFINISHED, self._name, sum(elapsed))
        self._provider.set(LONGEST_RUNNING, self._name, max(elapsed, default=0.0))

    def _change_depth(self, priority: int, by: int) -> None:
        depth = self._depths[priority] = self._depths.get(priority, 0) + by
        if self._by_priority:
            self._provider.set(DEPTH, self._name, depth, priority=priority)
        else:
            self._provider.set(DEPTH, self._name, depth)
