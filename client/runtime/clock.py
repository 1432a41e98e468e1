"""Clock: the time source passed to every part of the client, so that a test can advance it."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Reads the time and sleeps."""

    def monotonic(self) -> float:
        """Return the seconds since an arbitrary fixed moment; never decreases."""

    def now(self) -> datetime:
        """Return the current UTC time, to compare with timestamps of servers and certificates."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The clock of the operating system and the event loop."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
