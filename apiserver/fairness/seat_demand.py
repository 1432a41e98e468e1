"""Seat demand: how many seats a level could use, over time.

The demand is integrated over each adjustment period. Its envelope, average plus deviation, is
smoothed so that it rises at once and decays with a half-life of five minutes.
"""

from math import sqrt
from typing import Final, NamedTuple

SMOOTHING: Final = 0.977
"""The weight of the past in a period of ten seconds."""


class Demand(NamedTuple):
    """The demand during one period."""

    seconds: float
    average: float
    deviation: float
    highest: int


class DemandIntegrator:
    """Integrates a number of seats over time."""

    __slots__ = ("_highest", "_last", "_seats", "_squares", "_start", "_sum")

    def __init__(self, now: float) -> None:
        self._start = self._last = now
        self._seats = self._highest = 0
        self._sum = self._squares = 0.0

    def set(self, seats: int, now: float) -> None:
        """Note that the demand is *seats* from now on."""
        seconds = now - self._last
        current = self._seats
        weighted = current * seconds
        self._sum += weighted
        self._squares += current * weighted
        self._last = now
        self._seats = seats
        if seats > self._highest:
            self._highest = seats

    def reset(self, now: float) -> Demand:
        """Return the demand of the period that ends now, and begin the next one."""
        self.set(self._seats, now)
        seconds = now - self._start
        average = deviation = 0.0
        if seconds > 0:
            average = self._sum / seconds
            deviation = sqrt(max(0.0, self._squares / seconds - average * average))
        demand = Demand(seconds, average, deviation, self._highest)
        self._start, self._highest = now, self._seats
        self._sum = self._squares = 0.0
        return demand


class SmoothedDemand:
    """The demand of a level in the last period, and its smoothed envelope."""

    __slots__ = ("average", "deviation", "highest", "smoothed")

    def __init__(self) -> None:
        self.average = self.deviation = self.smoothed = 0.0
        self.highest = 0

    def update(self, demand: Demand) -> None:
        self.highest = demand.highest
        if demand.seconds <= 0:
            return
        self.average, self.deviation = demand.average, demand.deviation
        envelope = demand.average + demand.deviation
        decayed = SMOOTHING * self.smoothed + (1 - SMOOTHING) * envelope
        self.smoothed = max(envelope, decayed)
