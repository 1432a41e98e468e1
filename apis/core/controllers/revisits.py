"""Coming back to things until they are done: soon when they change, else ever later.

What the loops of this folder share. Every attempt starts from what is stored, so it does not
matter how often one is made.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

FIRST_DELAY: Final = 0.1
LAST_DELAY: Final = 10.0
"""Seconds between two looks at something that does not get done; they double in between."""
AT_ONCE: Final = 8
"""Things that are worked on at the same time."""

log = logging.getLogger(__name__)

Attempt = Callable[[str], Awaitable[bool]]


class Revisits:
    """Calls *attempt* with a name until it returns True; *what* names the work in logs."""

    def __init__(
        self,
        what: str,
        attempt: Attempt,
        *,
        first_delay: float = FIRST_DELAY,
        last_delay: float = LAST_DELAY,
    ) -> None:
        self._what = what
        self._attempt = attempt
        self.first_delay = first_delay
        self.last_delay = last_delay
        self._working: dict[str, asyncio.Event] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)

    def wake(self, name: str, tasks: asyncio.TaskGroup) -> None:
        """Look at *name* now, or once more if it is being looked at."""
        if name in self._working:
            self._working[name].set()
        else:
            self._working[name] = asyncio.Event()
            tasks.create_task(self._work(name), name=f"{self._what} {name}")

    async def run(self, follow: Callable[[asyncio.TaskGroup], Awaitable[None]]) -> None:
        """Follow what happens until cancelled, starting over whenever that ends."""
        delay = self.first_delay
        async with asyncio.TaskGroup() as tasks:
            while True:
                try:
                    await follow(tasks)
                    delay = self.first_delay
                except Exception:
                    log.exception("%s: watching failed; starting over", self._what)
                    delay = min(delay * 2, self.last_delay)
                await asyncio.sleep(delay)

    async def _work(self, name: str) -> None:
        changed = self._working[name]
        delay = self.first_delay
        try:
            while True:
                changed.clear()
                done = await self._attempted(name)
                if done and not changed.is_set():
                    return
                # Not wait_for, which loses a cancellation that comes together with the change.
                with suppress(TimeoutError):
                    async with asyncio.timeout(delay):
                        await changed.wait()
                delay = min(delay * 2, self.last_delay)
        finally:
            del self._working[name]

    async def _attempted(self, name: str) -> bool:
        async with self._slots:
            try:
                return await self._attempt(name)
            except Exception:
                log.exception("%s %s failed; trying again", self._what, name)
                return False
