"""Reflector: lists and watches a collection into a store, or into the queue in front of one.

After the first list it watches for changes. A watch that the server ends regularly is resumed;
after any other end the collection is listed again, at a state not older than the last one seen,
and not before the backoff has passed. A reflector never gives up: errors are passed to an error
handler and retried.
"""

import logging
import random
from collections.abc import Callable
from typing import Final, Generic, TypeAlias, TypeVar

from apimachinery.errors import APIError, InternalError, TooManyRequests
from apimachinery.meta.options import NOT_OLDER_THAN, ListOptions
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersionKind
from client.cache.store import Store
from client.reflector.backoff import Backoff, RetryWindow
from client.reflector.error_policy import (
    VeryShortWatch,
    can_resume_later,
    is_expired,
    is_version_unavailable,
)
from client.reflector.list_watch import EventStream, ListerWatcher
from client.reflector.relist import ANY, MOST_RECENT, list_all, page_size_for
from client.reflector.watch_intake import Intake, IntakeTarget
from client.runtime.background import alongside
from client.runtime.clock import Clock, SystemClock

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.client.informer")

ErrorHandler: TypeAlias = Callable[[Exception], None]
"""Called with the error of every failed list and watch; it must return quickly."""

WATCH_SECONDS: Final = 300
"""The requested duration of a watch, up to twice as long at random: not all end together."""
BOOKMARK_WARNING: Final = 10.0
"""Seconds without an event after which the initial stream of a watch-list looks stuck."""


