"""A clock that stands still until a test moves it: hours pass in milliseconds."""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2024, 1, 1, tzinfo=UTC)
PATIENCE: Final = 10.0
"""Real seconds that something may be busy before the test is told so."""
_POLL: Final = 0.0005


class StillBusy(RuntimeError):
    """Something has been busy for so long that it will never be quiet."""


class FakeClock:
    """Sleepers wake in the order of their moments when the test lets time pass, and only then."""

    def __init__(self, start: datetime = START) -> None:
        self.slept: list[float] = []
        """Every sleep that somebody asked for."""
        self._start = start
        self._now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._busy: list[Callable[[], bool]] = []

    def monotonic(self) -> float:
        return self._now

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._now)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), wake))
        await wake

    # For the test

    async def advance(self, seconds: float | timedelta) -> None:
        """Let time pass; whoever wakes up meanwhile does what it does then, requests included."""
        passing = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
        end = self._now + passing
        await self.quiet()
        while (at := self.next_wake()) is not None and at <= end:
            await self._wake_next()
        self._now = end
        await self.quiet()

    async def step(self) -> float:
        """Let time pass until the next sleeper wakes; the seconds that took, 0 if nobody sleeps."""
        before = self._now
        await self.quiet()
        if self.next_wake() is not None:
            await self._wake_next()
        return self._now - before

    def next_wake(self) -> float | None:
        """The moment at which somebody wakes next, by `monotonic`."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def busy_while(self, busy: Callable[[], bool]) -> None:
        """Let no time pass while *busy* is true, as when a request is being answered."""
        self._busy.append(busy)

    async def quiet(self) -> None:
        """Return when every task waits for something that only the test can bring about."""
        patience = time.monotonic() + PATIENCE
        await _let_all_run()
        while any(busy() for busy in self._busy):
            if time.monotonic() > patience:
                raise StillBusy(f"requests have been in flight for {PATIENCE:g}s")
            await asyncio.sleep(_POLL)
            await _let_all_run()

    async def _wake_next(self) -> None:
        at, _, wake = heapq.heappop(self._sleepers)
        self._now = max(self._now, at)
        if not wake.done():
            wake.set_result(None)
            await self.quiet()


async def _let_all_run() -> None:
    """Give every task its turn until none wants one."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    await asyncio.sleep(0)
    if ready is None:
        # Other loops do not show what is ready; this many turns are enough for what we do.
        for _ in range(100):
            await asyncio.sleep(0)
        return
    while ready:
        await asyncio.sleep(0)
