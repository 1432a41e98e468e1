"""A clock that stands still until a test moves it."""

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta

START = datetime(2024, 1, 1, tzinfo=UTC)


class FakeClock:
    """Sleepers wake in order when the test advances the time, and never by themselves."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self._now

    def now(self) -> datetime:
        return START + timedelta(seconds=self._now)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), wake))
        await wake

    async def advance(self, seconds: float) -> None:
        """Let time go by; whoever was to wake in it does so at its moment."""
        end = self._now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._now, _, wake = heapq.heappop(self._sleepers)
            if not wake.done():
                wake.set_result(None)
                await settle()
        self._now = end
        await settle()


async def settle() -> None:
    """Return when every task waits for something that only a test can bring about."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    while ready:
        await asyncio.sleep(0)
