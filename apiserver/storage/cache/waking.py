"""Waking: resume the tasks of many watchers without holding up the other tasks of the event loop.

One change may concern a thousand watchers, and each that is resumed encrypts and writes it. Those
of a small group are resumed at once. Of more, some are resumed in each iteration of the event loop,
with rests in between: requests are served meanwhile, and a watcher that waits for its turn gets
later changes in the same write.
"""

import asyncio
from collections import deque
from typing import Final

AT_ONCE: Final = 32
"""Watchers that are resumed in one iteration of the event loop: some milliseconds of work."""
REST_SECONDS: Final = 0.002
"""How long the others wait between two such groups, at least."""


class WakeTurns:
    """The watchers of one resource that have something to send, in the order of their turns."""

    __slots__ = ("_resumed", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resumed = 0
        """Watchers resumed in this turn; 0 if no turn is under way."""

    def resume(self, waiter: asyncio.Future[None]) -> None:
        """Complete *waiter*, now or when it is its turn."""
        if self._waiting or self._resumed == AT_ONCE:
            self._waiting.append(waiter)
            return
        self._resumed += 1
        if self._resumed == 1:
            waiter.get_loop().call_soon(self._end_turn)
        if not waiter.done():
            waiter.set_result(None)

    def _end_turn(self) -> None:
        self._resumed = 0
        if self._waiting:
            self._waiting[0].get_loop().call_later(REST_SECONDS, self._take_turn)

    def _take_turn(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting and self._resumed < AT_ONCE:
            waiter = self._waiting.popleft()
            if not waiter.done():  # it may have been cancelled
                waiter.set_result(None)
                self._resumed += 1
        if self._waiting or self._resumed:
            loop.call_soon(self._end_turn)
