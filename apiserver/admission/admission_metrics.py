"""AdmissionMetrics: webhooks and policies of admission, under the names of Kubernetes."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

CALL_FAILED: Final = "calling_webhook_error"
SERVER_FAILED: Final = "apiserver_internal_error"
NO_ERROR: Final = "no_error"

_BUCKETS: Final = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25)
_POLICY_BUCKETS: Final = (0.0000005, 0.001, 0.01, 0.1, 1.0)
_LARGEST_CODE: Final = 600
"""Larger codes are counted as this one, so that their number is bounded."""


class AdmissionMetrics:
    """The admission metrics of one server."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._durations = Histogram(
            "apiserver_admission_webhook_admission_duration_seconds",
            "Latency of admission webhooks in seconds, by name, operation and type.",
            ("name", "type", "operation", "rejected"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._requests = Counter(
            "apiserver_admission_webhook_request_total",
            "Number of calls of admission webhooks, by name, operation, type and code.",
            ("name", "type", "operation", "code", "rejected"),
            registry=registry,
        )
        # Gauges, because the name of a Counter has to end in `_total`.
        self._rejections = Gauge(
            "apiserver_admission_webhook_rejection_count",
            "Number of requests rejected because of an admission webhook, by error and code.",
            ("name", "type", "operation", "error_type", "rejection_code"),
            registry=registry,
            multiprocess_mode="sum",
        )
        self._failed_open = Gauge(
            "apiserver_admission_webhook_fail_open_count",
            "Number of failed calls of admission webhooks that were ignored.",
            ("name", "type"),
            registry=registry,
            multiprocess_mode="sum",
        )

        self._validations = _PolicyChecks(
            registry, "validating", "validations", ("enforcement_action",)
        )
        self._mutations = _PolicyChecks(registry, "mutating", "mutations", ())

    def observe_call(
        self, name: str, kind: str, operation: str, *, seconds: float, code: int, rejected: bool
    ) -> None:
        """Count a call and record its duration."""
        verdict = "true" if rejected else "false"
        self._durations.labels(name, kind, operation, verdict).observe(seconds)
        self._requests.labels(name, kind, operation, _label(code), verdict).inc()

    def count_rejection(
        self, name: str, kind: str, operation: str, *, error: str, code: int
    ) -> None:
        self._rejections.labels(name, kind, operation, error, _label(code)).inc()

    def count_ignored_failure(self, name: str, kind: str) -> None:
        self._failed_open.labels(name, kind).inc()

    def observe_validation(
        self, policy: str, binding: str, *, error: str, action: str, seconds: float
    ) -> None:
        """Count a validation of a policy and what it led to: allow, deny, warn or audit."""
        self._validations.observe((policy, binding, error, action), seconds)

    def observe_mutation(self, policy: str, binding: str, *, error: str, seconds: float) -> None:
        """Count a mutation of a policy."""
        self._mutations.observe((policy, binding, error), seconds)


class _PolicyChecks:
    """The metrics of one kind of policies."""

    def __init__(
        self, registry: CollectorRegistry, kind: str, plural: str, more: tuple[str, ...]
    ) -> None:
        labels = ("policy", "policy_binding", "error_type", *more)
        self._total = Counter(
            f"apiserver_{kind}_admission_policy_check_total",
            f"Number of {plural} of admission policies, by policy, binding and error.",
            labels,
            registry=registry,
        )
        self._seconds = Histogram(
            f"apiserver_{kind}_admission_policy_check_duration_seconds",
            f"Duration of single {plural} of admission policies in seconds.",
            labels,
            buckets=_POLICY_BUCKETS,
            registry=registry,
        )

    def observe(self, labels: tuple[str, ...], seconds: float) -> None:
        self._total.labels(*labels).inc()
        self._seconds.labels(*labels).observe(seconds)


def _label(code: int) -> str:
    return str(min(code, _LARGEST_CODE))
