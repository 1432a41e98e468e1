"""Loop pressure: give out fewer seats while the event loop is late.

One event loop executes all requests of a worker. Seats are places for requests that wait for
something, such as the store; when the loop itself is the bottleneck, more requests at once only
make each of them slower, and the flow with the most requests gets the most of the loop. So the
fraction of seats that is given out shrinks while callbacks run late, and requests wait in their
queues instead, where each flow has its turn. It grows again as soon as the loop keeps up.
"""

from typing import Final

PERIOD: Final = 0.02
"""Seconds between two measurements."""
LATE: Final = 0.025
"""The average delay of callbacks, in seconds, that the fraction is regulated to."""
SHRINK, GROW = 0.85, 1.08
LEAST: Final = 1 / 64

_WEIGHT: Final = 0.25


class LoopPressure:
    """The fraction of seats to give out, from delays of the event loop."""

    def __init__(self) -> None:
        self.fraction = 1.0
        self.delay = 0.0
        """The moving average of the delays, in seconds."""

    def measure(self, delay: float) -> bool:
        """Note the delay of a callback; return whether the fraction has changed."""
        self.delay += _WEIGHT * (delay - self.delay)
        before = self.fraction
        if self.delay > LATE:
            self.fraction = max(LEAST, before * SHRINK)
        elif self.delay < LATE / 2 and before < 1:
            self.fraction = min(1.0, before * GROW)
        return self.fraction != before
