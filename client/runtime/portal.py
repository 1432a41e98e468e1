"""A thread with an event loop, in which the synchronous client does its asynchronous work.

It belongs to one client and ends with it. Because the loop is another thread's, the client can
also be used where a loop is running already: in a notebook, in a test, in a handler.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """Runs coroutines in its own thread and returns what they return."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* to its end; an interrupt cancels it."""
        try:
            loop = self._running()
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except CancelledError:
            raise
        except BaseException:
            if not future.done():  # an interrupt of this thread, not the work's own error
                future.cancel()
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """The items of an asynchronous iterator, one after the other."""
        while True:
            try:
                item = self.call(_next(items))
            except _Exhausted:
                return
            yield item

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """End the loop and its thread; may be repeated."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="apimachinery client", daemon=True
                )
                self._thread.start()
            elif threading.current_thread() is self._thread:
                raise RuntimeError("the synchronous client was called from its own callbacks")
            return self._loop


class _Exhausted(Exception):
    """The end of an asynchronous iterator; StopAsyncIteration cannot leave a coroutine."""


async def _next(items: AsyncIterator[T]) -> T:
    try:
        return await items.__anext__()
    except StopAsyncIteration:
        raise _Exhausted from None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        waiting = asyncio.all_tasks(loop)
        for task in waiting:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
