"""Time slices: let other tasks run while one works through many items.

Steps of a single request that are heavy by themselves leave the event loop (`workload.py`). This is
for loops over many light items, such as the objects of a list.

Many tasks may do so at once, such as fifty clients that list everything. They take turns: in each
iteration of the event loop one of them runs, so that every other task waits for one slice, not for
fifty.
"""

import asyncio
from collections import deque
from time import perf_counter
from typing import Final
from weakref import WeakKeyDictionary

SLICE_SECONDS: Final = 0.005
"""How long a task keeps the event loop."""


class TimeSlices:
    """The time slices of one task."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = perf_counter() + SLICE_SECONDS

    @property
    def is_over(self) -> bool:
        """Whether the task should let others run."""
        return perf_counter() >= self._end

    async def yield_loop(self) -> None:
        """Let other tasks run if the time slice is over; call it between two items."""
        if self.is_over:
            await _turns_of(asyncio.get_running_loop()).wait()
            self._end = perf_counter() + SLICE_SECONDS


class LoopTurns:
    """The tasks of an event loop whose time slices are over, in the order of their turns."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Wait for the next turn of the current task."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            loop.call_soon(self._pass_on, loop)
        await turn

    def _pass_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let one task run; called once in every iteration of the loop while tasks wait."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # it may have been cancelled
                turn.set_result(None)
                break
        if self._waiting:
            loop.call_soon(self._pass_on, loop)


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, LoopTurns]] = WeakKeyDictionary()


def _turns_of(loop: asyncio.AbstractEventLoop) -> LoopTurns:
    """Return the turns of an event loop, which all its tasks share."""
    turns = _TURNS.get(loop)
    if turns is None:
        turns = _TURNS[loop] = LoopTurns()
    return turns
