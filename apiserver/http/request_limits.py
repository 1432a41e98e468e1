"""Request limits: the resources that one server process, request and client may use.

All limits of the HTTP side are defined here; the module that enforces a limit documents what
happens when it is reached.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server process."""

    reads: int = 400
    """The number of read requests served at the same time; further ones get status 429."""
    writes: int = 200
    """The number of write requests served at the same time; further ones get status 429."""
    request_seconds: float = 60.0
    """The maximum duration of a request, except watches; the request may set a shorter one."""
    body_bytes: int = 3 * 1024 * 1024
    url_bytes: int = 64 * 1024
    watch_seconds: tuple[float, float] = (1800.0, 3600.0)
    """A watch without a timeout ends after a random duration between these."""


class InFlight:
    """Counts the requests of one kind that are being served."""

    def __init__(self, maximum: int, report: Callable[[float], None]) -> None:
        self._maximum = maximum
        self._count = 0
        self._report = report

    @property
    def is_full(self) -> bool:
        return self._count >= self._maximum

    def enter(self) -> None:
        self._count += 1
        self._report(self._count)

    def leave(self) -> None:
        self._count -= 1
        self._report(self._count)
