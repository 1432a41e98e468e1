"""Time slices: let other tasks run while one works through many items.

Steps of a single request that are heavy by themselves leave the event loop (`workload.py`). This is
for loops over many light items, such as the objects of a list.

Many tasks may do so at once, such as fifty clients that list everything. They take turns: in each
iteration of the event loop one of them runs, so that every other task waits for one slice, not for
fifty.

Taking turns with each single iteration would still leave half of the loop to lists, whatever else
there is to do. So after the slice of a `RestingSlices` the next one has to wait until other tasks
have had several times as much of the loop, or until the loop has nothing else to do.
"""

import asyncio
from collections import deque
from time import perf_counter
from typing import Final
from weakref import WeakKeyDictionary

SLICE_SECONDS: Final = 0.005
"""How long a task keeps the event loop."""
REST_SECONDS: Final = 4 * SLICE_SECONDS
"""How long other tasks use the loop between two slices of resting tasks, if they need it."""
IDLE_SECONDS: Final = 0.00006
"""An iteration of the loop that is shorter has served nobody."""


class TimeSlices:
    """The time slices of one task."""

    __slots__ = ("_end",)
    _rest: Final = 0.0

    def __init__(self) -> None:
        self._end = perf_counter() + SLICE_SECONDS

    @property
    def is_over(self) -> bool:
        """Whether the task should let others run."""
        return perf_counter() >= self._end

    async def yield_loop(self) -> None:
        """Let other tasks run if the time slice is over; call it between two items."""
        if self.is_over:
            await self.begin()

    async def begin(self) -> None:
        """Wait for the next turn of the task, and begin a time slice."""
        await _turns_of(asyncio.get_running_loop(), self._rest).wait()
        self._end = perf_counter() + SLICE_SECONDS


class RestingSlices(TimeSlices):
    """The time slices of a task that leaves most of the loop to others, if they need it."""

    __slots__ = ()
    _rest: Final = REST_SECONDS  # type: ignore[misc]


class LoopTurns:
    """The tasks of an event loop whose time slices are over, in the order of their turns."""

    def __init__(self, rest: float = 0.0) -> None:
        self._rest = rest
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._granted = -rest
        """When the last turn began."""
        self._owed = 0.0
        """For how long others may use the loop before the next turn, in seconds."""
        self._iteration = 0.0
        """When the current iteration of the loop began."""

    async def wait(self) -> None:
        """Wait for the next turn of the current task."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            self._owed = self._granted + self._rest - perf_counter()
            loop.call_soon(self._begin_rest if self._owed > 0 else self._pass_on, loop)
        await turn

    def _pass_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let one task run if it is time; called in every iteration while tasks wait."""
        now = perf_counter()
        used, self._iteration = now - self._iteration, now
        self._owed = self._owed - used if used > IDLE_SECONDS else 0.0
        if self._owed <= 0 and self._grant():
            self._granted, self._owed = now, self._rest
            if self._rest and self._waiting:
                # The next iteration has the slice itself.
                loop.call_soon(self._begin_rest, loop)
                return
        if self._waiting:
            loop.call_soon(self._pass_on, loop)

    def _begin_rest(self, loop: asyncio.AbstractEventLoop) -> None:
        self._iteration = perf_counter()
        loop.call_soon(self._pass_on, loop)

    def _grant(self) -> bool:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # it may have been cancelled
                turn.set_result(None)
                return True
        return False


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, dict[float, LoopTurns]]] = (
    WeakKeyDictionary()
)


def _turns_of(loop: asyncio.AbstractEventLoop, rest: float) -> LoopTurns:
    """Return the turns of an event loop, which all its tasks share."""
    turns = _TURNS.setdefault(loop, {})
    if rest not in turns:
        turns[rest] = LoopTurns(rest)
    return turns[rest]
