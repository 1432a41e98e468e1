"""Background tasks: run one beside a block, race one against another, time one out on any clock.

No task outlives the call or the block that started it: it is awaited, or cancelled and awaited.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from client.runtime.clock import Clock

T = TypeVar("T")


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, None], *, name: str = "") -> AsyncIterator[None]:
    """Run *work* while the block runs, and cancel it when the block ends.

    If *work* raises, the block is cancelled. An exception of either is raised unwrapped, not as an
    exception group.
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


def is_own_cancellation(error: BaseException) -> bool:
    """Return whether *error* cancels the running task itself, not a task that it awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and bool(task and task.cancelling())


async def race(work: Awaitable[T], against: Awaitable[object]) -> "asyncio.Future[T] | None":
    """Return *work* once it has succeeded or failed, or None if *against* finishes first.

    The loser is cancelled and awaited before this returns. So are both if the caller is cancelled.
    """
    work_task, against_task = asyncio.ensure_future(work), asyncio.ensure_future(against)
    try:
        await asyncio.wait((work_task, against_task), return_when=asyncio.FIRST_COMPLETED)
        return work_task if work_task.done() else None
    finally:
        unfinished = [future for future in (work_task, against_task) if not future.done()]
        for future in unfinished:
            future.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)


async def within(clock: Clock, seconds: float | None, work: Awaitable[T]) -> T:
    """Return the result of *work*, without a deadline if *seconds* is None.

    Raises TimeoutError, and cancels *work*, after *seconds* of *clock*.
    """
    if seconds is None:
        return await work
    finished = await race(work, clock.sleep(seconds))
    if finished is None:
        raise TimeoutError(f"timed out after {seconds:g}s")
    return finished.result()


async def done_before(work: Coroutine[Any, Any, None], event: asyncio.Event) -> bool:
    """Return whether *work* finishes before *event* is set; otherwise cancel it."""
    finished = await race(work, event.wait())
    if finished is not None:
        finished.result()
    return finished is not None
