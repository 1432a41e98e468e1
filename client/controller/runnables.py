"""Runnables: what a manager runs, started together and stopped together.

Each has a task that the group awaits. The first one to fail is told to whoever watches the group;
when it is time to stop, all are asked to, have a while to finish, and are then cancelled.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from client.runtime.background import race
from client.runtime.clock import Clock

log = logging.getLogger("apimachinery.controller.manager")


class Runnable(Protocol):
    """Something that works until it is stopped."""

    @property
    def name(self) -> str: ...

    async def run(self) -> None:
        """Work; may end by itself. What it raises ends the manager."""

    def stop(self) -> None:
        """Let `run` end soon, with its work in a good state."""


class Function:
    """A coroutine function as a runnable; stopping cancels it."""

    def __init__(self, function: Callable[[], Awaitable[object]], name: str = "") -> None:
        self.name = name or getattr(function, "__qualname__", repr(function))
        self._function = function
        self._work: asyncio.Future[object] | None = None
        self._stopped = False

    async def run(self) -> None:
        if self._stopped:
            return
        self._work = work = asyncio.ensure_future(self._function())
        try:
            await asyncio.wait((work,))
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait((work,))
        if not (work.cancelled() and self._stopped):
            work.result()

    def stop(self) -> None:
        self._stopped = True
        if self._work is not None:
            self._work.cancel()


class RunnableGroup:
    """Runnables that live at the same time."""

    def __init__(
        self, name: str, clock: Clock, on_failure: Callable[[BaseException], None]
    ) -> None:
        self.name = name
        self._clock = clock
        self._on_failure = on_failure
        self._waiting: list[Runnable] = []
        self._tasks: dict[asyncio.Task[None], Runnable] = {}
        self._started = False
        self._stopping = False

    def add(self, runnable: Runnable) -> None:
        """Run it with the others; at once if they run already."""
        if self._started:
            self._start(runnable)
        else:
            self._waiting.append(runnable)

    def start(self) -> None:
        self._started = True
        while self._waiting:
            self._start(self._waiting.pop(0))

    async def stop(self, grace: float) -> None:
        """Stop all; those that have not ended after *grace* seconds are cancelled."""
        self._stopping = True
        self._waiting.clear()
        for runnable in self._tasks.values():
            runnable.stop()
        tasks = [*self._tasks]
        try:
            if tasks and grace > 0:
                await self._ended_within(tasks, grace)
        finally:
            # Also when this is cancelled itself: nothing is left behind.
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _ended_within(self, tasks: "list[asyncio.Task[None]]", grace: float) -> None:
        await race(asyncio.wait(tasks), self._clock.sleep(grace))
        late = [self._tasks[task].name for task in tasks if task in self._tasks]
        if late:
            log.error("not stopped within %gs, cancelled: %s", grace, ", ".join(late))

    def _start(self, runnable: Runnable) -> None:
        task = asyncio.create_task(runnable.run(), name=runnable.name)
        self._tasks[task] = runnable
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        runnable = self._tasks.pop(task)
        error = self._error_of(task, runnable)
        if error is not None:
            log.error("%s failed: %s", runnable.name, error)
            self._on_failure(error)

    def _error_of(self, task: "asyncio.Task[None]", runnable: Runnable) -> BaseException | None:
        if not task.cancelled():
            return task.exception()
        if self._stopping:
            return None
        return RuntimeError(f"{runnable.name} was cancelled, and not by the manager")
