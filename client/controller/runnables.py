"""Runnables: the components of a manager, started and stopped together as a group.

Each runnable has a task that the group awaits. An error of a runnable is reported to the owner of
the group. To stop, the group stops all runnables, waits for a grace period, and cancels the rest.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from client.runtime.background import race
from client.runtime.clock import Clock

log = logging.getLogger("apimachinery.controller.manager")


class Runnable(Protocol):
    """A component that runs until it is stopped."""

    @property
    def name(self) -> str: ...

    async def run(self) -> None:
        """Run until stopped or finished. An exception ends the manager."""

    def stop(self) -> None:
        """End `run` gracefully and soon."""


class Function:
    """Runs a coroutine function, and cancels it when it is stopped."""

    def __init__(self, function: Callable[[], Awaitable[object]], name: str = "") -> None:
        self.name = name or getattr(function, "__qualname__", repr(function))
        self._function = function
        self._running: asyncio.Future[object] | None = None
        self._stopped = False

    async def run(self) -> None:
        if self._stopped:
            return
        self._running = running = asyncio.ensure_future(self._function())
        try:
            await asyncio.wait((running,))
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait((running,))
        # A cancellation by `stop` is the expected end; any other is an error.
        if not (running.cancelled() and self._stopped):
            running.result()

    def stop(self) -> None:
        self._stopped = True
        if self._running is not None:
            self._running.cancel()


class RunnableGroup:
    """Runnables that start and stop together; *on_failure* is called with each error."""

    def __init__(
        self, name: str, clock: Clock, on_failure: Callable[[BaseException], None]
    ) -> None:
        self.name = name
        self._clock = clock
        self._on_failure = on_failure
        self._pending: list[Runnable] = []
        self._tasks: dict[asyncio.Task[None], Runnable] = {}
        self._started = False
        self._stopping = False

    def add(self, runnable: Runnable) -> None:
        """Start *runnable* with the group, or at once if the group was started."""
        if self._started:
            self._start(runnable)
        else:
            self._pending.append(runnable)

    def start(self) -> None:
        self._started = True
        while self._pending:
            self._start(self._pending.pop(0))

    async def stop(self, grace: float) -> None:
        """Stop all runnables; cancel those that have not ended after *grace* seconds."""
        self._stopping = True
        self._pending.clear()
        for runnable in self._tasks.values():
            runnable.stop()
        tasks = [*self._tasks]
        try:
            if tasks and grace > 0:
                await self._wait_for_end(tasks, grace)
        finally:
            # Even if this call is cancelled, no task may be left running.
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _wait_for_end(self, tasks: "list[asyncio.Task[None]]", grace: float) -> None:
        await race(asyncio.wait(tasks), self._clock.sleep(grace))
        running = [self._tasks[task].name for task in tasks if task in self._tasks]
        if running:
            log.error("cancelling runnables not stopped within %gs: %s", grace, ", ".join(running))

    def _start(self, runnable: Runnable) -> None:
        task = asyncio.create_task(runnable.run(), name=runnable.name)
        self._tasks[task] = runnable
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: "asyncio.Task[None]") -> None:
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
        return RuntimeError(f"{runnable.name} was cancelled, but not by the manager")
