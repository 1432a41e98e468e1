"""Work that goes on beside a block, and a deadline by any clock: tasks that somebody awaits."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from client.runtime.clock import Clock
from client.runtime.racing import won

T = TypeVar("T")


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, None], *, name: str = "") -> AsyncIterator[None]:
    """Run *work* while the block runs, and end it with the block.

    If *work* raises, the block is cancelled. What either of them raises is raised as it is.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(work, name=name or None)
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def is_order(error: BaseException) -> bool:
    """Whether *error* is the cancellation of the running task, and not of one that it awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and bool(task and task.cancelling())


async def within(clock: Clock, seconds: float | None, waiting: Awaitable[T]) -> T:
    """Wait for something, but raise TimeoutError after *seconds* of *clock*."""
    if seconds is None:
        return await waiting
    done = await won(waiting, clock.sleep(seconds))
    if done is None:
        raise TimeoutError(f"not within {seconds:g}s")
    return done.result()


async def done_before(work: Coroutine[Any, Any, None], event: asyncio.Event) -> bool:
    """Whether *work* came to its end before *event*; else it is cancelled."""
    done = await won(work, event.wait())
    if done is not None:
        done.result()
    return done is not None
