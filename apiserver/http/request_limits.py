"""Request limits: the resources that one server process, request and client may use.

All limits of the HTTP side are defined here; the module that enforces a limit documents what
happens when it is reached.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server process."""

    reads: int = 400
    """The number of read requests executed at the same time, without priority and fairness."""
    writes: int = 200
    """The number of write requests executed at the same time, without priority and fairness."""
    request_seconds: float = 60.0
    """The maximum duration of a request, except watches; the request may set a shorter one."""
    body_bytes: int = 3 * 1024 * 1024
    body_seconds: float = 10.0
    """The time in which the client must send `body_progress` bytes of its body, or the rest."""
    body_progress: int = 16 * 1024
    all_bodies: int = 128 * 1024 * 1024
    """Bytes of all request bodies in memory."""
    user_bodies: int = 16 * 1024 * 1024
    """Bytes of the request bodies of one user in memory."""
    url_bytes: int = 64 * 1024
    watch_seconds: tuple[float, float] = (1800.0, 3600.0)
    """A watch without a timeout ends after a random duration between these."""


class RequestCount:
    """Counts the requests of one kind that are being served."""

    def __init__(self) -> None:
        self.value = 0

    def enter(self) -> None:
        self.value += 1

    def leave(self) -> None:
        self.value -= 1
