"""Which handler is due to be told everything again, and how often that is looked at.

The informer looks at its check period, the shortest that any handler asked for before it started;
a handler can be due only then. What is told again comes from the cache: a resync finds nothing new
and repairs nothing but a handler's own mistakes.
"""

import logging
from typing import Final, Generic, TypeVar

from apimachinery.meta.types import Object
from client.informer.registration import Registration

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.client.informer")

SHORTEST: Final = 1.0


class _Schedule:
    """When one handler is due."""

    __slots__ = ("due_at", "period", "wanted")

    def __init__(self, wanted: float) -> None:
        self.wanted = wanted
        self.period = wanted
        self.due_at = 0.0


class Resyncs(Generic[T]):
    """The handlers of one informer and when each of them is due."""

    def __init__(self, default: float = 0) -> None:
        self._default = _at_least_shortest(default)
        self._schedules: dict[Registration[T], _Schedule] = {}
        self._due: set[Registration[T]] = set()
        self.check_period = self._default
        """Seconds from one look to the next; 0 is never."""
        self._started = False

    def add(self, registration: Registration[T], wanted: float | None, now: float) -> None:
        """Take in a handler that wants a resync every *wanted* seconds, 0 for never."""
        period = self._default if wanted is None else _at_least_shortest(wanted)
        schedule = _Schedule(period)
        self._schedules[registration] = schedule
        if not self._started and period:
            self.check_period = min(period, self.check_period or period)
        self._fit(registration.name, schedule)
        schedule.due_at = now + schedule.period

    def remove(self, registration: Registration[T]) -> None:
        self._schedules.pop(registration, None)
        self._due.discard(registration)

    def start(self) -> None:
        """From now on the check period stays as it is."""
        self._started = True

    def look(self, now: float) -> bool:
        """Whether any handler is due; those that are get what is told again until the next look."""
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

    def _fit(self, name: str, schedule: _Schedule) -> None:
        if not schedule.wanted or not self._started or schedule.wanted >= self.check_period > 0:
            return
        schedule.period = self.check_period
        log.warning(
            "%s: a resync every %gs was asked for after the informer started; it looks every %gs",
            name,
            schedule.wanted,
            self.check_period,
        )


def _at_least_shortest(period: float) -> float:
    if 0 < period < SHORTEST:
        log.warning("resync period %gs is too short, using %gs", period, SHORTEST)
        return SHORTEST
    return max(period, 0)