class Reflector(Generic[T]):
    """Lists and watches *source* into *target*, until it is cancelled.

    With *use_watch_list* the existing objects are streamed by the watch; if the server does not
    support that, they are listed. Every *resync* seconds the target repeats its objects to the
    handlers, if *should_resync* returns true; that sends no request.
    """

    def __init__(
        self,
        source: ListerWatcher[T],
        target: IntakeTarget[T],
        *,
        name: str = "reflector",
        expected: type[T] | None = None,
        kind: GroupVersionKind | None = None,
        use_watch_list: bool = True,
        page_size: int = 0,
        resync: float = 0,
        should_resync: Callable[[], bool] | None = None,
        on_error: ErrorHandler | None = None,
        internal_error_retry: float = 0,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.last_sync_resource_version = ""
        """The newest resourceVersion that was observed."""
        self._source = source
        self._target = target
        self._use_watch_list = use_watch_list
        self._page_size = page_size
        self._resync = resync
        self._should_resync = should_resync
        self._on_error = on_error or self._log_error
        self._internal_error_retry = internal_error_retry
        self._clock = clock or SystemClock()
        self._chance = chance
        self._backoff = Backoff(self._clock, chance=chance)
        self._intake = Intake(name, self._clock, expected=expected, kind=kind)
        self._is_version_unavailable = False
        self._server_pages = False

    async def run(self) -> None:
        """Keep the target up to date until cancelled."""
        while True:
            try:
                await self.list_and_watch()
            except Exception as error:  # no error may stop a cache from being updated
                self._report(error)
            await self._backoff.wait()

    async def list_and_watch(self) -> None:
        """List, then watch until the collection has to be listed again."""
        stream = await self._stream_initial() if self._use_watch_list else None
        if stream is None:
            await self._list()
        try:
            async with alongside(self._resync_loop(), name=f"{self.name} resync"):
                await self._watch(stream)
        finally:
            if stream is not None:
                stream.stop()

    # Existing objects by a list

    async def _list(self) -> None:
        version = self._relist_version()
        size = page_size_for(version, configured=self._page_size, server_pages=self._server_pages)
        try:
            page, paginated = await list_all(self._source, version, page_size=size)
        except APIError as error:
            if not is_version_unavailable(error):
                raise
            self._is_version_unavailable = True
            page, paginated = await list_all(self._source, MOST_RECENT, page_size=size)
        if version == ANY and paginated:
            self._server_pages = True
        self._is_version_unavailable = False
        self._target.replace(page.items, page.resource_version)
        self.last_sync_resource_version = page.resource_version

    def _relist_version(self) -> str:
        if self._is_version_unavailable:
            return MOST_RECENT
        return self.last_sync_resource_version or ANY

    # Existing objects by a watch-list

    async def _stream_initial(self) -> EventStream[T] | None:
        """Open a watch and read the existing objects from it; None if they must be listed."""
        while True:
            version = (
                MOST_RECENT if self._is_version_unavailable else self.last_sync_resource_version
            )
            try:
                stream = await self._open_with_initial_events(version)
            except Exception as error:  # a list may succeed where the watch-list failed
                if not await self._may_stream_again(error, version):
                    level = logging.DEBUG if isinstance(error, APIError) else logging.WARNING
                    log.log(level, "%s: falling back to a list: %s", self.name, error)
                    return None
                continue
            if stream is not None:
                self._is_version_unavailable = False
                return stream
            # The stream ended before its bookmark; the next one may end early as well.
            await self._backoff.wait()

    async def _open_with_initial_events(self, resource_version: str) -> EventStream[T] | None:
        start = self._clock.monotonic()
        stream = await self._source.watch(self._watch_options(resource_version, initial=True))
        complete = False
        try:
            complete = await self._read_initial(stream, start)
        finally:
            if not complete:
                stream.stop()
        return stream if complete else None

    async def _read_initial(self, stream: EventStream[T], start: float) -> bool:
        # Collected separately: the target stays valid until the new state is complete.
        collected: Store[T] = Store()
        watchdog = _BookmarkWatchdog(self.name, self._clock)
        async with alongside(watchdog.run(), name=f"{self.name} bookmark"):
            version = await self._intake.read_initial(
                stream, collected, start=start, on_event=watchdog.reset
            )
        if version:
            self._target.replace(collected.objects(), version)
            self.last_sync_resource_version = version
        return bool(version)

    async def _may_stream_again(self, error: Exception, version: str) -> bool:
        if can_resume_later(error):
            await self._backoff.wait()
            return True
        if is_version_unavailable(error) and version != MOST_RECENT:
            self._is_version_unavailable = True
            return True
        return False

    # Changes

    async def _watch(self, stream: EventStream[T] | None) -> None:
        retry = RetryWindow(self._clock, self._internal_error_retry)
        while True:
            start = self._clock.monotonic()
            try:
                stream = stream or await self._source.watch(
                    self._watch_options(self.last_sync_resource_version)
                )
            except (APIError, OSError) as error:
                if not can_resume_later(error):
                    raise
                log.debug("%s: failed to open the watch, backing off: %s", self.name, error)
                await self._backoff.wait()
                continue
            try:
                await self._intake.read(
                    stream,
                    self._target,
                    start=start,
                    resource_version=self.last_sync_resource_version,
                    advance=self._advance,
                )
            except (APIError, OSError, VeryShortWatch) as error:
                if not await self._may_resume(error, retry):
                    return
            finally:
                stream.stop()
            stream = None

    async def _may_resume(self, error: Exception, retry: RetryWindow) -> bool:
        """Return whether to resume a watch that failed; if not, the collection is listed again."""
        if is_expired(error):
            # The last resourceVersion is kept: too old for a watch, it is still valid for a list,
            # which only requires a state that is not older.
            log.debug("%s: watch closed with: %s", self.name, error)
            return False
        if isinstance(error, TooManyRequests):
            await self._backoff.wait()
            return True
        if isinstance(error, InternalError) and retry.allows():
            log.info("%s: retrying after an internal error: %s", self.name, error)
            return True
        log.warning("%s: watch ended with: %s", self.name, error)
        return False

    def _watch_options(self, resource_version: str, *, initial: bool = False) -> ListOptions:
        return ListOptions(
            watch=True,
            resource_version=resource_version,
            allow_watch_bookmarks=True,
            timeout_seconds=int(WATCH_SECONDS * (1 + self._chance())),
            send_initial_events=True if initial else None,
            resource_version_match=NOT_OLDER_THAN if initial else "",
        )

    def _advance(self, resource_version: str) -> None:
        self.last_sync_resource_version = resource_version

    # Resync and errors

    async def _resync_loop(self) -> None:
        while self._resync > 0:
            await self._clock.sleep(self._resync)
            if self._should_resync is None or self._should_resync():
                self._target.resync()

    def _report(self, error: Exception) -> None:
        try:
            self._on_error(error)
        except Exception:  # a faulty error handler must not stop the reflector
            log.exception("%s: the error handler failed", self.name)

    def _log_error(self, error: Exception) -> None:
        level = logging.DEBUG if is_expired(error) else logging.ERROR
        log.log(level, "%s: failed to list or watch: %s", self.name, error)


class _BookmarkWatchdog:
    """Logs a warning every ten seconds in which the initial stream delivers no event."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._last_event = clock.monotonic()

    def reset(self) -> None:
        self._last_event = self._clock.monotonic()

    async def run(self) -> None:
        while True:
            await self._clock.sleep(BOOKMARK_WARNING)
            silence = self._clock.monotonic() - self._last_event
            if silence >= BOOKMARK_WARNING:
                log.warning(
                    "%s: no event for %.0fs, still waiting for the bookmark after the existing"
                    " objects",
                    self._name,
                    silence,
                )
