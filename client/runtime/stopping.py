"""StopSignal: stops a watch at any time by cancelling the operation it is waiting for.

A watch may be stopped while it sleeps, opens a connection or lists. None of these operations has a
stop method, so `run_until_stopped` cancels them.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from client.runtime.background import race

T = TypeVar("T")


class StopSignal:
    """A flag that is set once and never cleared; true after `stop`."""

    def __init__(self) -> None:
        self._stopped = asyncio.Event()

    def __bool__(self) -> bool:
        return self._stopped.is_set()

    def stop(self) -> None:
        self._stopped.set()

    async def run_until_stopped(self, work: Awaitable[T]) -> T | None:
        """Return the result of *work*; if `stop` is called first, cancel it and return None."""
        finished = await race(work, self._stopped.wait())
        return None if finished is None else finished.result()
