"""What a queue tells of itself, under the names that dashboards know.

A provider is anything that takes numbers by name; without one nothing is told.
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
    """Takes the numbers of all queues; *queue* is the `name` label."""

    def count(self, metric: str, queue: str) -> None:
        """One more of what a counter counts."""

    def set(self, metric: str, queue: str, value: float, *, priority: int | None = None) -> None:
        """The present value of a gauge; the depth of a priority queue is told by priority."""

    def observe(self, metric: str, queue: str, seconds: float) -> None:
        """One more value for a histogram."""


class NoQueueMetrics:
    """Takes nothing in."""

    def count(self, metric: str, queue: str) -> None: ...

    def set(
        self, metric: str, queue: str, value: float, *, priority: int | None = None
    ) -> None: ...

    def observe(self, metric: str, queue: str, seconds: float) -> None: ...


class QueueMetrics(Generic[T]):
    """Follows the items of one queue and works out its numbers."""

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
        self._added: dict[T, float] = {}
        self._started: dict[T, float] = {}

    def added(self, item: T, *, at: float | None = None, priority: int = 0) -> None:
        """*item* waits to be taken, since *at* if that was earlier than now."""
        self._provider.count(ADDS, self._name)
        self._change_depth(priority, 1)
        self._added.setdefault(item, self._clock.monotonic() if at is None else at)

    def taken(self, item: T, *, priority: int = 0) -> None:
        now = self._clock.monotonic()
        self._change_depth(priority, -1)
        self._started[item] = now
        since = self._added.pop(item, None)
        if since is not None:
            self._provider.observe(QUEUE_DURATION, self._name, now - since)

    def moved(self, before: int, after: int) -> None:
        """An item that waits has another priority now."""
        self._change_depth(before, -1)
        self._change_depth(after, 1)

    def done(self, item: T) -> None:
        since = self._started.pop(item, None)
        if since is not None:
            self._provider.observe(WORK_DURATION, self._name, self._clock.monotonic() - since)

    def retried(self) -> None:
        self._provider.count(RETRIES, self._name)

    def report_running(self) -> None:
        """Set the gauges of work in progress; for whoever collects the numbers, before it does."""
        now = self._clock.monotonic()
        running = [now - since for since in self._started.values()]
        self._provider.set(UNFINISHED, self._name, sum(running))
        self._provider.set(LONGEST_RUNNING, self._name, max(running, default=0.0))

    def _change_depth(self, priority: int, by: int) -> None:
        depth = self._depths[priority] = self._depths.get(priority, 0) + by
        if self._by_priority:
            self._provider.set(DEPTH, self._name, depth, priority=priority)
        else:
            self._provider.set(DEPTH, self._name, depth)
