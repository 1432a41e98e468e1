"""Conditional writes that take effect exactly once, however often they have to be sent.

A write whose answer is lost may have happened, may not, or may happen later, when a member that
was stopped reads the request from its socket. Comparing values cannot tell: somebody else may have
written the same bytes. So every write takes a *slot*, a small key of this backend's own that no
other write uses at the same time, and the transaction is

    if   the condition on the key holds and the slot is still at revision m
    then write the key, write the slot
    else read the key, read the slot

Whatever happens to the answer, the same transaction is simply sent again. At most one copy can
take effect, because the first one moves the slot away from m for ever: also a late copy of a
creation, after somebody has deleted the key, finds the slot moved. And the answer of any copy tells
the whole truth: a slot still at m means that the condition on the key failed; a slot at another
revision means that an earlier copy took effect, at exactly that revision. One case needs a second
step: the condition failed, but another copy is still out there and may find it true later. Then
the slot is moved by a *fence* before the failure is reported, and no copy can take effect any more.
Only when nothing is answered before the time is up is the outcome unknown, and then the slot is
never used again.

Slots belong to a lease, so what a crashed process leaves behind goes away by itself. A session (a
lease and its slots) is used for half the life of its lease only, so a slot does not vanish while a
write waits for its answer. If that happens all the same, because the machine slept or somebody
revoked the lease, the write is sent with a new slot if no earlier copy can have taken effect, and
is Unavailable(uncertain) otherwise.
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aetcd.rpc import kv_pb2, rpc_pb2

from apiserver.storage.etcd.channel import EtcdConnection, Member, Sending
from apiserver.storage.etcd.errors import LeaseNotFound
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.etcd.leases import Leases
from apiserver.storage.interface import StorageError, Unavailable

_LEASE_SECONDS = 3600
_USED_SECONDS = _LEASE_SECONDS / 2
_SESSIONS_PER_WRITE = 3
_FENCE = b"fence"
_EQUAL = rpc_pb2.Compare.EQUAL
_MOD = rpc_pb2.Compare.MOD


@dataclass(frozen=True, slots=True)
class Done:
    """The write took effect, at *revision*."""

    revision: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The condition did not hold; *current* is what the key was at that moment."""

    current: kv_pb2.KeyValue | None


@dataclass(slots=True)
class Slot:
    """A key that one write at a time may move."""

    key: bytes
    revision: int = 0


@dataclass(slots=True)
class EtcdSession:
    """A lease and the slots that hang on it."""

    lease: int
    until: float
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    free: list[Slot] = field(default_factory=list)
    made: int = 0

    def take(self, keyspace: Keyspace) -> Slot:
        """A slot that no other write uses."""
        if self.free:
            return self.free.pop()
        self.made += 1
        return Slot(keyspace.own(f"{self.name}/{self.made}"))


class _SlotLost(StorageError):
    """The slot is gone, so it cannot tell what became of the write."""


class Writer:
    """Sends the conditional writes of one backend."""

    def __init__(
        self,
        connection: EtcdConnection,
        keyspace: Keyspace,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._keyspace = keyspace
        self._clock = clock
        self._leases = Leases(connection, clock=clock)
        self._session: EtcdSession | None = None
        self._beginning = asyncio.Lock()

    async def write(
        self, key: bytes, *, revision: int, value: bytes | None, ttl: int | None = None
    ) -> Done | Failed:
        """Store *value* (None deletes) if *key* is at *revision*, 0 being that of no key at all."""
        sending = Sending()
        for _ in range(_SESSIONS_PER_WRITE):
            session = await self._current()
            lease = 0 if ttl is None else await self._leases.lease(ttl)
            slot = session.take(self._keyspace)
            request = _transaction(key, revision, _operation(key, value, lease), slot, session)
            try:
                outcome = _outcome(await self._connection.call(_txn, request, sending), slot)
                if sending.uncertain and isinstance(outcome, Failed):
                    outcome = await self._fence(slot, session, outcome, sending)
            except (LeaseNotFound, _SlotLost) as error:
                self._leases.forget(lease)
                self._drop(session)
                if sending.uncertain:
                    message = f"etcd: the session ended during a write ({error})"
                    raise Unavailable(message, uncertain=True) from error
                continue
            # Reached only with an answer: a slot whose write may still happen is not used again.
            session.free.append(slot)
            return outcome
        raise Unavailable("etcd: leases end as soon as they are granted")

    async def close(self) -> None:
        """Remove the slots, if etcd can be reached; else they expire."""
        if self._session is None:
            return
        request = rpc_pb2.LeaseRevokeRequest(ID=self._session.lease)
        await self._connection.try_once(lambda member: member.lease.LeaseRevoke, request)

    async def _fence(
        self, slot: Slot, session: EtcdSession, failed: Failed, sending: Sending
    ) -> Done | Failed:
        """Make sure that no copy of a write takes effect after *failed* is reported."""
        request = rpc_pb2.TxnRequest(
            compare=[_is_at(slot.key, slot.revision)],
            success=[_operation(slot.key, _FENCE, session.lease)],
            failure=[_read(slot.key)],
        )
        reply = await self._connection.call(_txn, request, sending)
        if reply.succeeded:
            slot.revision = reply.header.revision
            return failed
        found = reply.responses[0].response_range.kvs
        if not found:
            raise _SlotLost("the slot has expired")
        slot.revision = found[0].mod_revision
        # The fence may have been sent more than once as well, and have met itself.
        return failed if found[0].value == _FENCE else Done(slot.revision)

    async def _current(self) -> EtcdSession:
        session = self._session
        if session is not None and self._clock() < session.until:
            return session
        async with self._connection.patience(), self._beginning:
            if self._session is session:
                until = self._clock() + _USED_SECONDS
                self._session = EtcdSession(await self._leases.grant(_LEASE_SECONDS), until)
            assert self._session is not None
            return self._session

    def _drop(self, session: EtcdSession) -> None:
        if self._session is session:
            session.until = self._clock()


def _txn(member: Member) -> Any:
    return member.kv.Txn


# A request is written as a dictionary: protobuf makes a message of it in half the time that it
# takes to make a message of every part.
_Part: TypeAlias = dict[str, Any]


def _operation(key: bytes, value: bytes | None, lease: int) -> _Part:
    if value is None:
        return {"request_delete_range": {"key": key}}
    return {"request_put": {"key": key, "value": value, "lease": lease}}


def _transaction(
    key: bytes, revision: int, operation: _Part, slot: Slot, session: EtcdSession
) -> rpc_pb2.TxnRequest:
    mark = {"request_put": {"key": slot.key, "lease": session.lease}}
    return rpc_pb2.TxnRequest(
        compare=[_is_at(key, revision), _is_at(slot.key, slot.revision)],
        success=[operation, mark],
        failure=[_read(key), _read(slot.key)],
    )


def _is_at(key: bytes, revision: int) -> _Part:
    return {"result": _EQUAL, "target": _MOD, "key": key, "mod_revision": revision}


def _read(key: bytes) -> _Part:
    return {"request_range": {"key": key}}


def _outcome(reply: rpc_pb2.TxnResponse, slot: Slot) -> Done | Failed:
    """Read the answer of any copy of a write, and keep account of its slot."""
    if reply.succeeded:
        slot.revision = reply.header.revision
        return Done(slot.revision)
    keys, slots = (each.response_range.kvs for each in reply.responses)
    found = slots[0].mod_revision if slots else 0
    if found == slot.revision:
        return Failed(keys[0] if keys else None)
    if found == 0:
        raise _SlotLost("the slot has expired")
    slot.revision = found
    return Done(found)
