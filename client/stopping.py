"""Stopping: a flag that also ends whatever somebody is waiting for when it is raised.

A watch can be stopped while it sleeps, while it opens a connection and while it lists; none of
these knows of the watch, so they are cancelled from here.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Stopping:
    """Whether something is to end; raised once, and never lowered."""

    def __init__(self) -> None:
        self._raised = asyncio.Event()

    def __bool__(self) -> bool:
        return self._raised.is_set()

    def stop(self) -> None:
        self._raised.set()

    async def unless(self, work: Awaitable[T]) -> T | None:
        """What *work* brings; None, and it is cancelled, when this is stopped before."""
        working = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._raised.wait())
        try:
            await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            unfinished = [each for each in (working, stopping) if not each.done()]
            for each in unfinished:
                each.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)
