"""Metrics of controllers, under the names that controller-runtime uses and dashboards expect.

They are reported to a `MetricsSink`, such as `client.monitoring.prometheus.PrometheusMetrics`;
without one nothing is reported.
"""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from client.transport.request import Request

RECONCILE_TOTAL: Final = "controller_runtime_reconcile_total"
RECONCILE_ERRORS: Final = "controller_runtime_reconcile_errors_total"
TERMINAL_ERRORS: Final = "controller_runtime_terminal_reconcile_errors_total"
RECONCILE_TIMEOUTS: Final = "controller_runtime_reconcile_timeouts_total"
RECONCILE_TIME: Final = "controller_runtime_reconcile_time_seconds"
MAX_CONCURRENT: Final = "controller_runtime_max_concurrent_reconciles"
ACTIVE_WORKERS: Final = "controller_runtime_active_workers"
LEADER: Final = "leader_election_master_status"
REQUESTS: Final = "rest_client_requests_total"

Labels = Mapping[str, str]


class MetricsSink(Protocol):
    """Receives metrics by name and labels; a metric always has the same label names."""

    def count(self, name: str, labels: Labels) -> None:
        """Increment a counter."""

    def set(self, name: str, value: float, labels: Labels) -> None:
        """Set a gauge."""

    def observe(self, name: str, value: float, labels: Labels) -> None:
        """Add a value to a histogram."""

    def declare(self, name: str, labels: Labels) -> None:
        """Create a counter with the value zero, so that it is exported before it is incremented."""


class NoMetricsSink:
    """A sink that discards all metrics."""

    def count(self, name: str, labels: Labels) -> None: ...

    def set(self, name: str, value: float, labels: Labels) -> None: ...

    def observe(self, name: str, value: float, labels: Labels) -> None: ...

    def declare(self, name: str, labels: Labels) -> None: ...


class ControllerMetrics:
    """Reports the metrics of one controller."""

    RESULTS: Final = ("error", "requeue_after", "success")

    def __init__(self, metrics: MetricsSink, controller: str) -> None:
        self._metrics = metrics
        self._labels = {"controller": controller}

    def start(self, workers: int) -> None:
        """Create all metrics with their initial values."""
        for result in self.RESULTS:
            self._metrics.declare(RECONCILE_TOTAL, {**self._labels, "result": result})
        for name in (RECONCILE_ERRORS, TERMINAL_ERRORS, RECONCILE_TIMEOUTS):
            self._metrics.declare(name, self._labels)
        self._metrics.set(MAX_CONCURRENT, workers, self._labels)
        self.set_active(0)

    def set_active(self, workers: int) -> None:
        self._metrics.set(ACTIVE_WORKERS, workers, self._labels)

    def count_reconcile(self, result: str, seconds: float) -> None:
        """Count a reconcile that ended with one of RESULTS."""
        self._metrics.count(RECONCILE_TOTAL, {**self._labels, "result": result})
        self._metrics.observe(RECONCILE_TIME, seconds, self._labels)

    def count_failure(self, *, terminal: bool = False, timed_out: bool = False) -> None:
        self._metrics.count(RECONCILE_ERRORS, self._labels)
        if terminal:
            self._metrics.count(TERMINAL_ERRORS, self._labels)
        if timed_out:
            self._metrics.count(RECONCILE_TIMEOUTS, self._labels)


class QueueMetricsProvider:
    """Forwards the metrics of work queues (`client.workqueue.queue_metrics`) to a sink."""

    def __init__(self, metrics: MetricsSink) -> None:
        self._metrics = metrics

    def count(self, metric: str, queue: str) -> None:
        self._metrics.count(metric, self._labels(queue))

    def set(self, metric: str, queue: str, value: float, *, priority: int | None = None) -> None:
        labels = self._labels(queue)
        if priority is not None:
            labels["priority"] = str(priority)
        self._metrics.set(metric, value, labels)

    def observe(self, metric: str, queue: str, seconds: float) -> None:
        self._metrics.observe(metric, seconds, self._labels(queue))

    def _labels(self, queue: str) -> dict[str, str]:
        return {"name": queue, "controller": queue}


def request_observer(metrics: MetricsSink, host: str = "") -> Callable[[Request, int], None]:
    """Return the `observe` callback of a client that counts its requests."""

    def observe(request: Request, code: int) -> None:
        labels = {"code": str(code), "method": request.method, "host": host}
        metrics.count(REQUESTS, labels)

    return observe
