"""Waking: resume the tasks of many watchers without holding up the other tasks of the event loop.

One change may concern a thousand watchers, and each that is resumed encrypts and writes it. Those
of a small group are resumed at once. Of more, some are resumed in each iteration of the event loop,
with rests in between: requests are served meanwhile, and a watcher that waits for its turn gets
later changes in the same write.

Resuming a watcher costs several times as much as one more event in its write. So watchers that
together cost more than the write that they are told of are resumed at most once in a tick of the
clock. The first event after a pause is delivered at once, and so are all events of a few watchers,
such as those of controllers that wait for their own writes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final

AT_ONCE: Final = 32
"""Watchers that are resumed in one iteration of the event loop: some milliseconds of work."""
REST_SECONDS: Final = 0.002
"""How long the others wait between two such groups, at least."""
FEW: Final = 8
"""Watchers that cost less than the write of which they are notified."""
TICK_SECONDS: Final = 0.005
"""The least time between two times at which the watchers of one log are resumed, if not few."""


class WakeTurns:
    """The watchers of one resource that have something to send, in the order of their turns.

    *now* is a monotonic clock, that of the event loop if None.
    """

    __slots__ = ("_now", "_resumed", "_waiting")

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resumed = 0
        """Watchers resumed in this turn; 0 if no turn is under way."""
        self._now = now

    def now(self) -> float:
        """Return the time in seconds."""
        return self._now() if self._now is not None else asyncio.get_running_loop().time()

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


class Waiters:
    """The watchers of one log that have nothing to send."""

    __slots__ = ("_resumed_at", "_timer", "_turns", "_waiting")

    def __init__(self, turns: WakeTurns) -> None:
        self._turns = turns
        self._waiting: dict[Hashable, asyncio.Future[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        """Set while the watchers wait for the end of a tick."""
        self._resumed_at = float("-inf")

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, watcher: Hashable) -> None:
        """Wait until *watcher* is resumed."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting[watcher] = waiter
        try:
            await waiter
        finally:
            if self._waiting.get(watcher) is waiter:
                del self._waiting[watcher]

    def resume(self, watcher: Hashable) -> None:
        """Resume one watcher, if it waits."""
        waiter = self._waiting.pop(watcher, None)
        if waiter is not None:
            self._turns.resume(waiter)

    def resume_all(self) -> None:
        """Resume the watchers that wait: at once if they are few, else once in a tick."""
        if not self._waiting or self._timer is not None:
            return
        if len(self._waiting) > FEW:
            now = self._turns.now()
            rest = self._resumed_at + TICK_SECONDS - now
            if rest > 0:
                self._timer = asyncio.get_running_loop().call_later(rest, self._end_tick)
                return
            self._resumed_at = now
        self._resume_waiting()

    def _end_tick(self) -> None:
        self._timer = None
        self._resumed_at = self._turns.now()
        self._resume_waiting()

    def _resume_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for waiter in waiting.values():
            self._turns.resume(waiter)
