"""Settling: wait until a manager has no work left, without polling objects or sleeping in tests.

Settled means: every cache equals the server's state, no name is enqueued or being reconciled,
every failed reconcile has been retried with success, and every event is written. A later
reconcile that was requested by `requeue_after` does not count.

A fake clock is advanced when everything waits for it, by no more than is needed.
"""

import asyncio
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from client.cache.keys import object_key
from client.client import AsyncClient
from client.controller.caches import Reader
from client.controller.controller import Controller
from client.controller.manager import Manager
from client.runtime.clock import Clock
from client.testing.fake_clock import FakeClock
from client.testing.faulty_transport import FaultyTransport
from client.transport.request import ALL_NAMESPACES
from client.webhooks.webhook_settings import WebhookSettings
from client.webhooks.webhooks import ServesWebhooks

if TYPE_CHECKING:
    from client.testing.in_process_webhooks import InProcessWebhooks

TIMEOUT: Final = 10.0
"""Real seconds."""
MAX_ADVANCE: Final = 120.0
"""Seconds by which `settled` advances a fake clock at most, in total."""
MAX_STEP: Final = 60.0
"""Seconds of one step at most: a longer sleep is not a retry."""
_POLL: Final = 0.001
_LONGEST_POLL: Final = 0.01
_QUIET_WITH_RETRIES: Final = 0.005
_QUIET: Final = 0.1
"""Real seconds without progress after which the clock is advanced.

A pending retry certainly waits for the clock. Anything else may be waiting for a slow server.
"""
_STOP_SECONDS: Final = 0.5
"""Real seconds that a manager has to stop, before the clock is advanced for it."""


class NotSettled(TimeoutError):
    """The manager still had work at the timeout; the message names it."""


class ManagerUnderTest(Manager):
    """A manager with `settled`, which waits until it has no work left."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        transport: FaultyTransport,
        observer: AsyncClient,
        namespace: str = ALL_NAMESPACES,
        clock: Clock,
        webhook_calls: "InProcessWebhooks | None" = None,
        **options: Any,
    ) -> None:
        """*observer* is a client without faults, to compare caches with the server.

        By *webhook_calls* the server of the test calls webhooks without sockets.
        """
        super().__init__(client, namespace=namespace, clock=clock, **options)
        self._namespace = namespace
        self._transport = transport
        self._observer = observer
        self._webhook_calls = webhook_calls

    async def settled(self, *, timeout: float = TIMEOUT) -> None:
        """Wait until no work is left.

        Raises NotSettled after *timeout* real seconds, and the failure of the manager if it failed.
        """
        deadline = time.monotonic() + timeout
        pause = _Pause(self.clock)
        while True:
            if self.failure is not None:
                raise self.failure
            before = self._progress()
            busy = self._work_in_progress() or await self._stale_cache()
            if not busy and before == self._progress() and not self._work_in_progress():
                return
            if time.monotonic() > deadline or pause.advanced > MAX_ADVANCE:
                raise NotSettled(f"not settled: {busy or 'the state keeps changing'}")
            await pause.take(progressed=before != self._progress(), retrying=self._only_retries())

    async def __aexit__(self, *raised: object) -> None:
        """Stop the manager, advancing a fake clock if that does not end by itself.

        Otherwise a failing test would wait forever for the grace period of its runnables.
        """
        stopping = asyncio.ensure_future(super().__aexit__(*raised))
        try:
            while not stopping.done():
                await asyncio.wait((stopping,), timeout=_STOP_SECONDS)
                if not stopping.done() and isinstance(self.clock, FakeClock):
                    await self.clock.step()
        finally:
            if not stopping.done():
                stopping.cancel()
                await asyncio.wait((stopping,))
        stopping.result()

    def _webhook_serving(self, settings: WebhookSettings | None) -> ServesWebhooks:
        if settings is not None or self._webhook_calls is None:
            return super()._webhook_serving(settings)
        # Imported late: a test in a cluster has no server.
        from client.testing.in_process_webhooks import InProcessServing

        return InProcessServing(
            self._observer, self.webhooks.routes, self._webhook_calls, name=self.name
        )

    def _progress(self) -> tuple[object, ...]:
        """Return a value that changes with every request, reconcile and event of a watch."""
        return (
            self._transport.requests,
            *(controller.reconciles for controller in self.controllers.values()),
            *(reader.informer.resource_version for reader in self.caches),
        )

    def _work_in_progress(self) -> str:
        """Describe the work in progress; empty if there is none."""
        if self._transport.busy:
            return "a request is in flight"
        if not self.events.idle:
            return "events are being written"
        if not self.is_leader:
            return ""
        work = (
            line for controller in self.controllers.values() for line in _describe_work(controller)
        )
        return next(work, "")

    def _only_retries(self) -> bool:
        """Return whether nothing but the backoff of failed reconciles is left."""
        controllers = self.controllers.values()
        failing = any(controller.failing for controller in controllers)
        return failing and all(controller.synced and controller.idle for controller in controllers)

    async def _stale_cache(self) -> str:
        for reader in self.caches:
            if not reader.informer.has_synced:
                return f"{reader.informer.name}: not synced yet"
            if await self._differs(reader):
                return f"{reader.informer.name}: differs from the server"
        return ""

    async def _differs(self, reader: Reader[Any]) -> bool:
        objects = self._observer.of(reader.cls, namespace=self._namespace).metadata
        stored = {object_key(obj): obj.metadata.resource_version async for obj in objects.list()}
        cached = {
            object_key(obj): obj.metadata.resource_version
            for obj in reader.informer.store.objects()
        }
        return stored != cached


class _Pause:
    """Yields to other tasks: real time first, then time of the fake clock."""

    def __init__(self, clock: Clock) -> None:
        self.advanced = 0.0
        self._clock = clock
        self._pause = _POLL
        self._quiet_since = time.monotonic()

    async def take(self, *, progressed: bool, retrying: bool) -> None:
        await asyncio.sleep(self._pause)
        now = time.monotonic()
        self._pause = _POLL if progressed else min(2 * self._pause, _LONGEST_POLL)
        if progressed:
            self._quiet_since = now
        elif now - self._quiet_since > (_QUIET_WITH_RETRIES if retrying else _QUIET):
            await self._advance_clock()
            self._quiet_since = time.monotonic()

    async def _advance_clock(self) -> None:
        if not isinstance(self._clock, FakeClock):
            return
        wake = self._clock.next_wake()
        if wake is not None and wake - self._clock.monotonic() <= MAX_STEP:
            self.advanced += await self._clock.step()


def _describe_work(controller: Controller[Any]) -> Iterator[str]:
    if not controller.synced:
        yield f"controller {controller.name}: its sources are not synced yet"
    if controller.active:
        yield f"controller {controller.name}: reconciles {_join_names(controller.active)}"
    if controller.failing:
        yield f"controller {controller.name}: is failing for {_join_names(controller.failing)}"
    if not controller.idle:
        yield f"controller {controller.name}: {len(controller.queue)} names are enqueued"


def _join_names(names: Any) -> str:
    return ", ".join(sorted(str(name) for name in names))
