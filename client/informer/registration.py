"""Registration: one handler of an informer and its pending notifications.

Each handler is called in its own task, one notification at a time, so a slow handler delays no
other. Its queue is unbounded, because no notification may be lost and no other handler delayed. A
handler that falls behind is named in the log at 10,000 pending notifications, and again whenever
their number doubles. Notifications of the first list, which arrive all at once, do not count.
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
FAILURE_DELAY: Final = 1.0
"""Seconds to wait after a handler raised: it may well raise for the next notification too."""
BLOCKING_WARNING: Final = 0.1
"""Seconds; a handler that blocks the event loop for longer is named in the log."""
MAX_TURN: Final = 0.005
"""Seconds for which notifications are delivered before other tasks get their turn."""


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
        """How often the handler has raised an exception."""
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

    # Called by the owner of the handler

    @property
    def pending(self) -> int:
        """The number of notifications that were not delivered yet."""
        return len(self._pending)

    @property
    def has_synced(self) -> bool:
        """Whether the handler was notified of every object of the first list."""
        return not self._initial and self._informer_synced()

    async def wait_synced(self, timeout: float | None = None) -> None:
        """Return when the handler `has_synced`. Raises TimeoutError after *timeout* seconds."""
        await within(self._clock, timeout, self._waiting.until(lambda: self.has_synced))

    def remove(self) -> None:
        """Remove the handler: drop its pending notifications, but let a running call finish.

        May be called repeatedly, and by the handler itself.
        """
        if not self.removed:
            self.removed = True
            self._on_remove(self)
        self._pending.clear()
        self._arrived.set()

    async def wait_removed(self) -> None:
        """Return when the handler was removed and its last call has finished."""
        await self._waiting.until(lambda: self.removed and not self._running)

    # Called by the informer

    def notify(self, notification: Notification[T]) -> None:
        if self.removed:
            return
        if isinstance(notification, AddNotification) and notification.is_in_initial_list:
            self._initial += 1
        self._pending.append(notification)
        self._arrived.set()
        if len(self._pending) - self._initial > self._high_water:
            self._high_water *= 2
            log.warning("%s: %d notifications are pending", self.name, self.pending)

    def check_synced(self) -> None:
        """Wake the callers of `wait_synced` if the handler has synced, as the informer just did."""
        self._waiting.check()

    async def run(self) -> None:
        """Deliver notifications until the handler is removed."""
        try:
            while not self.removed:
                await self._deliver_pending()
                self._arrived.clear()
                if not self._pending and not self.removed:
                    await self._arrived.wait()
        finally:
            self._running = False
            self._waiting.check()

    def end(self, reason: str) -> None:
        """Remove the handler of an informer that has ended, and fail its waiting callers."""
        self.remove()
        self._waiting.end(reason)

    async def _deliver_pending(self) -> None:
        turn_ends = self._clock.monotonic() + MAX_TURN
        while self._pending:
            notification = self._pending.popleft()
            self._running = True
            try:
                await self._deliver(notification)
            except (Exception, asyncio.CancelledError) as error:
                if is_own_cancellation(error):
                    raise
                # An error of a handler concerns this notification only; the next may succeed.
                self.failures += 1
                log.exception("%s: handler failed, its notification is skipped", self.name)
                self._running = False
                await self._clock.sleep(FAILURE_DELAY)
            self._running = False
            if isinstance(notification, AddNotification) and notification.is_in_initial_list:
                self._initial -= 1
                self._waiting.check()
            if self._clock.monotonic() > turn_ends:
                await asyncio.sleep(0)
                turn_ends = self._clock.monotonic() + MAX_TURN

    async def _deliver(self, notification: Notification[T]) -> None:
        if self._threaded:
            outcome = await asyncio.to_thread(self._call, notification)
        else:
            start = self._clock.monotonic()
            outcome = self._call(notification)
            if (elapsed := self._clock.monotonic() - start) > BLOCKING_WARNING:
                log.warning("%s: handler blocked the event loop for %.3fs", self.name, elapsed)
        if outcome is not None and inspect.isawaitable(outcome):
            await outcome

    def _call(self, notification: Notification[T]) -> Outcome:
        if isinstance(notification, AddNotification):
            return self._handler.on_add(notification.object, notification.is_in_initial_list)
        if isinstance(notification, UpdateNotification):
            return self._handler.on_update(notification.old, notification.new)
        return self._handler.on_delete(notification)
