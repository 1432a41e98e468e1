"""Registration: one handler of an informer, and the notifications that wait for it.

Each handler is told in its own task, one notification after the other, so a slow one delays
nobody else. What waits for it is not bounded, because nothing may be lost and nobody else may be
held up; a handler that falls far behind is named in the log at 10,000 notifications, and again
whenever their number has doubled. Those of the first list do not count: they come all at once.
"""

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.keys import DeletedObject
from client.informer.event_handlers import Handler, Outcome
from client.runtime.background import is_own_cancellation, within
from client.runtime.clock import Clock
from client.runtime.waiting import ConditionWaiters

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.client.informer")

HIGH_WATER: Final = 10_000
AFTER_FAILURE: Final = 1.0
"""Seconds to wait after a handler raised: it may raise for the next one as well."""
SLOW: Final = 0.1
"""Seconds after which a handler has held up the event loop for too long."""
TURN: Final = 0.005
"""Seconds after which others get a turn on the event loop."""


class AddNotification(NamedTuple, Generic[T]):
    object: T
    is_in_initial_list: bool


class UpdateNotification(NamedTuple, Generic[T]):
    old: T
    new: T


Notification: TypeAlias = AddNotification[T] | UpdateNotification[T] | DeletedObject[T]


class Registration(Generic[T]):
    """A handler that was added to an informer."""

    def __init__(
        self,
        handler: Handler[T],
        *,
        name: str,
        clock: Clock,
        threaded: bool,
        informer_synced: Callable[[], bool],
        on_remove: "Callable[[Registration[T]], None]",
        high_water: int = HIGH_WATER,
    ) -> None:
        self.name = name
        self.failures = 0
        """How often the handler raised."""
        self.removed = False
        self._handler = handler
        self._clock = clock
        self._threaded = threaded
        self._informer_synced = informer_synced
        self._on_remove = on_remove
        self._pending: deque[Notification[T]] = deque()
        self._arrived = asyncio.Event()
        self._initial = 0
        self._high_water = high_water
        self._running = False
        self._waiting = ConditionWaiters()

    # For whoever added the handler

    @property
    def pending(self) -> int:
        """How many notifications wait."""
        return len(self._pending)

    @property
    def has_synced(self) -> bool:
        """Whether the handler has been told of everything that was in the first list."""
        return not self._initial and self._informer_synced()

    async def wait_synced(self, timeout: float | None = None) -> None:
        """Return when it `has_synced`; TimeoutError after *timeout* seconds."""
        await within(self._clock, timeout, self._waiting.until(lambda: self.has_synced))

    def remove(self) -> None:
        """Tell the handler nothing more; what waits is dropped, a running call is not stopped.

        May be repeated. A handler can remove itself.
        """
        if not self.removed:
            self.removed = True
            self._on_remove(self)
        self._pending.clear()
        self._arrived.set()

    async def wait_removed(self) -> None:
        """Return when the handler has been removed and is not running any more."""
        await self._waiting.until(lambda: self.removed and not self._running)

    # For the informer

    def notify(self, notification: Notification[T]) -> None:
        if self.removed:
            return
        if isinstance(notification, AddNotification) and notification.is_in_initial_list:
            self._initial += 1
        self._pending.append(notification)
        self._arrived.set()
        if len(self._pending) - self._initial > self._high_water:
            self._high_water *= 2
            log.warning("%s: %d notifications wait for this handler", self.name, self.pending)

    def check_synced(self) -> None:
        """Let those know who wait for it, now that the informer may have."""
        self._waiting.check()

    async def run(self) -> None:
        """Tell the handler what comes until it is removed."""
        try:
            while not self.removed:
                await self._deliver_pending()
                self._arrived.clear()
                if not self._pending and not self.removed:
                    await self._arrived.wait()
        finally:
            self._running = False
            self._waiting.check()

    def end(self, why: str) -> None:
        """The informer has stopped."""
        self.remove()
        self._waiting.end(why)

    async def _deliver_pending(self) -> None:
        turn_ends = self._clock.monotonic() + TURN
        while self._pending:
            notification = self._pending.popleft()
            self._running = True
            try:
                await self._deliver(notification)
            except (Exception, asyncio.CancelledError) as error:
                if is_own_cancellation(error):
                    raise
                # The handler is somebody else's, and its next call may succeed.
                self.failures += 1
                log.exception("%s: handler failed, its notification is skipped", self.name)
                self._running = False
                await self._clock.sleep(AFTER_FAILURE)
            self._running = False
            if isinstance(notification, AddNotification) and notification.is_in_initial_list:
                self._initial -= 1
                self._waiting.check()
            if self._clock.monotonic() > turn_ends:
                await asyncio.sleep(0)
                turn_ends = self._clock.monotonic() + TURN

    async def _deliver(self, notification: Notification[T]) -> None:
        if self._threaded:
            outcome = await asyncio.to_thread(self._call, notification)
        else:
            start = self._clock.monotonic()
            outcome = self._call(notification)
            if (held_up := self._clock.monotonic() - start) > SLOW:
                log.warning("%s: handler held up the event loop for %.3fs", self.name, held_up)
        if outcome is not None and inspect.isawaitable(outcome):
            await outcome

    def _call(self, notification: Notification[T]) -> Outcome:
        if isinstance(notification, AddNotification):
            return self._handler.on_add(notification.object, notification.is_in_initial_list)
        if isinstance(notification, UpdateNotification):
            return self._handler.on_update(notification.old, notification.new)
        return self._handler.on_delete(notification)
