"""Limits: how much of the server one moment, one request and one client may use.

Every bound of the HTTP side stands here; what happens at each is in the file that enforces it.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one server process."""

    reads: int = 400
    """Requests that only read and are served at the same time; more are told to come back."""
    writes: int = 200
    request_seconds: float = 60.0
    """How long a request may take that is no watch; it may ask for less."""
    body_bytes: int = 3 * 1024 * 1024
    url_bytes: int = 64 * 1024
    watch_seconds: tuple[float, float] = (1800.0, 3600.0)
    """A watch that does not say how long it lasts ends after a random time between these."""


class InFlight:
    """How many requests of one kind are being served."""

    def __init__(self, most: int, report: Callable[[float], None]) -> None:
        self._most = most
        self._count = 0
        self._report = report

    @property
    def is_full(self) -> bool:
        return self._count >= self._most

    def enter(self) -> None:
        self._count += 1
        self._report(self._count)

    def leave(self) -> None:
        self._count -= 1
        self._report(self._count)
