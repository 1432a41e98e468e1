"""Time slices: let other tasks run while one works through many items.

Steps of a single request that are heavy by themselves leave the event loop (`workload.py`). This is
for loops over many light items, such as the objects of a list.
"""

import asyncio
from time import perf_counter
from typing import Final

SLICE_SECONDS: Final = 0.005
"""How long a task keeps the event loop; several tasks may work through many items at once."""


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
            await asyncio.sleep(0)
            self._end = perf_counter() + SLICE_SECONDS
