"""Backoff: exponentially growing delays with jitter between a reflector's requests.

Each reflector has one, shared by all of its retries, so that an overloaded server is relieved
whichever request fails.
"""

import random
from collections.abc import Callable
from typing import Final

from client.runtime.clock import Clock

INITIAL: Final = 0.8
MAX_DELAY: Final = 30.0
FACTOR: Final = 2.0
JITTER: Final = 1.0
RESET_AFTER: Final = 120.0


class Backoff:
    """Delays of 0.8 s, doubled up to 30 s, each multiplied by a random factor from 1 to 2.

    After two minutes without a step the delay starts at 0.8 s again.
    """

    def __init__(self, clock: Clock, *, chance: Callable[[], float] = random.random) -> None:
        self._clock = clock
        self._chance = chance
        self._delay = INITIAL
        self._last_step: float | None = None

    def step(self) -> float:
        """Return the seconds to wait this time."""
        now = self._clock.monotonic()
        if self._last_step is not None and now - self._last_step > RESET_AFTER:
            self._delay = INITIAL
        self._last_step = now
        delay = self._delay
        self._delay = min(delay * FACTOR, MAX_DELAY)
        return delay * (1 + JITTER * self._chance())

    async def wait(self) -> None:
        await self._clock.sleep(self.step())


class RetryWindow:
    """Limits the retries of a recurring error to *seconds* after its first occurrence.

    A minute without the error resets the window; with zero seconds nothing is retried.
    """

    RESET_AFTER: Final = 60.0

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._first_at: float | None = None
        self._last_at: float | None = None

    def allows(self) -> bool:
        """Record an occurrence of the error, and return whether to retry."""
        now = self._clock.monotonic()
        if (
            self._first_at is None
            or self._last_at is None
            or now - self._last_at >= self.RESET_AFTER
        ):
            self._first_at = now
        self._last_at = now
        if self._seconds > 0 and now - self._first_at <= self._seconds:
            return True
        self._first_at = None
        return False
