"""Metrics of webhooks, under the names that controller-runtime uses and dashboards expect.

The label `webhook` is the path; requests to unknown paths share the empty one.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from client.monitoring.controller_metrics import MetricsSink

REQUESTS: Final = "controller_runtime_webhook_requests_total"
LATENCY: Final = "controller_runtime_webhook_latency_seconds"
IN_FLIGHT: Final = "controller_runtime_webhook_requests_in_flight"
CERTIFICATE_READS: Final = "certwatcher_read_certificate_total"
CERTIFICATE_ERRORS: Final = "certwatcher_read_certificate_errors_total"
CERTIFICATE_EXPIRY: Final = "webhook_certificate_expiration_timestamp_seconds"


class WebhookMetrics:
    """Reports the calls of webhooks to a sink."""

    def __init__(self, sink: MetricsSink) -> None:
        self._sink = sink
        self._in_flight: Counter[str] = Counter()

    def start(self, path: str) -> None:
        """Create the metrics of a webhook with their initial values."""
        for code in ("200", "500"):
            self._sink.declare(REQUESTS, {"webhook": path, "code": code})
        self._sink.set(IN_FLIGHT, 0, {"webhook": path})

    @contextmanager
    def in_flight(self, path: str) -> Iterator[None]:
        """Count a call as long as the block runs."""
        self._change(path, 1)
        try:
            yield
        finally:
            self._change(path, -1)

    def count(self, path: str, code: int, seconds: float) -> None:
        self._sink.count(REQUESTS, {"webhook": path, "code": str(code)})
        self._sink.observe(LATENCY, seconds, {"webhook": path})

    def _change(self, path: str, step: int) -> None:
        self._in_flight[path] += step
        self._sink.set(IN_FLIGHT, self._in_flight[path], {"webhook": path})
