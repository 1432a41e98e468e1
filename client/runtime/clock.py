"""Time as a value that is passed in, so that a test can let an hour go by."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the client knows of time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def now(self) -> datetime:
        """The present in UTC, for comparing with what servers and certificates say."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The time that everybody shares."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
