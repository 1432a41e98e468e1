"""Fake clock: stands still until a test advances it, so that hours pass in milliseconds."""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2024, 1, 1, tzinfo=UTC)
PATIENCE: Final = 10.0
"""Real seconds for which requests may be in flight before StillBusy is raised."""
_POLL: Final = 0.0005


class StillBusy(RuntimeError):
    """Requests have been in flight for so long that they will probably never end."""


class FakeClock:
    """A Clock whose sleepers wake, in order of their deadlines, only when the test advances it."""

    def __init__(self, start: datetime = START) -> None:
        self.slept: list[float] = []
        """The seconds of every sleep so far."""
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
        """Advance the clock; each sleeper on the way wakes, with its requests, at its own time."""
        passing = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
        end = self._now + passing
        await self.quiet()
        while (at := self.next_wake()) is not None and at <= end:
            await self._wake_next()
        self._now = end
        await self.quiet()

    async def step(self) -> float:
        """Advance to the next sleeper and return the seconds that passed, 0 if there is none."""
        before = self._now
        await self.quiet()
        if self.next_wake() is not None:
            await self._wake_next()
        return self._now - before

    def next_wake(self) -> float | None:
        """Return the time at which the next sleeper wakes, by `monotonic`."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def busy_while(self, busy: Callable[[], bool]) -> None:
        """Hold the clock while *busy* returns true, such as while a request is in flight."""
        self._busy.append(busy)

    async def quiet(self) -> None:
        """Wait until every task waits for the clock or for the test.

        Raises StillBusy if requests stay in flight.
        """
        deadline = time.monotonic() + PATIENCE
        await _run_ready_tasks()
        while any(busy() for busy in self._busy):
            if time.monotonic() > deadline:
                raise StillBusy(f"requests have been in flight for {PATIENCE:g}s")
            await asyncio.sleep(_POLL)
            await _run_ready_tasks()

    async def _wake_next(self) -> None:
        at, _, wake = heapq.heappop(self._sleepers)
        self._now = max(self._now, at)
        if not wake.done():
            wake.set_result(None)
            await self.quiet()


async def _run_ready_tasks() -> None:
    """Run the event loop until no task is ready."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    await asyncio.sleep(0)
    if ready is None:
        # Other loops hide their ready queue; this many turns are enough for our code.
        for _ in range(100):
            await asyncio.sleep(0)
        return
    while ready:
        await asyncio.sleep(0)
