"""Portal: a thread with an event loop in which the synchronous client runs the asynchronous one.

Each synchronous client has its own portal and closes it. Because the event loop runs in another
thread, the synchronous client also works where an event loop is already running: in a notebook, a
test or a request handler.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """Runs coroutines in its own thread, which starts with the first call."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* and return its result; an interrupt of the calling thread cancels it.

        Raises RuntimeError if the portal is closed or called from its own thread.
        """
        try:
            loop = self._running_loop()
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except CancelledError:
            raise
        except BaseException:
            if not future.done():  # a KeyboardInterrupt in this thread, not an error of *work*
                future.cancel()
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Yield the items of an asynchronous iterator; each is fetched when it is requested."""
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
        """Stop the event loop and join its thread; idempotent."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
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
                # Waiting for the loop in its own thread would deadlock.
                raise RuntimeError("the synchronous client was called from its own callbacks")
            return self._loop


class _Exhausted(Exception):
    """Ends an asynchronous iterator; a coroutine cannot raise StopAsyncIteration."""


async def _next(items: AsyncIterator[T]) -> T:
    try:
        return await items.__anext__()
    except StopAsyncIteration:
        raise _Exhausted from None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        unfinished = asyncio.all_tasks(loop)
        for task in unfinished:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*unfinished, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
