"""Leader election: of several candidates, one leads and the others stand by.

The leader holds a Lease and renews it. Another candidate acquires the lease when it has observed
the same record for the whole lease duration, by its own clock: timestamps written by other
candidates are informational and are never compared with the local time. Optimistic locking on the
server lets only one of several candidates win.

There is no fencing. A leader that loses its lease is stopped before another candidate can acquire
it, provided that its event loop is not blocked and its clock is not much slower than theirs;
requests that it has already sent may still be executed.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from apimachinery.errors import APIError, NotFound
from apimachinery.meta.types import ObjectMeta
from client.interface import ResourceClient
from client.leaderelection.lease import ElectionLease, ElectionLeaseSpec
from client.runtime.background import within
from client.runtime.clock import Clock, SystemClock
from client.transport.retry import retry_on_conflict
from client.transport.transport import TransportError

log = logging.getLogger("apimachinery.controller.leader")

JITTER: Final = 1.2
"""The retry period is extended at random by up to this share of itself."""
_UNREACHABLE: Final = (APIError, TransportError)


class InvalidElection(ValueError):
    """Settings that do not allow a safe election; the message names the violated rule."""


class LeadershipLost(Exception):
    """The lease was not renewed in time: another candidate may lead now."""


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """Settings of a leader election, the same for all candidates except for the identity."""

    lease_name: str
    identity: str
    """The name of this candidate, unique among all candidates."""
    lease_duration: float = 15.0
    """Seconds without a renewal after which another candidate may acquire the lease."""
    renew_deadline: float = 10.0
    """Seconds without a successful renewal after which the leader stops leading."""
    retry_period: float = 2.0
    """Seconds between two attempts to acquire or renew the lease."""
    release_on_cancel: bool = True
    """Whether a leader that stops releases the lease, so that a successor need not wait."""
    release_deadline: float | None = None
    """Seconds after which a release is given up, None for `renew_deadline`."""

    def __post_init__(self) -> None:
        if not self.lease_name:
            raise InvalidElection("lease_name is empty")
        if not self.identity:
            raise InvalidElection("identity is empty")
        for name in ("lease_duration", "renew_deadline", "retry_period"):
            if not getattr(self, name) > 0:
                raise InvalidElection(f"{name} must be greater than zero")
        if self.lease_duration < 1:
            raise InvalidElection("lease_duration must be at least a second")
        if self.lease_duration <= self.renew_deadline:
            raise InvalidElection("lease_duration must be greater than renew_deadline")
        if self.renew_deadline <= JITTER * self.retry_period:
            raise InvalidElection(f"renew_deadline must be greater than retry_period*{JITTER}")


class LeaderElector:
    """One candidate of an election."""

    def __init__(
        self,
        leases: ResourceClient[ElectionLease],
        election: LeaderElection,
        *,
        on_stopped: Callable[[], None] | None = None,
        on_new_leader: Callable[[str], None] | None = None,
        on_leading: Callable[[bool], None] | None = None,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """*on_stopped* is called at the end of `run`, even if this candidate never led.

        *on_new_leader* is called with the identity of each new leader, *on_leading* with whether
        this candidate leads, for metrics.
        """
        self._leases = leases
        self._election = election
        self._on_stopped = on_stopped
        self._on_new_leader = on_new_leader
        self._on_leading = on_leading
        self._clock = clock or SystemClock()
        self._chance = chance
        self._lease: ElectionLease | None = None
        """The lease as last read or written, the base of the next update."""
        self._observed: ElectionLeaseSpec | None = None
        self._observed_at = 0.0
        self._renewed_at = 0.0
        """When the last successful renewal was sent."""
        self._reported = ""

    @property
    def is_leader(self) -> bool:
        """Whether this candidate holds the lease in the last observed record."""
        return self.leader == self._election.identity

    @property
    def leader(self) -> str:
        """The holder of the lease in the last observed record; empty if there is none."""
        return (self._observed.holder_identity or "") if self._observed is not None else ""

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Acquire the lease and run *work* while leading.

        Returns when *work* returns and raises its error. Raises LeadershipLost after *work* has
        been cancelled and has ended. The lease is released last, even on cancellation.
        """
        try:
            await self._acquire()
            log.info("%s became leader", self._election.identity)
            self._notify_leading(True)
            try:
                await self._lead(work)
            finally:
                self._notify_leading(False)
                if self._election.release_on_cancel:
                    await self._release_despite_cancellation()
        finally:
            if self._on_stopped is not None:
                self._on_stopped()

    async def _acquire(self) -> None:
        while not await self._try_acquire_or_renew():
            factor = 1 + JITTER * self._chance()
            await self._clock.sleep(self._election.retry_period * factor)

    async def _lead(self, work: Callable[[], Awaitable[None]]) -> None:
        working = asyncio.ensure_future(work())
        renewing = asyncio.ensure_future(self._renew())
        try:
            await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Keep renewing the lease until the work has ended, however long that takes.
            if not working.done():
                working.cancel()
                await asyncio.wait((working,))
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        if not working.cancelled():
            working.result()
        if not renewing.cancelled():
            renewing.result()

    async def _renew(self) -> None:
        election = self._election
        while True:
            try:
                await within(self._clock, self._deadline(), self._retry_renewal())
            except TimeoutError:
                raise LeadershipLost(
                    f"{election.identity}: lease {election.lease_name} was not renewed within"
                    f" {election.renew_deadline:g}s"
                ) from None
            await self._clock.sleep(election.retry_period)

    def _deadline(self) -> float:
        """Return the seconds left to renew, never more than until the lease expires."""
        valid = self._renewed_at + self._election.lease_duration - self._clock.monotonic()
        return min(self._election.renew_deadline, valid)

    async def _retry_renewal(self) -> None:
        while not await self._try_acquire_or_renew():
            await self._clock.sleep(self._election.retry_period)

    async def _try_acquire_or_renew(self) -> bool:
        """Acquire or renew the lease; return whether this candidate holds it."""
        try:
            return await self._acquire_or_renew()
        finally:
            self._report_leader()

    async def _acquire_or_renew(self) -> bool:
        if self.is_leader and self._is_lease_valid() and await self._renew_without_reading():
            return True
        try:
            lease = await self._leases.get(self._election.lease_name)
        except NotFound:
            return await self._create()
        except _UNREACHABLE as error:
            log.error("lease %s cannot be read: %s", self._election.lease_name, error)
            return False
        self._lease = lease
        if lease.spec != self._observed:
            self._observe(lease.spec)
        if lease.spec.holder_identity and self._is_lease_valid() and not self.is_leader:
            log.debug("lease is held by %s and has not yet expired", lease.spec.holder_identity)
            return False
        return await self._write(lease, self._next_record(lease.spec))

    async def _renew_without_reading(self) -> bool:
        """Renew the lease without reading it first: one request instead of two."""
        if self._lease is None or self._observed is None:
            return False
        return await self._write(self._lease, self._next_record(self._observed))

    async def _create(self) -> bool:
        now = self._clock.now()
        lease = ElectionLease(metadata=ObjectMeta(name=self._election.lease_name))
        lease.spec = self._new_record(acquired=now, transitions=0)
        sent = self._clock.monotonic()
        try:
            self._lease = await self._leases.create(lease)
        except _UNREACHABLE as error:
            log.error("lease %s cannot be created: %s", self._election.lease_name, error)
            return False
        self._renewed_at = sent
        self._observe(self._lease.spec)
        return True

    async def _write(self, base: ElectionLease, record: ElectionLeaseSpec) -> bool:
        changed = base.deep_copy()
        changed.spec = record
        sent = self._clock.monotonic()
        try:
            self._lease = await self._leases.update(changed)
        except _UNREACHABLE as error:
            log.info("lease %s was not updated: %s", self._election.lease_name, error)
            return False
        self._renewed_at = sent
        self._observe(self._lease.spec)
        return True

    def _next_record(self, old: ElectionLeaseSpec) -> ElectionLeaseSpec:
        transitions = old.lease_transitions or 0
        if self.is_leader:
            acquired = old.acquire_time or self._clock.now()
            record = self._new_record(acquired=acquired, transitions=transitions)
        else:
            record = self._new_record(acquired=self._clock.now(), transitions=transitions + 1)
        record.strategy, record.preferred_holder = old.strategy, old.preferred_holder
        return record

    def _new_record(self, *, acquired: datetime, transitions: int) -> ElectionLeaseSpec:
        return ElectionLeaseSpec(
            holder_identity=self._election.identity,
            lease_duration_seconds=int(self._election.lease_duration),
            acquire_time=acquired,
            renew_time=self._clock.now(),
            lease_transitions=transitions,
        )

    def _observe(self, record: ElectionLeaseSpec) -> None:
        self._observed = record
        self._observed_at = self._clock.monotonic()

    def _is_lease_valid(self) -> bool:
        """Return whether the record changed within its lease duration, by the local clock."""
        assert self._observed is not None
        duration = self._observed.lease_duration_seconds or 0
        return self._clock.monotonic() < self._observed_at + duration

    def _report_leader(self) -> None:
        if self.leader == self._reported:
            return
        self._reported = self.leader
        log.info("new leader: %s", self.leader or "none")
        if self._on_new_leader is not None:
            self._on_new_leader(self.leader)

    def _notify_leading(self, leading: bool) -> None:
        if self._on_leading is not None:
            self._on_leading(leading)

    async def _release_despite_cancellation(self) -> None:
        """Release the lease even if this task is cancelled again meanwhile."""
        releasing = asyncio.ensure_future(self._release())
        try:
            await asyncio.shield(releasing)
        except asyncio.CancelledError:
            await asyncio.wait((releasing,))
            raise

    async def _release(self) -> None:
        async def attempt() -> None:
            lease = await self._leases.get(self._election.lease_name)
            if lease.spec.holder_identity != self._election.identity:
                return
            now = self._clock.now()
            lease.spec.holder_identity = ""
            lease.spec.lease_duration_seconds = 1
            lease.spec.acquire_time = lease.spec.renew_time = now
            self._lease = await self._leases.update(lease)
            self._observe(self._lease.spec)

        retrying = retry_on_conflict(attempt, clock=self._clock)
        deadline = self._election.release_deadline
        if deadline is None:
            deadline = self._election.renew_deadline
        try:
            await within(self._clock, deadline, retrying)
        except NotFound:
            log.info("lease %s was already deleted", self._election.lease_name)
        except (*_UNREACHABLE, TimeoutError) as error:
            log.error("lease %s was not released: %s", self._election.lease_name, error)
        self._report_leader()
