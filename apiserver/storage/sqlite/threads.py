"""Threads that use SQLite so that the event loop does not have to wait.

A lane is one queue of jobs and a thread or more that take from it, each with a connection of its
own. A thread takes all jobs that wait, up to a number, runs them together and tells the event
loop all answers in one call, so that a job costs neither a commit nor a wake-up by itself: this
is what groups commits. The queue has no bound of its own, because every job in it is a coroutine
that waits for its answer; the number of requests is the bound.
"""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from apiserver.storage.interface import StorageError, Unavailable

J = TypeVar("J")

Run = Callable[[list[J]], Sequence[Any]]
"""Runs jobs together; an answer that is an exception is raised to the one who asked.

If it raises, nothing of what the jobs wanted has happened.
"""

_log = logging.getLogger(__name__)


class Lane(Generic[J]):
    """A queue of jobs, with one thread for each of *runs*."""

    def __init__(self, name: str, runs: Sequence[Run[J]], *, together: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._together = together
        self._queue: queue.SimpleQueue[tuple[J, asyncio.Future[Any] | None] | None]
        self._queue = queue.SimpleQueue()
        self._closed = False
        # Daemons: an interpreter that ends without close() must not wait for them for ever.
        self._threads = [
            threading.Thread(target=self._work, args=(run,), name=f"sqlite {name}", daemon=True)
            for run in runs
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: J) -> asyncio.Future[Any]:
        """Queue *job*; called on the event loop."""
        if self._closed:
            raise Unavailable("the store is closed")
        future = self._loop.create_future()
        self._queue.put((job, future))
        return future

    def post(self, job: J) -> None:
        """Queue *job* from any thread, for nobody who waits."""
        self._queue.put((job, None))

    async def close(self) -> None:
        """Refuse new jobs, and wait until those in the queue are done."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _work(self, run: Run[J]) -> None:
        going_on = True
        while going_on:
            taken, going_on = self._take()
            if not taken:
                continue
            answers = _answers(run, [job for job, _ in taken])
            futures = [future for _, future in taken]
            # The loop may be gone, when its owner has not closed the store.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_deliver, futures, answers)
            # What was read may be large, and the next job far away.
            del taken, futures, answers

    def _take(self) -> tuple[list[tuple[J, asyncio.Future[Any] | None]], bool]:
        """The jobs that wait, and whether more may come."""
        entry = self._queue.get()
        taken = []
        while entry is not None:
            taken.append(entry)
            if len(taken) == self._together:
                return taken, True
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                return taken, True
        return taken, False


def _answers(run: Run[J], jobs: list[J]) -> Sequence[Any]:
    """Run *jobs* together, or one by one if that fails: then only the guilty one suffers."""
    try:
        return run(jobs)
    except Exception as error:
        if len(jobs) > 1:
            return [_answers(run, [job])[0] for job in jobs]
        if not isinstance(error, StorageError):
            _log.exception("the store failed in a way it does not know")
        return [error]


def _deliver(futures: list[asyncio.Future[Any] | None], answers: Sequence[Any]) -> None:
    for future, answer in zip(futures, answers, strict=True):
        # Whoever asked may have been cancelled; what was written stays written.
        if future is None or future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
