"""Priority levels: divide the seats of a worker among levels, and lend seats of idle ones.

Each level has a nominal number of seats, by its shares. Every ten seconds the seats are divided
anew by demand: a level gets at least what it does not lend, and at most what it may borrow beside
its own. A level that has been deleted keeps its seats until its last request has ended.
"""

from collections.abc import Iterable
from math import ceil
from typing import Final

from apiserver.fairness.flow_configuration import (
    CATCH_ALL,
    CATCH_ALL_LEVEL,
    EXEMPT,
    EXEMPT_LEVEL,
    LevelConfiguration,
)
from apiserver.fairness.queue_set import Clock, QueueSet
from apiserver.fairness.retry_after import RetryDelay
from apiserver.fairness.seat_allocation import ImpossibleAllocation, SeatClaim, allocate
from apiserver.fairness.seat_demand import SmoothedDemand
from apiserver.fairness.work_estimation import most_seats

ADJUSTMENT_SECONDS: Final = 10.0
KEPT_SEATS: Final = 16
"""Seats that a level keeps under pressure, so that writes can still wait for the store together."""


class PriorityLevel:
    """One level of a worker: its configuration, its seats and its queues."""

    def __init__(self, configuration: LevelConfiguration, clock: Clock) -> None:
        self.configuration = configuration
        self.queue_set = QueueSet(clock, None if configuration.exempt else 0)
        self.demand = SmoothedDemand()
        self.retry = RetryDelay()
        self.quiescing = False
        self.nominal = self.lowest = self.highest = self.current = 0
        """Numbers of seats."""
        self.target = 0.0
        self.widest = 1
        """The width up to which a single request is estimated."""
        self.most_seats = 1
        """How many seats a single request may take; less than `widest` under pressure."""

    @property
    def name(self) -> str:
        return self.configuration.name

    def set_seats(self, seats: int, pressure: float) -> None:
        """Set the current number of seats, of which only the fraction *pressure* is given out."""
        self.current = seats
        self.apply_pressure(pressure)

    def apply_pressure(self, pressure: float) -> None:
        configuration = self.configuration
        if configuration.exempt:
            return
        limit = max(min(self.current, KEPT_SEATS), round(self.current * pressure))
        queuing = configuration.queuing
        hand_size = queuing.hand_size if queuing else 1
        self.widest = most_seats(max(self.nominal, self.current), hand_size)
        self.most_seats = most_seats(limit, hand_size)
        queue_set = self.queue_set
        if queue_set.limit != limit or queue_set.queuing != queuing:
            queue_set.configure(queuing, limit)


class PriorityLevels:
    """All levels of a worker, which has *seats* for those that are not exempt."""

    def __init__(self, seats: int, clock: Clock) -> None:
        self._seats = seats
        self._clock = clock
        self._pressure = 1.0
        self.by_name: dict[str, PriorityLevel] = {}
        self.fair_fraction = 0.0
        self.configure(())

    def configure(self, configurations: Iterable[LevelConfiguration]) -> None:
        """Change, add and remove levels; the two mandatory levels always exist."""
        wanted = {EXEMPT: EXEMPT_LEVEL, CATCH_ALL: CATCH_ALL_LEVEL}
        wanted |= {c.name: c for c in configurations if c.exempt == (c.name == EXEMPT)}
        levels: dict[str, PriorityLevel] = {}
        for name, configuration in wanted.items():
            level = self.by_name.get(name) or PriorityLevel(configuration, self._clock)
            level.configuration, level.quiescing = configuration, False
            levels[name] = level
        for name, level in self.by_name.items():
            if name not in levels and not level.queue_set.is_idle:
                level.quiescing = True
                levels[name] = level
        self.by_name = levels
        self._set_limits()
        self.adjust()

    def adjust(self) -> None:
        """Divide the seats anew, by the demand since the last adjustment."""
        now = self._clock()
        for name, level in list(self.by_name.items()):
            level.demand.update(level.queue_set.demand.reset(now))
            if level.quiescing and level.queue_set.is_idle:
                del self.by_name[name]
        remaining = sum(level.nominal for level in self.by_name.values())
        limited = []
        for level in self.by_name.values():
            if level.configuration.exempt:
                level.current = max(level.lowest, level.demand.highest)
                remaining -= level.current
            else:
                limited.append(level)
        self._divide(remaining, limited)

    def set_pressure(self, pressure: float) -> None:
        """Give out only a fraction of the seats, from now on."""
        self._pressure = pressure
        for level in self.by_name.values():
            level.apply_pressure(pressure)

    def _set_limits(self) -> None:
        levels = self.by_name.values()
        shares = sum(level.configuration.shares for level in levels)
        for level in levels:
            configuration, is_new = level.configuration, level.highest == 0
            nominal = ceil(self._seats * configuration.shares / shares) if shares else 0
            lendable = round(nominal * configuration.lendable_percent / 100)
            borrowing = configuration.borrowing_percent
            level.nominal, level.lowest = nominal, nominal - lendable
            level.highest = nominal + (
                self._seats if borrowing is None else round(nominal * borrowing / 100)
            )
            if is_new:
                level.current = nominal - lendable // 2

    def _divide(self, seats: int, levels: list[PriorityLevel]) -> None:
        """Divide *seats* among limited levels, each within its bounds."""
        floors = [max(level.lowest, min(level.nominal, level.demand.highest)) for level in levels]
        lowest, floor = sum(level.lowest for level in levels), sum(floors)
        self.fair_fraction = 0.0
        allocated = [float(level.current) for level in levels]
        if seats <= lowest:
            allocated = [float(level.lowest) for level in levels]
        elif seats <= floor:
            fraction = (seats - lowest) / (floor - lowest)
            allocated = [
                level.lowest + (own - level.lowest) * fraction
                for level, own in zip(levels, floors, strict=True)
            ]
        else:
            try:
                claims = self._claims(levels, floors)
                allocated, self.fair_fraction = allocate(seats, claims)
            except ImpossibleAllocation:
                pass  # the current seats stay
        for level, number in zip(levels, allocated, strict=True):
            level.set_seats(round(number), self._pressure)

    def _claims(self, levels: list[PriorityLevel], floors: list[int]) -> list[SeatClaim]:
        claims = []
        for level, own in zip(levels, floors, strict=True):
            level.target = max(float(own), level.demand.smoothed)
            claims.append(SeatClaim(level.target, float(own), float(level.highest)))
        return claims
