"""Retry-After: when a rejected client should try again, by how many others were rejected.

The delay of a level doubles when at least three requests per second were rejected during its last
delay, up to 32 s, and shrinks by a second when fewer than one was.
"""

from collections import deque
from typing import Final

LONGEST: Final = 32
"""Seconds."""


class RetryDelay:
    """The delay of one level, in whole seconds."""

    def __init__(self) -> None:
        self.seconds = 1
        self._counts: deque[tuple[int, int]] = deque()
        self._second = self._count = 0
        self._raised = 0

    def reject(self, now: float) -> int:
        """Count a rejected request, and return the delay for its client."""
        second = int(now)
        if second == self._second:
            self._count += 1
            return self.seconds
        self._counts.append((self._second, self._count))
        self._second, self._count = second, 1
        while second - self._counts[0][0] > LONGEST:
            self._counts.popleft()
            if not self._counts:
                break
        self._adjust(second)
        return self.seconds

    def _adjust(self, second: int) -> None:
        delay = self.seconds
        rejected = sum(count for when, count in self._counts if second - when <= delay)
        if rejected >= 3 * delay and second - self._raised >= delay:
            self.seconds = min(2 * delay, LONGEST)
            self._raised = second
        elif rejected < delay and delay > 1:
            self.seconds = delay - 1
