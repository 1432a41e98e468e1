"""Resync schedules: when a handler is notified of all cached objects again.

An informer checks the schedules once per check period, the shortest period that a handler requested
before the informer started; a handler can only become due at a check. A resync repeats the cache
and sends no request: it corrects mistakes of handlers, not of the cache.
"""

import logging
from typing import Final, Generic, TypeVar

from apimachinery.meta.types import Object
from client.informer.registration import Registration

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.client.informer")

MIN_PERIOD: Final = 1.0


class _Schedule:
    """The resync period of one handler, as requested and as granted."""

    __slots__ = ("due_at", "period", "requested")

    def __init__(self, requested: float) -> None:
        self.requested = requested
        self.period = requested
        self.due_at = 0.0


class Resyncs(Generic[T]):
    """The resync schedules of the handlers of one informer."""

    def __init__(self, default: float = 0) -> None:
        self._default = _enforce_minimum(default)
        self._schedules: dict[Registration[T], _Schedule] = {}
        self._due: set[Registration[T]] = set()
        self.check_period = self._default
        """Seconds between two checks; 0 is never."""
        self._started = False

    def add(self, registration: Registration[T], requested: float | None, now: float) -> None:
        """Schedule a resync every *requested* seconds; 0 is never, None the default."""
        period = self._default if requested is None else _enforce_minimum(requested)
        schedule = _Schedule(period)
        self._schedules[registration] = schedule
        if not self._started and period:
            self.check_period = min(period, self.check_period or period)
        self._limit_period(registration.name, schedule)
        schedule.due_at = now + schedule.period

    def remove(self, registration: Registration[T]) -> None:
        self._schedules.pop(registration, None)
        self._due.discard(registration)

    def start(self) -> None:
        """Fix the check period, because the informer has started."""
        self._started = True

    def check(self, now: float) -> bool:
        """Determine the handlers that are due until the next check; return whether any is."""
        self._due = {
            registration
            for registration, schedule in self._schedules.items()
            if schedule.period and now >= schedule.due_at
        }
        for registration in self._due:
            schedule = self._schedules[registration]
            schedule.due_at = now + schedule.period
        return bool(self._due)

    def is_due(self, registration: Registration[T]) -> bool:
        return registration in self._due

    def _limit_period(self, name: str, schedule: _Schedule) -> None:
        """Raise the period to the check period, which is fixed once the informer has started."""
        requested = schedule.requested
        if not requested or not self._started or requested >= self.check_period > 0:
            return
        schedule.period = self.check_period
        log.warning(
            "%s: resync period %gs was requested after the informer started; its check period"
            " remains %gs",
            name,
            requested,
            self.check_period,
        )


def _enforce_minimum(period: float) -> float:
    if 0 < period < MIN_PERIOD:
        log.warning("resync period %gs is too short, using %gs", period, MIN_PERIOD)
        return MIN_PERIOD
    return max(period, 0)
