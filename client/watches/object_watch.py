"""Watch and wait: implements `ResourceClient.watch`, `wait` and `wait_deleted`.

A watch yields the existing objects and then every change, and reconnects by itself. A wait watches
one object until a predicate is true for it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Final, TypeVar

from apimachinery.errors import Expired, Gone
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.watch import EventType, ObjectEvent
from client.errors import Deleted, WaitTimeout
from client.interface import Watch
from client.paging import PAGE_SIZE, Listing, Page
from client.runtime.clock import Clock
from client.runtime.stopping import StopSignal
from client.watches.retry_watcher import RetryWatcher
from client.watches.stream_watcher import ListWatch, StreamWatcher

ObjectT = TypeVar("ObjectT", bound=Object)

_ANY_VERSION: Final = ("", "0")
"""The resourceVersions that name no point from which a watch can start."""


class ResumingWatch(Watch[ObjectT]):
    """Lists the existing objects, unless *options* has a resourceVersion, then watches changes."""

    def __init__(
        self,
        source: ListWatch[ObjectT],
        options: ListOptions,
        *,
        bookmarks: bool = False,
        clock: Clock,
    ) -> None:
        self._source = source
        self._options = options
        self._bookmarks = bookmarks
        self._clock = clock
        self._version = options.resource_version
        self._watcher: RetryWatcher[ObjectT] | None = None
        self._stop_signal = StopSignal()
        self._events = self._run()

    @property
    def resource_version(self) -> str:
        return self._watcher.resource_version if self._watcher else self._version

    def stop(self) -> None:
        self._stop_signal.stop()
        if self._watcher is not None:
            self._watcher.stop()

    def __aiter__(self) -> AsyncIterator[ObjectEvent[ObjectT]]:
        return self

    async def __anext__(self) -> ObjectEvent[ObjectT]:
        if self._stop_signal:
            raise StopAsyncIteration
        try:
            event = await self._events.__anext__()
        except BaseException:
            self.stop()
            raise
        if self._stop_signal:  # stopped while the event arrived: drop it
            raise StopAsyncIteration
        return event

    async def _run(self) -> AsyncIterator[ObjectEvent[ObjectT]]:
        if self._version in _ANY_VERSION:
            async for event in self._list_existing():
                yield event
        if self._stop_signal:
            return
        self._watcher = RetryWatcher(
            self._version, self._open, bookmarks=self._bookmarks, clock=self._clock
        )
        async for change in self._watcher:
            if isinstance(change.object, Status):
                raise change.error
            yield ObjectEvent(change.type, change.object)

    async def _list_existing(self) -> AsyncIterator[ObjectEvent[ObjectT]]:
        options = self._options.model_copy(update={"limit": PAGE_SIZE})
        async for page in Listing(self._list, options).pages():
            # All pages show the snapshot of the first one, from which the watch then continues.
            if self._version in _ANY_VERSION:
                self._version = page.resource_version
            for obj in page.items:
                yield ObjectEvent(EventType.ADDED, obj)

    async def _list(self, options: ListOptions) -> Page[ObjectT]:
        page = await self._stop_signal.run_until_stopped(self._source.list(options))
        return Page() if page is None else page

    async def _open(self, resource_version: str) -> StreamWatcher[ObjectT]:
        options = self._options.model_copy(
            update={"resource_version": resource_version, "allow_watch_bookmarks": True}
        )
        return await self._source.watch(options)


async def wait_for_object(
    source: ListWatch[ObjectT],
    name: str,
    predicate: Callable[[ObjectT | None], bool],
    *,
    timeout: float,
    missing_ok: bool,
    clock: Clock,
) -> ObjectT | None:
    """Wait until *predicate* is true for the named object, and return the object.

    *predicate* is called with None, and None is returned, for an object that does not exist.
    Raises WaitTimeout after *timeout* seconds, and, unless *missing_ok*, Deleted if the object is
    deleted after it existed.
    """
    last: ObjectT | None = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    async with aclosing(_states(source, name, clock)) as states:
                        async for current in states:
                            if current is None and last is not None and not missing_ok:
                                raise Deleted(f'"{name}" was deleted during the wait', last)
                            last = current
                            if predicate(current):
                                return current
                except (Expired, Gone):
                    continue  # the server no longer has the events to resume from: list again
    except TimeoutError as error:
        if isinstance(error, ConnectionError):
            raise
        state = "was not found" if last is None else "does not meet the condition"
        raise WaitTimeout(f'timed out after {timeout:g}s: "{name}" {state}', last) from None


async def _states(
    source: ListWatch[ObjectT], name: str, clock: Clock
) -> AsyncGenerator[ObjectT | None, None]:
    """Yield the object now and after every change; None while it does not exist."""
    options = ListOptions(field_selector=f"metadata.name={name}")
    page = await source.list(options)
    # Checked again here, because a server may ignore the field selector.
    yield next((obj for obj in page.items if obj.metadata.name == name), None)
    options.resource_version = page.resource_version
    watch = ResumingWatch(source, options, clock=clock)
    async with watch:
        async for event in watch:
            yield None if event.type is EventType.DELETED else event.object
