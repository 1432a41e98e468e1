"""etcd session: conditional writes that take effect exactly once, however often they are sent.

A write whose answer is lost may have happened, may not, or may happen later, when a stopped member
reads the request from its socket. Comparing values cannot decide: another client may have written
the same bytes. So every write takes a *slot*, a small internal key of this backend that no other
write uses at the same time, and the transaction is

    if   the condition on the key holds and the slot is still at revision m
    then write the key, write the slot
    else read the key, read the slot

If the answer is lost, the same transaction is sent again. At most one copy can take effect, because
the first one moves the slot away from revision m permanently: even a late copy of a creation, after
the key was deleted again, finds the slot moved. And the answer of any copy is conclusive: a slot
still at m means that the condition on the key failed; a slot at another revision means that an
earlier copy took effect, at exactly that revision. One case needs a second step: the condition
failed, but another copy is still in flight and may find it true later. Then a *fence* moves the
slot before the failure is reported, and no copy can take effect any more. The outcome is unknown
only if no answer arrives in time, and then the slot is never used again.

Slots are attached to a lease, so the slots of a crashed process expire. A session (a lease and its
slots) is used only for half the life of its lease, so that a slot does not expire while a write
waits for its answer. If that still happens, because the machine was suspended or the lease was
revoked, the write is sent with a new slot if no earlier copy can have taken effect, and otherwise
raises Unavailable(uncertain).
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aetcd.rpc import kv_pb2, rpc_pb2

from apiserver.storage.etcd.channel import EtcdConnection, SendState
from apiserver.storage.etcd.errors import LeaseNotFound
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.etcd.leases import Leases
from apiserver.storage.etcd.member import Member
from apiserver.storage.interface import KEEP_TTL, StorageError, Unavailable

_LEASE_SECONDS = 3600
_SESSION_SECONDS = _LEASE_SECONDS / 2
_SESSIONS_PER_WRITE = 3
_FENCE = b"fence"
_EQUAL = rpc_pb2.Compare.EQUAL
_MOD = rpc_pb2.Compare.MOD


@dataclass(frozen=True, slots=True)
class WriteApplied:
    """The write took effect, at *revision*."""

    revision: int


@dataclass(frozen=True, slots=True)
class ConditionFailed:
    """The condition did not hold; *current* is the key at that moment, None if missing."""

    current: kv_pb2.KeyValue | None


@dataclass(slots=True)
class Slot:
    """An internal key that only one write at a time may move."""

    key: bytes
    revision: int = 0


@dataclass(slots=True)
class EtcdSession:
    """A lease and the slots attached to it."""

    lease: int
    until: float
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    free: list[Slot] = field(default_factory=list)
    slot_count: int = 0

    def take(self, keyspace: Keyspace) -> Slot:
        """Take a slot that no other write uses."""
        if self.free:
            return self.free.pop()
        self.slot_count += 1
        return Slot(keyspace.internal_key(f"{self.name}/{self.slot_count}"))


class _SlotLost(StorageError):
    """The slot has expired, so the outcome of the write cannot be determined from it."""


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
        self._starting = asyncio.Lock()

    async def write(
        self, key: bytes, *, revision: int, value: bytes | None, ttl: int | None = None
    ) -> WriteApplied | ConditionFailed:
        """Store *value* (None deletes) if *key* is at *revision*; 0 if it must not exist."""
        state = SendState()
        for _ in range(_SESSIONS_PER_WRITE):
            session = await self._current_session()
            lease = 0 if ttl is None or ttl == KEEP_TTL else await self._leases.lease(ttl)
            slot = session.take(self._keyspace)
            operation = _operation(key, value, lease, keep_lease=ttl == KEEP_TTL)
            request = _transaction(key, revision, operation, slot, session)
            try:
                outcome = _outcome(await self._connection.call(_transact, request, state), slot)
                if state.uncertain and isinstance(outcome, ConditionFailed):
                    outcome = await self._fence(slot, session, outcome, state)
            except (LeaseNotFound, _SlotLost) as error:
                self._leases.forget(lease)
                self._drop(session)
                if state.uncertain:
                    message = f"etcd: the session ended during a write ({error})"
                    raise Unavailable(message, uncertain=True) from error
                continue
            # Only an answered write frees its slot: a slot whose write may still happen is not
            # reused.
            session.free.append(slot)
            return outcome
        raise Unavailable("etcd: leases expire as soon as they are granted")

    async def close(self) -> None:
        """Delete the slots if etcd can be reached; otherwise they expire."""
        if self._session is None:
            return
        request = rpc_pb2.LeaseRevokeRequest(ID=self._session.lease)
        await self._connection.try_once(lambda member: member.lease.LeaseRevoke, request)

    async def _fence(
        self, slot: Slot, session: EtcdSession, failed: ConditionFailed, state: SendState
    ) -> WriteApplied | ConditionFailed:
        """Ensure that no copy of the write takes effect after *failed* is reported."""
        request = rpc_pb2.TxnRequest(
            compare=[_is_at(slot.key, slot.revision)],
            success=[_operation(slot.key, _FENCE, session.lease)],
            failure=[_read(slot.key)],
        )
        reply = await self._connection.call(_transact, request, state)
        if reply.succeeded:
            slot.revision = reply.header.revision
            return failed
        slots = reply.responses[0].response_range.kvs
        if not slots:
            raise _SlotLost("the slot has expired")
        slot.revision = slots[0].mod_revision
        # The fence may also have been sent more than once; then an earlier copy moved the slot.
        return failed if slots[0].value == _FENCE else WriteApplied(slot.revision)

    async def _current_session(self) -> EtcdSession:
        session = self._session
        if session is not None and self._clock() < session.until:
            return session
        async with self._connection.operation_timeout(), self._starting:
            if self._session is session:
                until = self._clock() + _SESSION_SECONDS
                self._session = EtcdSession(await self._leases.grant(_LEASE_SECONDS), until)
            assert self._session is not None
            return self._session

    def _drop(self, session: EtcdSession) -> None:
        if self._session is session:
            session.until = self._clock()


def _transact(member: Member) -> Any:
    return member.kv.Txn


# Requests are built from dictionaries: protobuf converts one in half the time that it takes to
# construct a message for every part.
_Part: TypeAlias = dict[str, Any]


def _operation(key: bytes, value: bytes | None, lease: int, *, keep_lease: bool = False) -> _Part:
    if value is None:
        return {"request_delete_range": {"key": key}}
    put = {"key": key, "value": value, "lease": lease, "ignore_lease": keep_lease}
    return {"request_put": put}


def _transaction(
    key: bytes, revision: int, operation: _Part, slot: Slot, session: EtcdSession
) -> rpc_pb2.TxnRequest:
    slot_write = {"request_put": {"key": slot.key, "lease": session.lease}}
    return rpc_pb2.TxnRequest(
        compare=[_is_at(key, revision), _is_at(slot.key, slot.revision)],
        success=[operation, slot_write],
        failure=[_read(key), _read(slot.key)],
    )


def _is_at(key: bytes, revision: int) -> _Part:
    return {"result": _EQUAL, "target": _MOD, "key": key, "mod_revision": revision}


def _read(key: bytes) -> _Part:
    return {"request_range": {"key": key}}


def _outcome(reply: rpc_pb2.TxnResponse, slot: Slot) -> WriteApplied | ConditionFailed:
    """Return the outcome that the answer of any copy of a write proves, and update its slot."""
    if reply.succeeded:
        slot.revision = reply.header.revision
        return WriteApplied(slot.revision)
    keys, slots = (response.response_range.kvs for response in reply.responses)
    revision = slots[0].mod_revision if slots else 0
    if revision == slot.revision:
        return ConditionFailed(keys[0] if keys else None)
    if revision == 0:
        raise _SlotLost("the slot has expired")
    slot.revision = revision
    return WriteApplied(revision)
