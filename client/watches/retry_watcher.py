"""RetryWatcher: a watch that resumes when its stream ends.

Servers end every watch after some minutes, and networks may end it at any time. A RetryWatcher
then opens another stream from the resourceVersion of the last event. It ends only if the server no
longer has that resourceVersion (410), denies the watch (401, 403), or sends an object without a
resourceVersion.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Generic, TypeVar

from apimachinery.errors import APIError, Forbidden, InternalError, Unauthorized
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.watch import EventType, ObjectEvent
from client.runtime.clock import Clock, SystemClock
from client.runtime.stopping import StopSignal
from client.transport.transport import TransportError
from client.watches.stream_watcher import StreamWatcher

log = logging.getLogger("apimachinery.client.watch")

ObjectT = TypeVar("ObjectT", bound=Object)

MIN_RESTART_DELAY: Final = 1.0
"""The minimum number of seconds between the opening of two streams."""


class RetryWatcher(Generic[ObjectT]):
    """Iterates over the events after a resourceVersion, across as many streams as needed.

    *open_watch* opens a stream at a resourceVersion and must request bookmarks; they are yielded
    only if *bookmarks* is true. If the watch cannot resume, its last event is an ERROR.
    """

    def __init__(
        self,
        resource_version: str,
        open_watch: Callable[[str], Awaitable[StreamWatcher[ObjectT]]],
        *,
        bookmarks: bool = False,
        min_restart_delay: float = MIN_RESTART_DELAY,
        clock: Clock | None = None,
    ) -> None:
        if resource_version in ("", "0"):
            raise ValueError(
                f'initial RV "{resource_version}" is not supported due to issues with underlying'
                " WATCH"
            )
        self.resource_version = resource_version
        self._open_watch = open_watch
        self._bookmarks = bookmarks
        self._min_restart_delay = min_restart_delay
        self._clock = clock or SystemClock()
        self._stream: StreamWatcher[ObjectT] | None = None
        self._stop_signal = StopSignal()
        self._opened_at: float | None = None
        self._delay = 0.0

    def stop(self) -> None:
        """End the watch, even while a caller waits for its next event; idempotent."""
        self._stop_signal.stop()
        if self._stream is not None:
            self._stream.stop()

    async def aclose(self) -> None:
        self.stop()

    async def __aenter__(self) -> "RetryWatcher[ObjectT]":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()

    def __aiter__(self) -> AsyncIterator[ObjectEvent[ObjectT | Status]]:
        return self

    async def __anext__(self) -> ObjectEvent[ObjectT | Status]:
        try:
            while not self._stop_signal:
                event = await self._next()
                if event is not None:
                    return event
        except BaseException:
            self.stop()
            raise
        raise StopAsyncIteration

    async def _next(self) -> ObjectEvent[ObjectT | Status] | None:
        """Open a stream or read an event; return the event, or None if there is none to yield."""
        if self._stream is None:
            return await self._open()
        try:
            event = await self._stream.__anext__()
        except StopAsyncIteration:
            self._stream = None
            return None
        if event.type is EventType.ERROR:
            return self._handle_error(event)
        obj = event.object
        version = obj.metadata.resource_version if isinstance(obj, Object) else ""
        if not version:
            return self._end(InternalError.of("retryWatcher: object has no resourceVersion"))
        self.resource_version = version
        return event if event.type is not EventType.BOOKMARK or self._bookmarks else None

    async def _open(self) -> ObjectEvent[ObjectT | Status] | None:
        await self._pause()
        if self._stop_signal:
            return None
        try:
            await self._stop_signal.run_until_stopped(self._connect())
        except (Forbidden, Unauthorized) as error:
            return self._end(error)
        except (APIError, TransportError) as error:
            log.info("unable to open watch, retrying: %s", error)
        if self._stop_signal and self._stream is not None:
            self._stream.stop()
        return None

    async def _connect(self) -> None:
        # Assigned here and not by the caller, so that stop() closes the stream even if the caller
        # is cancelled at this moment.
        self._stream = await self._open_watch(self.resource_version)

    async def _pause(self) -> None:
        """Wait for the server's Retry-After and for the minimum delay between two streams."""
        delay, self._delay = self._delay, 0.0
        now = self._clock.monotonic()
        if self._opened_at is not None:
            delay = max(delay, self._opened_at + self._min_restart_delay - now)
        if delay > 0:
            await self._stop_signal.run_until_stopped(self._clock.sleep(delay))
        self._opened_at = self._clock.monotonic()

    def _handle_error(
        self, event: ObjectEvent[ObjectT | Status]
    ) -> ObjectEvent[ObjectT | Status] | None:
        """End the watch if it cannot resume (410); otherwise close its stream to reopen it."""
        error = event.error
        if error.code == 410:
            self.stop()
            return event
        log.info("watch ended with an error, retrying: %s", error)
        self._delay = error.retry_after
        if self._stream is not None:
            self._stream.stop()
            self._stream = None
        return None

    def _end(self, error: APIError) -> ObjectEvent[ObjectT | Status]:
        self.stop()
        return ObjectEvent(EventType.ERROR, error.status)
