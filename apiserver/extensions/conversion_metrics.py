"""Conversion metrics: the calls of conversion webhooks, under Kubernetes' names."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

_CALLS: Final = ("result", "failure_type")
_DEFINITION_BUCKETS: Final = tuple(0.001 * 2**power for power in range(15))
_CALL_BUCKETS: Final = (
    *(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1, 2, 5, 10, 20, 30, 45, 60),
)


class ConversionMetrics:
    """Counts the calls of one server process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._by_definition = Histogram(
            "apiserver_crd_conversion_webhook_duration_seconds",
            "CRD webhook conversion duration in seconds",
            ("crd_name", "from_version", "to_version", "succeeded"),
            buckets=_DEFINITION_BUCKETS,
            registry=registry,
        )
        self._calls = Counter(
            "apiserver_conversion_webhook_request_total",
            "Counter for conversion webhook requests with success/failure and failure error type",
            _CALLS,
            registry=registry,
        )
        self._durations = Histogram(
            "apiserver_conversion_webhook_duration_seconds",
            "Conversion webhook request latency",
            _CALLS,
            buckets=_CALL_BUCKETS,
            registry=registry,
        )

    def observe(
        self, definition: str, source: str, target: str, seconds: float, *, failure: str = ""
    ) -> None:
        """Count a call that took *seconds*; *failure* is the type of its failure, if it failed."""
        succeeded = "false" if failure else "true"
        self._by_definition.labels(definition, source, target, succeeded).observe(seconds)
        result = "failure" if failure else "success"
        self._calls.labels(result, failure).inc()
        self._durations.labels(result, failure).observe(seconds)
