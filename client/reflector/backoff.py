"""How long to wait before asking again: twice as long each time, and never all at once.

One for each reflector, shared by everything it may have to wait for, so that a server in trouble
is left alone however the trouble shows.
"""

import random
from collections.abc import Callable
from typing import Final

from client.runtime.clock import Clock

INITIAL: Final = 0.8
LONGEST: Final = 30.0
FACTOR: Final = 2.0
JITTER: Final = 1.0
RESET_AFTER: Final = 120.0


class Backoff:
    """Delays of 0.8 s, doubled up to 30 s, each stretched by chance to at most twice its length.

    Two minutes without a step start it anew.
    """

    def __init__(self, clock: Clock, *, chance: Callable[[], float] = random.random) -> None:
        self._clock = clock
        self._chance = chance
        self._delay = INITIAL
        self._last_step: float | None = None

    def step(self) -> float:
        """The seconds to wait this time."""
        now = self._clock.monotonic()
        if self._last_step is not None and now - self._last_step > RESET_AFTER:
            self._delay = INITIAL
        self._last_step = now
        delay = self._delay
        self._delay = min(delay * FACTOR, LONGEST)
        return delay * (1 + JITTER * self._chance())

    async def wait(self) -> None:
        await self._clock.sleep(self.step())


class RetryWindow:
    """Whether an error that keeps coming back may be retried: for *seconds* since it first came.

    A minute without the error closes the case; zero seconds never retry.
    """

    FORGOTTEN_AFTER: Final = 60.0

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._first: float | None = None
        self._last: float | None = None

    def allows(self) -> bool:
        """Note that the error has come, and tell whether to try again."""
        now = self._clock.monotonic()
        if self._first is None or self._last is None or now - self._last >= self.FORGOTTEN_AFTER:
            self._first = now
        self._last = now
        if self._seconds > 0 and now - self._first <= self._seconds:
            return True
        self._first = None
        return False
