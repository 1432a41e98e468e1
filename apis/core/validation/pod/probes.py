"""Validation of probes and lifecycle hooks, which share their handlers."""

from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import validate_nonnegative
from apimachinery.names import is_http_header_name, is_port_name, is_port_number
from apimachinery.scalars.intstr import IntOrString
from apis.core.v1.container import Container
from apis.core.v1.pod import PodOS
from apis.core.v1.probe import (
    STOP_SIGNALS,
    HTTPGetAction,
    Lifecycle,
    LifecycleHandler,
    Probe,
)

_SCHEMES: Final = ("HTTP", "HTTPS")
_HTTP_PROTOCOLS: Final = ("HTTP1", "HTTP2")
_GRPC_MODES: Final = ("Plaintext", "TLS")
_ONE_HANDLER: Final = "may not specify more than 1 handler type"
_WINDOWS_SIGNALS: Final = ("SIGKILL", "SIGTERM")


def validate_probes(container: Container, path: Path, grace_period: int | None) -> FieldErrors:
    """Validate the three probes of a container that runs as long as its pod."""
    if container.liveness_probe is not None:
        here = path.child("livenessProbe")
        yield from _validate_probe(container.liveness_probe, here, grace_period)
        yield from _validate_one_success(container.liveness_probe, here)
    if container.readiness_probe is not None:
        here = path.child("readinessProbe")
        yield from _validate_probe(container.readiness_probe, here, grace_period)
        seconds = container.readiness_probe.termination_grace_period_seconds
        if seconds is not None:
            rule = "must not be set for readinessProbes"
            yield invalid(here.child("terminationGracePeriodSeconds"), seconds, rule)
    if container.startup_probe is not None:
        here = path.child("startupProbe")
        yield from _validate_probe(container.startup_probe, here, grace_period)
        yield from _validate_one_success(container.startup_probe, here)


def validate_lifecycle(
    lifecycle: Lifecycle, path: Path, grace_period: int | None, os: PodOS | None
) -> FieldErrors:
    if lifecycle.post_start is not None:
        yield from _validate_handler(lifecycle.post_start, path.child("postStart"), grace_period)
    if lifecycle.pre_stop is not None:
        yield from _validate_handler(lifecycle.pre_stop, path.child("preStop"), grace_period)
    if lifecycle.stop_signal is not None:
        yield from _validate_stop_signal(lifecycle.stop_signal, path.child("stopSignal"), os)


def _validate_probe(probe: Probe, path: Path, grace_period: int | None) -> FieldErrors:
    yield from _validate_handler(probe, path, grace_period)
    for wire, value in (
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ):
        yield from validate_nonnegative(value, path.child(wire))
    seconds = probe.termination_grace_period_seconds
    if seconds is not None and seconds <= 0:
        path = path.child("terminationGracePeriodSeconds")
        yield invalid(path, seconds, "must be greater than 0")


def _validate_one_success(probe: Probe, path: Path) -> FieldErrors:
    if probe.success_threshold != 1:
        yield invalid(path.child("successThreshold"), probe.success_threshold, "must be 1")


def _validate_handler(
    handler: Probe | LifecycleHandler, path: Path, grace_period: int | None
) -> FieldErrors:
    first = True
    for wire, errors in _handlers(handler, path, grace_period):
        if first:
            yield from errors
        else:
            yield forbidden(path.child(wire), _ONE_HANDLER)
        first = False
    if first:
        yield required(path, "must specify a handler type")


def _handlers(
    handler: Probe | LifecycleHandler, path: Path, grace_period: int | None
) -> Iterator[tuple[str, FieldErrors]]:
    """Yield the field of each handler that is set, and its errors, which are not computed yet."""
    if handler.exec is not None:
        yield "exec", _validate_command(handler.exec.command, path.child("exec", "command"))
    if handler.http_get is not None:
        yield "httpGet", _validate_http_get(handler.http_get, path.child("httpGet"))
    if handler.tcp_socket is not None:
        yield "tcpSocket", _validate_port(handler.tcp_socket.port, path.child("tcpSocket", "port"))
    if isinstance(handler, Probe):
        if handler.grpc is not None:
            yield "grpc", _validate_grpc(handler.grpc.port, handler.grpc.mode, path.child("grpc"))
    elif handler.sleep is not None:
        yield "sleep", _validate_sleep(handler.sleep.seconds, path.child("sleep"), grace_period)


def _validate_command(command: list[str], path: Path) -> FieldErrors:
    if not command:
        yield required(path)


def _validate_http_get(action: HTTPGetAction, path: Path) -> FieldErrors:
    if not action.path:
        yield required(path.child("path"))
    yield from _validate_port(action.port, path.child("port"))
    if action.scheme not in _SCHEMES:
        yield not_supported(path.child("scheme"), action.scheme, _SCHEMES)
    for header in action.http_headers:
        for error in is_http_header_name(header.name):
            yield invalid(path.child("httpHeaders"), header.name, error)
    yield from _validate_http_protocol(action, path)


def _validate_http_protocol(action: HTTPGetAction, path: Path) -> FieldErrors:
    protocol = action.protocol
    if protocol is None:
        return
    if protocol not in _HTTP_PROTOCOLS:
        yield not_supported(path.child("protocol"), protocol, _HTTP_PROTOCOLS)
    elif protocol == "HTTP2" and action.scheme != "HTTP":
        yield invalid(path.child("protocol"), protocol, "is only supported with HTTP (H2C)")
    elif protocol == "HTTP2" and action.host:
        rule = 'must be empty when `protocol` is "HTTP2"'
        yield invalid(path.child("host"), action.host, rule)


def _validate_grpc(port: int, mode: str | None, path: Path) -> FieldErrors:
    yield from _validate_port(port, path.child("port"))
    if mode is not None and mode not in _GRPC_MODES:
        yield not_supported(path.child("mode"), mode, _GRPC_MODES)


def _validate_port(port: IntOrString, path: Path) -> FieldErrors:
    errors = is_port_number(port) if isinstance(port, int) else is_port_name(port)
    for error in errors:
        yield invalid(path, port, error)


def _validate_sleep(seconds: int, path: Path, grace_period: int | None) -> FieldErrors:
    if grace_period is not None and not 0 <= seconds <= grace_period:
        rule = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
        yield invalid(path, seconds, rule)


def _validate_stop_signal(signal: str, path: Path, os: PodOS | None) -> FieldErrors:
    if os is None:
        yield forbidden(path, "may not be set for containers with empty `spec.os.name`")
        return
    signals = {"windows": _WINDOWS_SIGNALS, "linux": STOP_SIGNALS}.get(os.name)
    if signals is not None and signal not in signals:
        yield not_supported(path, signal, signals)
