"""Probes and lifecycle hooks: the actions that a kubelet performs on a running container."""

from typing import Final

from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.wire_types import Int32

_PLAIN_SIGNALS: Final = (
    "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT "
    "SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ"
)
STOP_SIGNALS: Final = tuple(
    sorted(
        [
            *(f"SIG{name}" for name in _PLAIN_SIGNALS.split()),
            *("SIGRTMIN", "SIGRTMAX"),
            *(f"SIGRTMIN+{number}" for number in range(1, 16)),
            *(f"SIGRTMAX-{number}" for number in range(1, 15)),
        ]
    )
)


class ExecAction(Model):
    """Runs a command in the container; it succeeds with exit code 0."""

    command: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Command and its arguments; it is not run in a shell.",
    )


class HTTPHeader(Model):
    """A header of an HTTP probe."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the header, which is sent in canonical case."
    )
    value: str = field("", proto=2, omit_empty=False, doc="Value of the header.")


class HTTPGetAction(Model):
    """Sends an HTTP GET request to the container; any answer from 200 to 399 is a success."""

    path: str = field("", proto=1, doc="Path to request; defaults to `/`.")
    port: IntOrString = field(
        0, proto=2, omit_empty=False, doc="Number of the port, or name of a port of the container."
    )
    host: str = field("", proto=3, doc="Host to connect to; defaults to the IP address of the pod.")
    scheme: str = field(
        "",
        proto=4,
        known=("HTTP", "HTTPS"),
        publish_enum=True,
        doc="Scheme of the request; defaults to HTTP.",
    )
    http_headers: list[HTTPHeader] = field(
        default_factory=list,
        proto=5,
        list_type="atomic",
        doc="Headers of the request; a name may occur more than once.",
    )
    protocol: str | None = field(
        None,
        proto=6,
        known=("HTTP1", "HTTP2"),
        publish_enum=True,
        doc="Protocol of the request; HTTP/1 if it is not set.",
    )


class TCPSocketAction(Model):
    """Opens a TCP connection to the container."""

    port: IntOrString = field(
        0, proto=1, omit_empty=False, doc="Number of the port, or name of a port of the container."
    )
    host: str = field("", proto=2, doc="Host to connect to; defaults to the IP address of the pod.")


class GRPCAction(Model):
    """Calls the gRPC health service of the container."""

    port: Int32 = field(0, proto=1, omit_empty=False, doc="Number of the port of the gRPC service.")
    service: str | None = field(
        None,
        proto=2,
        omit_empty=False,
        required=False,
        published_default="",
        doc="Name of the service in the health request; the empty name asks for the whole server.",
    )
    mode: str | None = field(
        None,
        proto=3,
        known=("Plaintext", "TLS"),
        publish_enum=True,
        doc="Whether the connection uses TLS.",
    )


class SleepAction(Model):
    """Waits for a number of seconds."""

    seconds: int = field(0, proto=1, omit_empty=False, doc="Seconds to wait.")


class Probe(Model):
    """A periodic check of a container; exactly one of the actions is set."""

    exec: ExecAction | None = field(None, proto=(1, 1), doc="Runs a command in the container.")
    http_get: HTTPGetAction | None = field(
        None, proto=(1, 2), doc="Sends an HTTP GET request to the container."
    )
    tcp_socket: TCPSocketAction | None = field(
        None, proto=(1, 3), doc="Opens a TCP connection to the container."
    )
    grpc: GRPCAction | None = field(
        None, proto=(1, 4), doc="Calls the gRPC health service of the container."
    )
    initial_delay_seconds: Int32 = field(
        0, proto=2, doc="Seconds between the start of the container and the first check."
    )
    timeout_seconds: Int32 = field(
        0, proto=3, doc="Seconds after which a check has failed; defaults to 1."
    )
    period_seconds: Int32 = field(0, proto=4, doc="Seconds between two checks; defaults to 10.")
    success_threshold: Int32 = field(
        0,
        proto=5,
        doc="Successes in a row after a failure that make the container healthy; defaults to 1.",
    )
    failure_threshold: Int32 = field(
        0, proto=6, doc="Failures in a row that make the container unhealthy; defaults to 3."
    )
    termination_grace_period_seconds: int | None = field(
        None,
        proto=7,
        doc=(
            "Seconds that the container has to stop after a failed check; overrides that of the "
            "pod."
        ),
    )


class LifecycleHandler(Model):
    """An action at the start or the end of a container; exactly one is set."""

    exec: ExecAction | None = field(None, proto=1, doc="Runs a command in the container.")
    http_get: HTTPGetAction | None = field(
        None, proto=2, doc="Sends an HTTP GET request to the container."
    )
    tcp_socket: TCPSocketAction | None = field(
        None, proto=3, doc="No longer performed; kept for old objects."
    )
    sleep: SleepAction | None = field(None, proto=4, doc="Waits for a number of seconds.")


class Lifecycle(Model):
    """Actions at the start and at the end of a container."""

    post_start: LifecycleHandler | None = field(
        None,
        proto=1,
        doc=(
            "Runs right after the container has started; if it fails, the container is "
            "restarted by its policy."
        ),
    )
    pre_stop: LifecycleHandler | None = field(
        None,
        proto=2,
        doc="Runs before the container is stopped; it counts towards the grace period of the pod.",
    )
    stop_signal: str | None = field(
        None,
        proto=3,
        known=STOP_SIGNALS,
        publish_enum=True,
        doc="Signal that stops the container, such as `SIGUSR1`; only if `spec.os.name` is set.",
    )
