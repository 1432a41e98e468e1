"""Stopping: a flag that also ends whatever somebody is waiting for when it is raised.

A watch can be stopped while it sleeps, while it opens a connection and while it lists; none of
these knows of the watch, so they are cancelled from here.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from client.runtime.racing import won

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
        done = await won(work, self._raised.wait())
        return None if done is None else done.result()
