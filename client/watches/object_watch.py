"""Watching for users: what exists, then every change, over as many connections as it takes.

And waiting, which is watching one object until something is true of it.
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

_ANY: Final = ("", "0")
"""The resourceVersions that say nothing about where to begin."""


class ResumingWatch(Watch[ObjectT]):
    """A list, unless there is a resourceVersion to start at, and a `RetryWatcher` behind it."""

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
        self._stopping = StopSignal()
        self._events = self._run()

    @property
    def resource_version(self) -> str:
        return self._watcher.resource_version if self._watcher else self._version

    def stop(self) -> None:
        self._stopping.stop()
        if self._watcher is not None:
            self._watcher.stop()

    def __aiter__(self) -> AsyncIterator[ObjectEvent[ObjectT]]:
        return self

    async def __anext__(self) -> ObjectEvent[ObjectT]:
        if self._stopping:
            raise StopAsyncIteration
        try:
            event = await self._events.__anext__()
        except BaseException:
            self.stop()
            raise
        if self._stopping:  # while the event was on its way; nobody waits for it any more
            raise StopAsyncIteration
        return event

    async def _run(self) -> AsyncIterator[ObjectEvent[ObjectT]]:
        if self._version in _ANY:
            async for event in self._existing():
                yield event
        if self._stopping:
            return
        self._watcher = RetryWatcher(
            self._version, self._open, bookmarks=self._bookmarks, clock=self._clock
        )
        async for found in self._watcher:
            if isinstance(found.object, Status):
                raise found.error
            yield ObjectEvent(found.type, found.object)

    async def _existing(self) -> AsyncIterator[ObjectEvent[ObjectT]]:
        options = self._options.model_copy(update={"limit": PAGE_SIZE})
        async for page in Listing(self._list, options).pages():
            # The first page says which state is listed; a watch goes on from there.
            if self._version in _ANY:
                self._version = page.resource_version
            for obj in page.items:
                yield ObjectEvent(EventType.ADDED, obj)

    async def _list(self, options: ListOptions) -> Page[ObjectT]:
        page = await self._stopping.run_until_stopped(self._source.list(options))
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
    """The object of one name as soon as *predicate* is true of it, None for one that is absent.

    Once it has been there, its absence is Deleted, unless *missing_ok*.
    """
    last: ObjectT | None = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    async with aclosing(_states(source, name, clock)) as states:
                        async for current in states:
                            if current is None and last is not None and not missing_ok:
                                raise Deleted(f'"{name}" was deleted while waited for', last)
                            last = current
                            if predicate(current):
                                return current
                except (Expired, Gone):
                    continue  # what happened since is forgotten: look again
    except TimeoutError as error:
        if isinstance(error, ConnectionError):
            raise
        state = "never existed" if last is None else "is not there yet"
        raise WaitTimeout(f'timed out after {timeout:g}s: "{name}" {state}', last) from None


async def _states(
    source: ListWatch[ObjectT], name: str, clock: Clock
) -> AsyncGenerator[ObjectT | None, None]:
    """The object now and after every change; None while there is none."""
    options = ListOptions(field_selector=f"metadata.name={name}")
    page = await source.list(options)
    found = next((obj for obj in page.items if obj.metadata.name == name), None)
    yield found
    options.resource_version = page.resource_version
    watch = ResumingWatch(source, options, clock=clock)
    async with watch:
        async for event in watch:
            yield None if event.type is EventType.DELETED else event.object
