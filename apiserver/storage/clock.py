"""Monotonic clock, injected so that tests can advance time without sleeping."""

import asyncio
import time
from typing import Protocol


class MonotonicClock(Protocol):
    def now(self) -> float:
        """Return the seconds since a fixed moment; never decreases."""

    async def sleep(self, seconds: float) -> None: ...


class SystemMonotonicClock:
    """The clock of the operating system and the sleep of the event loop."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
