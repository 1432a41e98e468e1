"""Time as a value that is passed in, so that a test can let a minute go by."""

import asyncio
import time
from typing import Protocol


class MonotonicClock(Protocol):
    def now(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    async def sleep(self, seconds: float) -> None: ...


class SystemMonotonicClock:
    """The time that everybody shares."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
