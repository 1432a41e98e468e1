"""SQLite threads: run database jobs outside the event loop, in batches.

A BatchExecutor is one queue of jobs and one or more threads that serve it, each with a connection
of its own. A thread takes all queued jobs, up to a limit, runs them together and delivers all
results to the event loop in one call. So a job needs neither a commit nor a wake-up of its own:
this is group commit. The queue is unbounded, because every job in it is a coroutine that waits for
its result; the number of requests is the bound.
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

RunBatch = Callable[[list[J]], Sequence[Any]]
"""Runs jobs together and returns one result per job; a result that is an exception is raised to the
caller of that job.

If it raises, none of the jobs has taken effect.
"""

_log = logging.getLogger(__name__)


class BatchExecutor(Generic[J]):
    """A queue of jobs, with one thread for each of *runs*."""

    def __init__(self, name: str, runs: Sequence[RunBatch[J]], *, batch_size: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._batch_size = batch_size
        self._queue: queue.SimpleQueue[tuple[J, asyncio.Future[Any] | None] | None]
        self._queue = queue.SimpleQueue()
        self._closed = False
        # Daemon threads, so that an interpreter that exits without close() does not hang.
        self._threads = [
            threading.Thread(target=self._work, args=(run,), name=f"sqlite {name}", daemon=True)
            for run in runs
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: J) -> asyncio.Future[Any]:
        """Queue *job* and return the future of its result; called on the event loop."""
        if self._closed:
            raise Unavailable("the store is closed")
        future = self._loop.create_future()
        self._queue.put((job, future))
        return future

    def post(self, job: J) -> None:
        """Queue *job* from any thread without waiting for a result."""
        self._queue.put((job, None))

    async def close(self) -> None:
        """Refuse new jobs and wait until the queued ones are done."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _work(self, run: RunBatch[J]) -> None:
        running = True
        while running:
            batch, running = self._take()
            if not batch:
                continue
            results = _run_batch(run, [job for job, _ in batch])
            futures = [future for _, future in batch]
            # The event loop may be closed, if its owner has not closed the store.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_deliver, futures, results)
            # Release the results, which may be large, before waiting for the next job.
            del batch, futures, results

    def _take(self) -> tuple[list[tuple[J, asyncio.Future[Any] | None]], bool]:
        """Take the queued jobs, up to the limit; return them and whether to keep running."""
        entry = self._queue.get()
        batch = []
        while entry is not None:
            batch.append(entry)
            if len(batch) == self._batch_size:
                return batch, True
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False


def _run_batch(run: RunBatch[J], jobs: list[J]) -> Sequence[Any]:
    """Run *jobs* together; if that fails, run them one by one so that only the faulty job fails."""
    try:
        return run(jobs)
    except Exception as error:
        if len(jobs) > 1:
            return [_run_batch(run, [job])[0] for job in jobs]
        if not isinstance(error, StorageError):
            _log.exception("unexpected error in a database job")
        return [error]


def _deliver(futures: list[asyncio.Future[Any] | None], results: Sequence[Any]) -> None:
    for future, result in zip(futures, results, strict=True):
        # The caller may have been cancelled; its write is still committed.
        if future is None or future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
