"""Server metrics, under the names that Kubernetes dashboards query.

Every server has its own registry; there are no global counters. Requests are counted in plain
numbers, which cost a fraction of Prometheus' counters, and carried over to the registry when it is
scraped. With several workers, each one reports for all if the environment variable
PROMETHEUS_MULTIPROC_DIR is set; then they are carried over every second as well.
"""

import asyncio
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from apimachinery.schema import GroupResource
from apiserver.http.exchange import Exchange
from apiserver.http.request_info import RequestInfo
from apiserver.http.request_limits import RequestCount
from apiserver.http.request_tally import RequestTally

LONG_PAUSE: Final = 0.05
"""Seconds from which a pause of the event loop is counted by its cause, and logged."""
REPORT_SECONDS: Final = 1.0
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_MULTIPROCESS: Final = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS: Final = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8),
    *(10, 15, 20, 30, 45, 60),
)
_PAUSE_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LAG_BUCKETS: Final = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
_VERBS: Final = {
    "create": "POST",
    "update": "PUT",
    "get": "GET",
    "list": "LIST",
    "watch": "WATCH",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
}
_RESOURCE: Final = ("verb", "group", "version", "resource", "subresource", "scope")

Labels = tuple[str, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The undecodable objects of one resource now, and the errors since the last scrape."""

    resource: GroupResource
    objects: int
    errors: int


class ServerMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        # Registered first, so that a scrape carries the numbers over before it collects them.
        registry.register(self)
        self._requests = Counter(
            "apiserver_request_total",
            "Number of requests, by verb, resource and response code.",
            (*_RESOURCE, "code"),
            registry=registry,
        )
        self._durations = Histogram(
            "apiserver_request_duration_seconds",
            "Latency of requests in seconds, from arrival to the end of the response.",
            _RESOURCE,
            buckets=_BUCKETS,
            registry=registry,
        )
        self._long_running = Gauge(
            "apiserver_longrunning_requests",
            "Number of open watches.",
            (*_RESOURCE, "source"),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._in_flight = Gauge(
            "apiserver_current_inflight_requests",
            "Number of requests in flight, without watches.",
            ("request_kind",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._dropped = Counter(
            "apiserver_dropped_requests_total",
            "Number of requests rejected because too many were in flight.",
            ("request_kind",),
            registry=registry,
        )
        self._events = Counter(
            "apiserver_watch_events_total",
            "Number of events sent to watches.",
            ("group", "version", "resource", "source"),
            registry=registry,
        )
        self._slow = Counter(
            "apiserver_terminated_watchers_total",
            "Number of watches ended because their client was too slow.",
            ("group", "version", "resource"),
            registry=registry,
        )
        self._decode_errors = Counter(
            "apiserver_storage_decode_errors_total",
            "Number of stored objects found to be undecodable, counted by every worker.",
            ("group", "resource"),
            registry=registry,
        )
        self._pauses = Histogram(
            "apiserver_event_loop_pause_seconds",
            "Duration of the pauses of the event loop, from 25 ms, in which no request was served.",
            buckets=_PAUSE_BUCKETS,
            registry=registry,
        )
        self._longest_pause = Gauge(
            "apiserver_event_loop_longest_pause_seconds",
            "Duration of the longest pause of the event loop since the start.",
            registry=registry,
            multiprocess_mode="livemax",
        )
        self._long_pauses = Counter(
            "apiserver_event_loop_long_pauses_total",
            "Number of pauses of the event loop from 50 ms, by what ran.",
            ("source",),
            registry=registry,
        )
        self._cache_lag = Histogram(
            "apiserver_watch_cache_lag_revisions",
            "Revisions that the watch cache was behind the store when a consistent read arrived.",
            buckets=_LAG_BUCKETS,
            registry=registry,
        )
        self._longest = 0.0
        self._tallies: dict[Labels, RequestTally] = {}
        self._carrying = Lock()
        self.in_flight = {"readOnly": RequestCount(), "mutating": RequestCount()}

    def observe(self, exchange: Exchange, seconds: float) -> None:
        """Count a completed request, and record its duration unless it is a watch."""
        labels = request_labels(exchange)
        tally = self._tallies.get(labels)
        if tally is None:
            tally = self._tallies[labels] = RequestTally(_BUCKETS)
        tally.count(exchange.code, None if exchange.info.verb == "watch" else seconds)

    def watching(self, exchange: Exchange) -> Gauge:
        """Return the gauge of open watches with the labels of this one."""
        return self._long_running.labels(*request_labels(exchange), exchange.watcher)

    def events(self, exchange: Exchange) -> Counter:
        """Return the counter of events sent to watches with the labels of this one."""
        info = exchange.info
        return self._events.labels(info.group, info.version, info.resource, exchange.watcher)

    def slow_watcher(self, info: RequestInfo) -> None:
        self._slow.labels(info.group, info.version, info.resource).inc()

    def loop_paused(self, seconds: float, source: str) -> None:
        """Record a pause of the event loop, caused by *source*."""
        self._pauses.observe(seconds)
        if seconds >= LONG_PAUSE:
            self._long_pauses.labels(source).inc()
        if seconds > self._longest:
            self._longest = seconds
            self._longest_pause.set(seconds)

    def cache_lagged(self, revisions: int) -> None:
        """Record how far the watch cache was behind the store."""
        self._cache_lag.observe(revisions)

    def dropped(self, kind: str) -> None:
        self._dropped.labels(kind).inc()

    @property
    def is_shared(self) -> bool:
        """Whether another worker may report for this one."""
        return _MULTIPROCESS in os.environ

    async def run(self) -> None:
        """Carry the numbers over every second and, when cancelled, a last time."""
        try:
            while True:
                await asyncio.sleep(REPORT_SECONDS)
                self.carry_over()
        finally:
            self.carry_over()

    def retire(self) -> None:
        """Withdraw the gauges of this process, which stops, from those that all workers add up."""
        if self.is_shared:
            mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]

    def carry_over(self) -> None:
        """Bring the registry up to date; a scrape does so in another thread."""
        with self._carrying:
            for kind, requests in self.in_flight.items():
                self._in_flight.labels(kind).set(requests.value)
            for labels, tally in list(self._tallies.items()):
                for code, number in tally.take_codes():
                    self._requests.labels(*labels, str(code)).inc(number)
                if tally.timed:
                    tally.carry_durations(self._durations.labels(*labels))

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        """Carry everything over; the metrics themselves collect it."""
        self.carry_over()
        return ()

    def render(self, undecodable: Collection[Undecodable] = ()) -> bytes:
        """Render all metrics in the Prometheus text format."""
        for found in undecodable:
            if found.errors:
                resource = found.resource
                self._decode_errors.labels(resource.group, resource.resource).inc(found.errors)
        self.carry_over()
        registry = self.registry
        if self.is_shared:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry) + generate_latest(UndecodableObjects(undecodable))


@dataclass(frozen=True, slots=True)
class UndecodableObjects:
    """The gauge of undecodable objects, collected anew at each scrape.

    Every worker has all objects in its cache, so the scraped worker reports for the others, too;
    adding up the values of the workers would count each object several times.
    """

    undecodable: Collection[Undecodable]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        gauge = GaugeMetricFamily(
            "apiserver_storage_undecodable_objects",
            "Number of stored objects that cannot be decoded completely.",
            labels=("group", "resource"),
        )
        for found in self.undecodable:
            gauge.add_metric((found.resource.group, found.resource.resource), found.objects)
        yield gauge


def request_labels(exchange: Exchange) -> Labels:
    """Return the labels of a request; all paths without an endpoint share the same labels."""
    info = exchange.info
    if not info.is_resource or exchange.route is None:
        return (info.verb.upper() if info.verb in _PLAIN_METHODS else "other", "", "", "", "", "")
    scope = "resource" if info.name else "namespace" if info.namespace else "cluster"
    verb = _VERBS.get(info.verb, "other")
    return (verb, info.group, info.version, info.resource, info.subresource, scope)


_PLAIN_METHODS: Final = frozenset({"get", "head", "post", "put", "patch", "delete", "options"})
