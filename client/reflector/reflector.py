"""Reflector: keeps a store, or the queue before one, equal to a collection of a server.

It lists once and then follows the changes. A watch that ends in the ordinary way goes on where it
was; after anything else the collection is listed again, from a state not older than the last one
seen, and never sooner than the backoff allows. A reflector does not give up: what goes wrong is
told to an error handler, and tried again.
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
    is_expired,
    is_unavailable,
    is_worth_waiting,
)
from client.reflector.list_watch import EventStream, ListerWatcher
from client.reflector.relist import ANYTHING, NEWEST, list_all, page_size_for
from client.reflector.watch_intake import Intake, IntakeTarget
from client.runtime.background import alongside
from client.runtime.clock import Clock, SystemClock

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.client.informer")

ErrorHandler: TypeAlias = Callable[[Exception], None]
"""Told of every list and watch that failed; it must not take long."""

WATCH_SECONDS: Final = 300
"""A watch is asked for this long, or up to twice as long: not all end together."""
BOOKMARK_WARNING: Final = 10.0
"""Seconds after which a stream that should begin with what exists looks stuck."""


class Reflector(Generic[T]):
    """Lists and watches *source* into *target*, until it is cancelled.

    With *use_watch_list* the first state is streamed as well; a server that cannot do so is
    listed. *resync* seconds apart the target is asked to tell everything again, if
    *should_resync* agrees; the server has no part in that.
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
        """How far the collection has been seen."""
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
        self._unavailable = False
        self._server_pages = False

    async def run(self) -> None:
        """Keep the target up to date for ever."""
        while True:
            try:
                await self.list_and_watch()
            except Exception as error:  # whatever it is, a cache must go on being filled
                self._tell(error)
            await self._backoff.wait()

    async def list_and_watch(self) -> None:
        """Bring the target to the present and follow it, until a new list is needed."""
        stream = await self._stream_initial() if self._use_watch_list else None
        if stream is None:
            await self._list()
        try:
            async with alongside(self._resync_loop(), name=f"{self.name} resync"):
                await self._watch(stream)
        finally:
            if stream is not None:
                stream.stop()

    # The first state, as a list

    async def _list(self) -> None:
        asked = self._relist_version()
        size = page_size_for(asked, wanted=self._page_size, server_pages=self._server_pages)
        try:
            page, paginated = await list_all(self._source, asked, page_size=size)
        except APIError as error:
            if not is_unavailable(error):
                raise
            self._unavailable = True
            page, paginated = await list_all(self._source, NEWEST, page_size=size)
        if asked == ANYTHING and paginated:
            self._server_pages = True
        self._unavailable = False
        self._target.replace(page.items, page.resource_version)
        self.last_sync_resource_version = page.resource_version

    def _relist_version(self) -> str:
        if self._unavailable:
            return NEWEST
        return self.last_sync_resource_version or ANYTHING

    # The first state, as the beginning of a watch

    async def _stream_initial(self) -> EventStream[T] | None:
        """A watch that has brought what exists and goes on; None if a list must do it instead."""
        while True:
            asked = NEWEST if self._unavailable else self.last_sync_resource_version
            try:
                stream = await self._open_with_initial_events(asked)
            except Exception as error:  # whatever it is, a list may still succeed
                if not await self._may_stream_again(error, asked):
                    level = logging.DEBUG if isinstance(error, APIError) else logging.WARNING
                    log.log(level, "%s: falling back to a list: %s", self.name, error)
                    return None
                continue
            if stream is not None:
                self._unavailable = False
                return stream
            # It brought something and not all of it; the next one may fare no better.
            await self._backoff.wait()

    async def _open_with_initial_events(self, resource_version: str) -> EventStream[T] | None:
        start = self._clock.monotonic()
        stream = await self._source.watch(self._watch_options(resource_version, initial=True))
        whole = False
        try:
            whole = await self._take_initial(stream, start)
        finally:
            if not whole:
                stream.stop()
        return stream if whole else None

    async def _take_initial(self, stream: EventStream[T], start: float) -> bool:
        # Collected apart: what the target has stays good until this is whole.
        collected: Store[T] = Store()
        silence = _Silence(self.name, self._clock)
        async with alongside(silence.warn(), name=f"{self.name} bookmark"):
            reached = await self._intake.read_initial(
                stream, collected, start=start, heard=silence.broken
            )
        if reached:
            self._target.replace(collected.objects(), reached)
            self.last_sync_resource_version = reached
        return bool(reached)

    async def _may_stream_again(self, error: Exception, asked: str) -> bool:
        if is_worth_waiting(error):
            await self._backoff.wait()
            return True
        if is_unavailable(error) and asked != NEWEST:
            self._unavailable = True
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
                if not is_worth_waiting(error):
                    raise
                log.debug("%s: watch could not be opened, backing off: %s", self.name, error)
                await self._backoff.wait()
                continue
            try:
                await self._intake.read(
                    stream,
                    self._target,
                    start=start,
                    began_at=self.last_sync_resource_version,
                    advance=self._advance,
                )
            except (APIError, OSError, VeryShortWatch) as error:
                if not await self._goes_on(error, retry):
                    return
            finally:
                stream.stop()
            stream = None

    async def _goes_on(self, error: Exception, retry: RetryWindow) -> bool:
        """Whether a watch that failed is simply opened again; if not, there must be a new list."""
        if is_expired(error):
            # The state seen last may well be gone for watches and good enough for a list, which
            # only wants one that is not older.
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

    # Beside them

    async def _resync_loop(self) -> None:
        while self._resync > 0:
            await self._clock.sleep(self._resync)
            if self._should_resync is None or self._should_resync():
                self._target.resync()

    def _tell(self, error: Exception) -> None:
        try:
            self._on_error(error)
        except Exception:  # the handler is somebody else's
            log.exception("%s: the error handler failed", self.name)

    def _log_error(self, error: Exception) -> None:
        level = logging.DEBUG if is_expired(error) else logging.ERROR
        log.log(level, "%s: failed to list or watch: %s", self.name, error)


class _Silence:
    """Complains every ten seconds in which a stream of what exists brings nothing."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._last = clock.monotonic()

    def broken(self) -> None:
        self._last = self._clock.monotonic()

    async def warn(self) -> None:
        while True:
            await self._clock.sleep(BOOKMARK_WARNING)
            silent = self._clock.monotonic() - self._last
            if silent >= BOOKMARK_WARNING:
                log.warning(
                    "%s: the bookmark after the existing objects has not come, nothing for %.0fs",
                    self._name,
                    silent,
                )
