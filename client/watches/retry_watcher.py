"""RetryWatcher: a watch that goes on where it was when its stream ends.

Servers end every watch after a while, and networks end them at any time. This one opens the next
from the last resourceVersion it saw, and ends only when that is forgotten (410), when it may not
watch (401, 403), or when what it sees makes it impossible to go on.
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
"""Seconds from one opening to the next at the least."""


class RetryWatcher(Generic[ObjectT]):
    """Events from one resourceVersion on, over as many streams as it takes.

    *open_watch* opens a stream from a resourceVersion, with bookmarks; they are passed on only to
    those who ask for them.
    Iterating gives the changes, and at the end of a watch that cannot go on an ERROR event.
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
        self._ended = StopSignal()
        self._opened_at: float | None = None
        self._delay = 0.0

    def stop(self) -> None:
        """End the watch, also under somebody who waits for an event; may be repeated."""
        self._ended.stop()
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
            while not self._ended:
                event = await self._next()
                if event is not None:
                    return event
        except BaseException:
            self.stop()
            raise
        raise StopAsyncIteration

    async def _next(self) -> ObjectEvent[ObjectT | Status] | None:
        """The next event to pass on; None when there is another turn to take."""
        if self._stream is None:
            return await self._open()
        try:
            event = await self._stream.__anext__()
        except StopAsyncIteration:
            self._stream = None
            return None
        if event.type is EventType.ERROR:
            return self._failed(event)
        seen = event.object
        version = seen.metadata.resource_version if isinstance(seen, Object) else ""
        if not version:
            return self._end(InternalError.of("retryWatcher: object has no resourceVersion"))
        self.resource_version = version
        return event if event.type is not EventType.BOOKMARK or self._bookmarks else None

    async def _open(self) -> ObjectEvent[ObjectT | Status] | None:
        await self._pause()
        if self._ended:
            return None
        try:
            await self._ended.run_until_stopped(self._connect())
        except (Forbidden, Unauthorized) as error:
            return self._end(error)
        except (APIError, TransportError) as error:
            log.info("watch failed, trying again: %s", error)
        if self._ended and self._stream is not None:
            self._stream.stop()
        return None

    async def _connect(self) -> None:
        # Kept at once: whoever is cancelled in this moment still finds the stream and closes it.
        self._stream = await self._open_watch(self.resource_version)

    async def _pause(self) -> None:
        """Wait as long as the server asked, and never open two streams within a second."""
        delay, self._delay = self._delay, 0.0
        now = self._clock.monotonic()
        if self._opened_at is not None:
            delay = max(delay, self._opened_at + self._min_restart_delay - now)
        if delay > 0:
            await self._ended.run_until_stopped(self._clock.sleep(delay))
        self._opened_at = self._clock.monotonic()

    def _failed(self, event: ObjectEvent[ObjectT | Status]) -> ObjectEvent[ObjectT | Status] | None:
        error = event.error
        if error.code == 410:
            self.stop()
            return event
        log.info("watch ended, trying again: %s", error)
        self._delay = error.retry_after
        if self._stream is not None:
            self._stream.stop()
            self._stream = None
        return None

    def _end(self, error: APIError) -> ObjectEvent[ObjectT | Status]:
        self.stop()
        return ObjectEvent(EventType.ERROR, error.status)
