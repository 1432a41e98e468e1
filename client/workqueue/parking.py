"""Where workers wait for a queue: woken one by one, by an item or by the time of a delayed one.

There is no task of its own for the time: whoever waits first watches the clock, and passes that on
when it leaves.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from client.runtime.clock import Clock

HEARTBEAT: Final = 10.0
"""Seconds after which a waiter looks at the clock again, whatever it was told."""


class Parking:
    """The workers that wait; *next_ready* is the moment at which something becomes ready."""

    def __init__(self, clock: Clock, next_ready: Callable[[], float | None]) -> None:
        self._clock = clock
        self._next_ready = next_ready
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Return when there may be something to take; look, and come back if there is not."""
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(wake)
        try:
            await self._woken_or_time(wake)
        except asyncio.CancelledError:
            # Another worker must have what was meant for this one, and watch the clock for it.
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
        """A worker goes away with an item; another has to watch the clock instead."""
        if self._waiting and self._next_ready() is not None:
            self.wake_one()

    def _remove(self, wake: asyncio.Future[None]) -> None:
        if wake in self._waiting:
            self._waiting.remove(wake)

    async def _woken_or_time(self, wake: asyncio.Future[None]) -> None:
        ready = self._next_ready()
        if ready is None:
            await wake
            return
        delay = min(max(0.0, ready - self._clock.monotonic()), HEARTBEAT)
        timer = asyncio.ensure_future(self._clock.sleep(delay))
        try:
            await asyncio.wait((wake, timer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not timer.done():
                timer.cancel()
                await asyncio.gather(timer, return_exceptions=True)
