"""Prometheus metrics: the only module that imports `prometheus_client`, loaded when needed."""

from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from client.monitoring import controller_metrics as names
from client.monitoring import webhook_metrics
from client.monitoring.controller_metrics import Labels
from client.workqueue import queue_metrics

MetricT = TypeVar("MetricT", Counter, Gauge, Histogram)

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_RECONCILE_BUCKETS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8),
    *(0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25),
    *(30, 40, 50, 60),
)
_QUEUE_BUCKETS: Final = tuple(10.0**exponent for exponent in range(-8, 4))

_HELP: Final = {
    names.RECONCILE_TOTAL: "Total number of reconciliations per controller",
    names.RECONCILE_ERRORS: "Total number of reconciliation errors per controller",
    names.TERMINAL_ERRORS: "Total number of terminal reconciliation errors per controller",
    names.RECONCILE_TIMEOUTS: "Total number of reconciliation timeouts per controller",
    names.RECONCILE_TIME: "Length of time per reconciliation per controller",
    names.MAX_CONCURRENT: "Maximum number of concurrent reconciles per controller",
    names.ACTIVE_WORKERS: "Number of currently used workers per controller",
    names.LEADER: "Whether this process leads: 1, or stands by: 0",
    names.REQUESTS: "Number of HTTP requests, by status code, method and host",
    webhook_metrics.REQUESTS: "Total number of admission and conversion requests by HTTP code",
    webhook_metrics.LATENCY: "Seconds from the head of a request to its response",
    webhook_metrics.IN_FLIGHT: "Current number of requests being served",
    webhook_metrics.CERTIFICATE_READS: "Total number of certificate reads",
    webhook_metrics.CERTIFICATE_ERRORS: "Total number of certificate read errors",
    webhook_metrics.CERTIFICATE_EXPIRY: "When the serving certificate expires, as Unix time",
    queue_metrics.DEPTH: "Current depth of workqueue by priority",
    queue_metrics.ADDS: "Total number of adds handled by workqueue",
    queue_metrics.QUEUE_DURATION: "Seconds an item stays in workqueue before being requested",
    queue_metrics.WORK_DURATION: "Seconds processing an item from workqueue takes",
    queue_metrics.UNFINISHED: "Seconds of work in progress that work_duration does not show yet",
    queue_metrics.LONGEST_RUNNING: "Seconds the longest running processor has been running",
    queue_metrics.RETRIES: "Total number of retries handled by workqueue",
}


class PrometheusMetrics:
    """A `MetricsSink` that keeps metrics in a registry, by default one of its own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}

    def count(self, name: str, labels: Labels) -> None:
        _child(self._counter(name, labels), labels).inc()

    def declare(self, name: str, labels: Labels) -> None:
        _child(self._counter(name, labels), labels)

    def set(self, name: str, value: float, labels: Labels) -> None:
        gauge = self._gauges.get(name)
        if gauge is None:
            gauge = Gauge(name, _help(name), tuple(labels), registry=self.registry)
            self._gauges[name] = gauge
        _child(gauge, labels).set(value)

    def observe(self, name: str, value: float, labels: Labels) -> None:
        histogram = self._histograms.get(name)
        if histogram is None:
            buckets = _QUEUE_BUCKETS if name.startswith("workqueue_") else _RECONCILE_BUCKETS
            histogram = self._histograms[name] = Histogram(
                name, _help(name), tuple(labels), buckets=buckets, registry=self.registry
            )
        _child(histogram, labels).observe(value)

    def exposition(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, labels: Labels) -> Counter:
        counter = self._counters.get(name)
        if counter is None:
            counter = Counter(name, _help(name), tuple(labels), registry=self.registry)
            self._counters[name] = counter
        return counter


def _child(metric: MetricT, labels: Labels) -> MetricT:
    """Return the metric with these labels; prometheus_client has no children without labels."""
    return metric.labels(**labels) if labels else metric


def _help(name: str) -> str:
    return _HELP.get(name, name)
