"""Parking: where the workers of a queue wait until an item arrives or a delay ends.

Workers are woken one at a time. No timer task runs for delayed items: the worker that waits first
watches the clock, and hands that duty to another worker when it leaves.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from client.runtime.clock import Clock

HEARTBEAT: Final = 10.0
"""Seconds after which the worker that watches the clock checks it again in any case."""


class Parking:
    """The waiting workers; *next_ready* returns the time at which the next delay ends."""

    def __init__(self, clock: Clock, next_ready: Callable[[], float | None]) -> None:
        self._clock = clock
        self._next_ready = next_ready
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Return when an item may be available; the worker must check and wait again if not."""
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(wake)
        try:
            await self._wait_for_wake_or_delay(wake)
        except asyncio.CancelledError:
            # Another worker must take the item this one was woken for, or watch the clock.
            self._remove(wake)
            if wake.done() and not wake.cancelled():
                self.wake_one()
            else:
                self.leave()
            raise
        finally:
            self._remove(wake)

    def wake_one(self) -> None:
        while self._waiting:
            wake = self._waiting.popleft()
            if not wake.done():
                wake.set_result(None)
                return

    def wake_all(self) -> None:
        while self._waiting:
            self.wake_one()

    def leave(self) -> None:
        """Have another worker watch the clock, because the caller leaves with an item."""
        if self._waiting and self._next_ready() is not None:
            self.wake_one()

    def _remove(self, wake: asyncio.Future[None]) -> None:
        if wake in self._waiting:
            self._waiting.remove(wake)

    async def _wait_for_wake_or_delay(self, wake: asyncio.Future[None]) -> None:
        ready_at = self._next_ready()
        if ready_at is None:
            await wake
            return
        delay = min(max(0.0, ready_at - self._clock.monotonic()), HEARTBEAT)
        timer = asyncio.ensure_future(self._clock.sleep(delay))
        try:
            await asyncio.wait((wake, timer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not timer.done():
                timer.cancel()
                await asyncio.gather(timer, return_exceptions=True)
