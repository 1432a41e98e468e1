"""etcd channel: calls to a cluster, with endpoints, TLS, tokens, deadlines and retries.

Every endpoint has channels of its own (`member`), and all calls go to the endpoint that answered
last. When an endpoint fails or does not answer within `timeout`, calls move to the next one. This
covers host names, IPv6 and a member that is stopped but keeps its connections open. A call fails
after three timeouts.

Requests may be sent more than once, so only repeatable requests are allowed here: reads,
compactions, lease grants, and transactions that can take effect only once (`session`).
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
from aetcd.rpc import rpc_pb2

from apiserver.storage.etcd.errors import (
    AccessDenied,
    FailureKind,
    authentication_is_off,
    classify,
    translate,
)
from apiserver.storage.etcd.member import Member, open_members
from apiserver.storage.etcd.releases import may_lose_writes, reports_progress_correctly
from apiserver.storage.etcd.url import EtcdSettings
from apiserver.storage.interface import Unavailable

log = logging.getLogger(__name__)

_MAY_LOSE_WRITES = (
    "etcd at %s is release %s, whose members can lose acknowledged writes and diverge permanently"
    " when one of them is killed: upgrade it to 3.5.3 or later"
)
_OPERATION_TIMEOUTS = 3
"""An operation is retried for this multiple of the timeout of one call."""
_FIRST_PAUSE = 0.02
_MAX_PAUSE = 0.5
_MAX_REFRESHES = 3
_VERSION_CHECK_SECONDS = 10.0

Method = Callable[[Member], Any]


@dataclass(slots=True)
class SendState:
    """The state of the attempts to send one request."""

    uncertain: bool = False
    """Whether an attempt without an answer may have taken effect."""


class EtcdConnection:
    """Sends calls to a member of the cluster that answers."""

    def __init__(self, settings: EtcdSettings) -> None:
        self.timeout = settings.timeout
        self._credentials = settings.credentials
        self._members = open_members(settings)
        self._current = 0
        self.closed = False
        self._token: str | None = None
        # Cached, because building it takes a sixth of the time of a call; gRPC does not modify it.
        self._metadata = metadata(None)
        self._authenticated = settings.credentials is None
        self._authenticating = asyncio.Lock()
        self._versions: dict[str, str] = {}
        self._next_version_check = time.monotonic()

    @property
    def member(self) -> Member:
        """The endpoint that calls are sent to now."""
        return self._members[self._current]

    @property
    def size(self) -> int:
        """The number of endpoints."""
        return len(self._members)

    def switch_from(self, member: Member) -> None:
        """Send calls to the next endpoint from now on, if *member* is the current one."""
        if self.member is member:
            self._current = (self._current + 1) % len(self._members)

    async def call(self, method: Method, request: object, state: SendState | None = None) -> Any:
        """Send *request*, with retries, and return the answer. Raises StorageError.

        *state* and Unavailable record whether an attempt may have taken effect without being
        answered. Requests without *state* are reads, which cannot be uncertain.
        """
        attempts = _Attempts(self, state)
        while True:
            token, member = await self.token(), self.member
            if self.closed:
                raise attempts.unavailable("etcd: the connection is closed")
            try:
                return await method(member)(
                    request, timeout=attempts.timeout(), metadata=self._metadata
                )
            except grpc.aio.AioRpcError as error:
                await attempts.failed(member, token, error)
            except asyncio.CancelledError:
                if not self.closed or _is_cancelled():
                    raise
                # Closing the channel cancelled this call; the calling task itself was not
                # cancelled.
                attempts.mark_uncertain()

    async def try_once(self, method: Method, request: object) -> None:
        """Send *request* once, with a short timeout, ignoring failures: for optional clean-up."""
        if self.closed:
            return
        with contextlib.suppress(grpc.aio.AioRpcError):
            await method(self.member)(
                request, timeout=min(self.timeout, 0.5), metadata=self._metadata
            )

    async def check_members(self, method: Method, request: object) -> list[str]:
        """Send a read to each member, once; return their errors, empty for one that answers."""
        try:
            await self.token()
        except Unavailable as error:
            return [str(error) for _ in self._members]

        async def check(member: Member) -> str:
            try:
                await method(member)(request, timeout=self.timeout, metadata=self._metadata)
            except grpc.aio.AioRpcError as error:
                return f"etcd at {member.address}: {error.details() or error.code().name}"
            return ""

        return await asyncio.gather(*map(check, self._members))

    @contextlib.asynccontextmanager
    async def operation_timeout(self) -> AsyncIterator[None]:
        """Limit the time for waiting for a lock plus the operation under it. Raises Unavailable.

        Otherwise each task waiting for the lock would also wait for the timeouts of all tasks
        before it.
        """
        try:
            async with asyncio.timeout(_OPERATION_TIMEOUTS * self.timeout):
                yield
        except TimeoutError:
            raise Unavailable(f"etcd at {self.member.address} does not answer") from None

    async def token(self) -> str | None:
        """Return the authentication token, fetched on first use; None if none is required."""
        if not self._authenticated:
            await self.refresh_token(None)
        return self._token

    async def refresh_token(self, stale: str | None) -> None:
        """Authenticate again unless another task has already replaced the *stale* token."""
        if self._credentials is None:
            raise AccessDenied("etcd requires a user and a password; add them to the URL")
        async with self.operation_timeout(), self._authenticating:
            if self._token == stale:
                await self._authenticate()
                self._authenticated = True

    async def supports_progress(self) -> bool:
        """Return whether every endpoint runs a version with reliable progress notifications.

        The version of each endpoint is fetched once; an endpoint that cannot be reached counts as
        no.
        """
        unknown = [member for member in self._members if member.address not in self._versions]
        if unknown and time.monotonic() >= self._next_version_check:
            self._next_version_check = time.monotonic() + _VERSION_CHECK_SECONDS
            await asyncio.gather(*(self._fetch_version(member) for member in unknown))
        return self.progress_supported

    @property
    def progress_supported(self) -> bool:
        """The result of `supports_progress` from the versions fetched so far."""
        complete = all(member.address in self._versions for member in self._members)
        return complete and all(map(reports_progress_correctly, self._versions.values()))

    async def close(self) -> None:
        """Close all connections, which ends all calls."""
        self.closed = True
        for member in self._members:
            await member.close()

    async def _fetch_version(self, member: Member) -> None:
        request = rpc_pb2.StatusRequest()
        with contextlib.suppress(grpc.aio.AioRpcError):
            reply = await member.maintenance.Status(request, timeout=self.timeout)
            version = str(reply.version)
            if may_lose_writes(version):
                log.warning(_MAY_LOSE_WRITES, member.address, version)
            self._versions[member.address] = version

    async def _authenticate(self) -> None:
        assert self._credentials is not None
        request = rpc_pb2.AuthenticateRequest(
            name=self._credentials.user, password=self._credentials.password
        )
        attempts = _Attempts(self, None)
        while not self.closed:
            member = self.member
            try:
                reply = await member.auth.Authenticate(request, timeout=attempts.timeout())
            except grpc.aio.AioRpcError as error:
                if authentication_is_off(error):
                    self._use_token(None)
                    return
                await attempts.failed(member, None, error)
            else:
                self._use_token(str(reply.token))
                return
        raise attempts.unavailable("etcd: the connection is closed")

    def _use_token(self, token: str | None) -> None:
        self._token = token
        self._metadata = metadata(token)


class _Attempts:
    """Decides after each failed attempt of a request whether to retry or what to raise."""

    def __init__(self, connection: EtcdConnection, state: SendState | None) -> None:
        self._connection = connection
        self._state = state
        self._deadline = time.monotonic() + _OPERATION_TIMEOUTS * connection.timeout
        self._backoff = CallBackoff(per_round=connection.size)
        self._refreshes = 0

    def timeout(self) -> float:
        return min(self._connection.timeout, max(self._deadline - time.monotonic(), 0.001))

    async def failed(self, member: Member, token: str | None, error: grpc.aio.AioRpcError) -> None:
        """Return when it is time for the next attempt, or raise the final error."""
        kind = classify(error)
        if kind is FailureKind.FINAL:
            raise translate(error) from error
        if kind is FailureKind.TOKEN:
            await self._refresh(token, error)
            return
        if kind is FailureKind.UNKNOWN:
            self.mark_uncertain()
        self._connection.switch_from(member)
        pause = self._backoff.next()
        if time.monotonic() + pause >= self._deadline:
            reason = f"{error.code().name}: {error.details()}"
            raise self.unavailable(f"etcd at {member.address}: {reason}") from error
        await asyncio.sleep(pause)

    def mark_uncertain(self) -> None:
        """Record that an attempt may have taken effect."""
        if self._state is not None:
            self._state.uncertain = True

    def unavailable(self, message: str) -> Unavailable:
        uncertain = self._state is not None and self._state.uncertain
        return Unavailable(message, uncertain=uncertain)

    async def _refresh(self, token: str | None, error: grpc.aio.AioRpcError) -> None:
        self._refreshes += 1
        if self._refreshes > _MAX_REFRESHES:
            raise AccessDenied(f"etcd: {error.details()}") from error
        await self._connection.refresh_token(token)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class CallBackoff:
    """The pauses between attempts: none until every endpoint has been tried once."""

    def __init__(self, per_round: int) -> None:
        self._per_round = per_round
        self.reset()

    def reset(self) -> None:
        """Restart with the shortest pause."""
        self._failures = 0
        self._pause = _FIRST_PAUSE

    def next(self) -> float:
        """Return the pause after one more failure."""
        self._failures += 1
        if self._failures % self._per_round:
            return 0.0
        # Jitter, so that clients that lost the same member do not all reconnect at the same moment.
        pause = self._pause * random.uniform(0.5, 1.0)
        self._pause = min(2 * self._pause, _MAX_PAUSE)
        return pause


def metadata(token: str | None) -> grpc.aio.Metadata:
    """Return the metadata of every call: a member without a leader must fail instead of waiting."""
    leader = ("hasleader", "true")
    return (
        grpc.aio.Metadata(leader) if token is None else grpc.aio.Metadata(leader, ("token", token))
    )
