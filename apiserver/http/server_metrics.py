"""Metrics: what the server counts, under the names that dashboards for Kubernetes ask for.

Every server has a registry of its own; nothing is counted globally. Labels are looked up once per
combination and then kept, since a look-up costs more than counting. With several workers the
environment variable PROMETHEUS_MULTIPROC_DIR lets each answer for all of them.
"""

import os
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from apiserver.http.exchange import Exchange
from apiserver.http.request_info import RequestInfo

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_MULTIPROCESS: Final = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS: Final = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8),
    *(10, 15, 20, 30, 45, 60),
)
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


class ServerMetrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "apiserver_request_total",
            "Requests answered, by what they asked for and how they ended.",
            (*_RESOURCE, "code"),
            registry=registry,
        )
        self._durations = Histogram(
            "apiserver_request_duration_seconds",
            "Seconds from the arrival of a request to its answer.",
            _RESOURCE,
            buckets=_BUCKETS,
            registry=registry,
        )
        self._long_running = Gauge(
            "apiserver_longrunning_requests",
            "Watches that are open.",
            (*_RESOURCE, "source"),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._in_flight = Gauge(
            "apiserver_current_inflight_requests",
            "Requests that are being served, watches apart.",
            ("request_kind",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._dropped = Counter(
            "apiserver_dropped_requests_total",
            "Requests refused because too many were being served.",
            ("request_kind",),
            registry=registry,
        )
        self._events = Counter(
            "apiserver_watch_events_total",
            "Events sent to watchers.",
            ("group", "version", "resource", "source"),
            registry=registry,
        )
        self._slow = Counter(
            "apiserver_terminated_watchers_total",
            "Watches ended because their client was too slow.",
            ("group", "version", "resource"),
            registry=registry,
        )
        self._known: dict[tuple[Labels, int], tuple[Counter, Histogram]] = {}
        self.in_flight = {kind: self._in_flight.labels(kind) for kind in ("readOnly", "mutating")}

    def observe(self, exchange: Exchange, seconds: float) -> None:
        """Count one request that has been answered; a watch has no duration to speak of."""
        labels = labels_of(exchange)
        found = self._known.get((labels, exchange.code))
        if found is None:
            found = self._known[labels, exchange.code] = (
                self._requests.labels(*labels, str(exchange.code)),
                self._durations.labels(*labels),
            )
        found[0].inc()
        if exchange.info.verb != "watch":
            found[1].observe(seconds)

    def watching(self, exchange: Exchange) -> Gauge:
        """The gauge of open watches like this one."""
        return self._long_running.labels(*labels_of(exchange), exchange.watcher)

    def events(self, exchange: Exchange) -> Counter:
        """The counter of events sent to watches like this one."""
        info = exchange.info
        return self._events.labels(info.group, info.version, info.resource, exchange.watcher)

    def slow_watcher(self, info: RequestInfo) -> None:
        self._slow.labels(info.group, info.version, info.resource).inc()

    def dropped(self, kind: str) -> None:
        self._dropped.labels(kind).inc()

    def render(self) -> bytes:
        """Everything counted, as Prometheus reads it."""
        if _MULTIPROCESS in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            return generate_latest(registry)
        return generate_latest(self.registry)


def labels_of(exchange: Exchange) -> Labels:
    """What a request is counted under; paths that lead nowhere are all counted as one."""
    info = exchange.info
    if not info.is_resource or exchange.route is None:
        return (info.verb.upper() if info.verb in _PLAIN_METHODS else "other", "", "", "", "", "")
    scope = "resource" if info.name else "namespace" if info.namespace else "cluster"
    verb = _VERBS.get(info.verb, "other")
    return (verb, info.group, info.version, info.resource, info.subresource, scope)


_PLAIN_METHODS: Final = frozenset({"get", "head", "post", "put", "patch", "delete", "options"})
