"""Request tally: the numbers and durations of requests with the same labels, in plain numbers.

The event loop only adds. Whoever carries the numbers over, which may be another thread, remembers
how far it has come, so that nothing is lost between reading a number and setting it back.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any


class RequestTally:
    """The requests with one combination of labels since the start."""

    __slots__ = ("_bounds", "_buckets", "_codes", "_sum", "_taken", "_taken_buckets", "_taken_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._codes: dict[int, int] = {}
        self._buckets = [0] * (len(bounds) + 1)
        self._sum = 0.0
        self._taken: dict[int, int] = {}
        self._taken_buckets = [0] * (len(bounds) + 1)
        self._taken_sum = 0.0

    def count(self, code: int, seconds: float | None) -> None:
        """Count a request; *seconds* is None if its duration does not matter."""
        self._codes[code] = self._codes.get(code, 0) + 1
        if seconds is not None:
            self._buckets[bisect_left(self._bounds, seconds)] += 1
            self._sum += seconds

    @property
    def timed(self) -> bool:
        """Whether any duration was recorded."""
        return any(self._buckets)

    def take_codes(self) -> Iterator[tuple[int, int]]:
        """Yield how many requests with each code have come since the last time."""
        for code, number in list(self._codes.items()):
            taken, self._taken[code] = self._taken.get(code, 0), number
            if number > taken:
                yield code, number - taken

    def carry_durations(self, histogram: Any) -> None:
        """Add the durations since the last time to a histogram with the same buckets."""
        for position, number in enumerate(self._buckets):
            taken, self._taken_buckets[position] = self._taken_buckets[position], number
            if number > taken:
                # Observing each duration anew would cost what this class saves.
                histogram._buckets[position].inc(number - taken)
        total = self._sum
        histogram._sum.inc(total - self._taken_sum)
        self._taken_sum = total
