"""Waiting until a manager has nothing left to do: no polling of objects, no sleeping in tests.

Settled means: every cache shows what the server has, nothing waits in a queue or is being
reconciled, what failed has been tried again with success, and every event is written. What a
reconciler wants to be called for later (`requeue_after`) is not waited for.

A clock that stands still is moved on when everything waits for it, by no more than is needed.
"""

import asyncio
import time
from collections.abc import Iterator
from typing import Any, Final

from client.cache.keys import object_key
from client.client import AsyncClient
from client.controller.caches import Reader
from client.controller.controller import Controller
from client.controller.manager import Manager
from client.runtime.clock import Clock
from client.testing.fake_clock import FakeClock
from client.testing.faulty_transport import FaultyTransport
from client.transport.request import ALL_NAMESPACES

TIMEOUT: Final = 10.0
"""Real seconds."""
LONGEST_LEAP: Final = 120.0
"""Seconds by which a clock that stands still is moved on at most, all in all."""
LONGEST_STEP: Final = 60.0
"""And in one step: what sleeps longer is not what anybody waits for."""
_POLL: Final = 0.001
_LONGEST_POLL: Final = 0.01
_SURE: Final = 0.005
_UNSURE: Final = 0.1
"""Real seconds without progress after which the clock is moved on.

A retry is known to wait for it. Anything else may be a server that is slow just now, and deserves
some patience.
"""


_LEAVING: Final = 0.5
"""Real seconds that a manager has to stop, before the clock is moved on for it."""


class NotSettled(TimeoutError):
    """There was always something left to do; the message says what."""


class ManagerUnderTest(Manager):
    """A manager that can be waited for."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        transport: FaultyTransport,
        observer: AsyncClient,
        namespace: str = ALL_NAMESPACES,
        clock: Clock,
        **options: Any,
    ) -> None:
        """*observer* is a client without faults, for comparing caches with the server."""
        super().__init__(client, namespace=namespace, clock=clock, **options)
        self._namespace = namespace
        self._transport = transport
        self._observer = observer

    async def settled(self, *, timeout: float = TIMEOUT) -> None:
        """Return when there is nothing left to do; NotSettled after *timeout* real seconds.

        If the manager has failed, its failure is raised.
        """
        deadline = time.monotonic() + timeout
        pause = _Pause(self.clock)
        while True:
            if self.failure is not None:
                raise self.failure
            before = self._progress()
            busy = self._busy() or await self._behind()
            if not busy and before == self._progress() and not self._busy():
                return
            if time.monotonic() > deadline or pause.leapt > LONGEST_LEAP:
                raise NotSettled(f"not settled: {busy or 'something keeps changing'}")
            await pause.take(moved=before != self._progress(), sure=self._only_retries())

    async def __aexit__(self, *raised: object) -> None:
        """Stop it; a clock that stands still is moved on when that does not come to an end.

        Else a test that fails would wait for ever for the grace of what it was testing.
        """
        stopping = asyncio.ensure_future(super().__aexit__(*raised))
        try:
            while not stopping.done():
                await asyncio.wait((stopping,), timeout=_LEAVING)
                if not stopping.done() and isinstance(self.clock, FakeClock):
                    await self.clock.step()
        finally:
            if not stopping.done():
                stopping.cancel()
                await asyncio.wait((stopping,))
        stopping.result()

    def _progress(self) -> tuple[object, ...]:
        """Something that is different whenever anything has been done."""
        return (
            self._transport.requests,
            *(controller.reconciles for controller in self.controllers.values()),
            *(reader.informer.resource_version for reader in self.caches),
        )

    def _busy(self) -> str:
        """What is being done, empty if nothing is."""
        if self._transport.busy:
            return "a request is being answered"
        if not self.events.idle:
            return "events are being written"
        if not self.is_leader:
            return ""
        return next((each for one in self.controllers.values() for each in _doing(one)), "")

    def _only_retries(self) -> bool:
        """Whether there is nothing to wait for but the time of the next attempt."""
        every = self.controllers.values()
        return any(c.failing for c in every) and all(c.synced and c.idle for c in every)

    async def _behind(self) -> str:
        for reader in self.caches:
            if not reader.informer.has_synced:
                return f"{reader.informer.name}: not filled yet"
            if await self._differs(reader):
                return f"{reader.informer.name}: does not show what the server has"
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
    """Gives others time: real time first, and the test's clock when that does not help."""

    def __init__(self, clock: Clock) -> None:
        self.leapt = 0.0
        self._clock = clock
        self._pause = _POLL
        self._quiet_since = time.monotonic()

    async def take(self, *, moved: bool, sure: bool) -> None:
        await asyncio.sleep(self._pause)
        now = time.monotonic()
        self._pause = _POLL if moved else min(2 * self._pause, _LONGEST_POLL)
        if moved:
            self._quiet_since = now
        elif now - self._quiet_since > (_SURE if sure else _UNSURE):
            await self._leap()
            self._quiet_since = time.monotonic()

    async def _leap(self) -> None:
        if not isinstance(self._clock, FakeClock):
            return
        wake = self._clock.next_wake()
        if wake is not None and wake - self._clock.monotonic() <= LONGEST_STEP:
            self.leapt += await self._clock.step()


def _doing(controller: Controller[Any]) -> Iterator[str]:
    if not controller.synced:
        yield f"controller {controller.name}: its sources have not told everything yet"
    if controller.active:
        yield f"controller {controller.name}: reconciles {_names(controller.active)}"
    if controller.failing:
        yield f"controller {controller.name}: keeps failing for {_names(controller.failing)}"
    if not controller.idle:
        yield f"controller {controller.name}: {len(controller.queue)} names wait"


def _names(names: Any) -> str:
    return ", ".join(sorted(str(name) for name in names))
