"""Calls to an etcd cluster: endpoints, TLS, tokens, deadlines and retries.

There is one gRPC channel per endpoint, and all calls go to the endpoint that answered last. An
endpoint that fails or stays silent for `timeout` is left for the next one, so host names, IPv6 and
a member that is stopped but keeps its connections open are all the same case. A call gives up
after three timeouts.

What is sent here may be sent again, so only requests that are harmless to repeat may come: reads,
compactions, lease grants, and transactions that can take effect only once (etcd_session).
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from aetcd.rpc import rpc_pb2, rpc_pb2_grpc

from apiserver.storage.backends import InvalidURL
from apiserver.storage.etcd.errors import (
    AccessDenied,
    Verdict,
    authentication_is_off,
    judge,
    translate,
)
from apiserver.storage.etcd.releases import loses_data, reports_progress_rightly
from apiserver.storage.etcd.url import EtcdSettings, Tls
from apiserver.storage.interface import Unavailable

log = logging.getLogger(__name__)

_DIVERGES = (
    "etcd at %s is release %s, whose members can lose acknowledged writes and disagree for ever"
    " when one of them is killed: upgrade it to 3.5.3 or later"
)
_PATIENCE = 3
"""An operation is tried for this many times the timeout of one call."""
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
_REFRESHES = 3
_ASK_VERSIONS_SECONDS = 10.0
# Members close connections that ping more often than every five seconds.
_KEEPALIVE_SECONDS = 10

Method = Callable[["Member"], Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One endpoint, and the services it offers."""

    address: str
    channel: grpc.aio.Channel
    kv: rpc_pb2_grpc.KVStub
    watch: rpc_pb2_grpc.WatchStub
    lease: rpc_pb2_grpc.LeaseStub
    auth: rpc_pb2_grpc.AuthStub
    maintenance: rpc_pb2_grpc.MaintenanceStub


@dataclass(slots=True)
class Sending:
    """What is known of the attempts of one request so far."""

    uncertain: bool = False
    """Whether an attempt that brought no answer may have taken effect."""


class EtcdConnection:
    """Calls to whichever member of the cluster answers."""

    def __init__(self, settings: EtcdSettings) -> None:
        self.timeout = settings.timeout
        self._credentials = settings.credentials
        credentials = _tls_credentials(settings.tls) if settings.tls else None
        options = _options(settings)
        self._members = [_member(address, credentials, options) for address in settings.addresses]
        self._current = 0
        self.closed = False
        self._token: str | None = None
        # Kept because to make it costs a sixth of a call; gRPC does not change what it is given.
        self._metadata = metadata(None)
        self._authenticated = settings.credentials is None
        self._authenticating = asyncio.Lock()
        self._versions: dict[str, str] = {}
        self._ask_versions_at = time.monotonic()

    @property
    def member(self) -> Member:
        """The endpoint that calls go to now."""
        return self._members[self._current]

    @property
    def size(self) -> int:
        """How many endpoints there are."""
        return len(self._members)

    def leave(self, member: Member) -> None:
        """Go to another endpoint than *member* from now on, if that is where calls go."""
        if self.member is member:
            self._current = (self._current + 1) % len(self._members)

    async def call(self, method: Method, request: object, sending: Sending | None = None) -> Any:
        """Send *request* until it is answered, or raise what the answer or the silence means.

        *sending* learns whether an attempt may have taken effect without being answered, and so
        does Unavailable. Without it the request is a read, about which there is nothing to doubt.
        """
        attempts = _Attempts(self, sending)
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
                # Closing the channel cancelled the call, not somebody the caller.
                attempts.lost()

    async def try_once(self, method: Method, request: object) -> None:
        """Send *request* once, soon and without insisting: what it asks for is only a courtesy."""
        if self.closed:
            return
        with contextlib.suppress(grpc.aio.AioRpcError):
            await method(self.member)(
                request, timeout=min(self.timeout, 0.5), metadata=self._metadata
            )

    @contextlib.asynccontextmanager
    async def patience(self) -> AsyncIterator[None]:
        """Bound the time of waiting for a turn together with what is done when it comes.

        Without this, those who wait for a lock would wait for the failures of all before them.
        """
        try:
            async with asyncio.timeout(_PATIENCE * self.timeout):
                yield
        except TimeoutError:
            raise Unavailable(f"etcd at {self.member.address} does not answer") from None

    async def token(self) -> str | None:
        """The authentication token, fetched if there is none yet; None where none is needed."""
        if not self._authenticated:
            await self.refresh_token(None)
        return self._token

    async def refresh_token(self, stale: str | None) -> None:
        """Authenticate again unless somebody has replaced the *stale* token in the meantime."""
        if self._credentials is None:
            raise AccessDenied("etcd asks for a user and a password, and the URL has none")
        async with self.patience(), self._authenticating:
            if self._token == stale:
                await self._authenticate()
                self._authenticated = True

    async def trusts_progress(self) -> bool:
        """Whether every endpoint is of a version whose progress notifications can be believed.

        Each endpoint is asked once; one that cannot be asked means no for now.
        """
        unknown = [each for each in self._members if each.address not in self._versions]
        if unknown and time.monotonic() >= self._ask_versions_at:
            self._ask_versions_at = time.monotonic() + _ASK_VERSIONS_SECONDS
            await asyncio.gather(*(self._ask_version(member) for member in unknown))
        return self.progress_trusted

    @property
    def progress_trusted(self) -> bool:
        """What `trusts_progress` has found out so far."""
        known = all(each.address in self._versions for each in self._members)
        return known and all(map(reports_progress_rightly, self._versions.values()))

    async def close(self) -> None:
        """Cut all connections, which ends all calls."""
        self.closed = True
        for member in self._members:
            await member.channel.close()

    async def _ask_version(self, member: Member) -> None:
        request = rpc_pb2.StatusRequest()
        with contextlib.suppress(grpc.aio.AioRpcError):
            reply = await member.maintenance.Status(request, timeout=self.timeout)
            version = str(reply.version)
            if loses_data(version):
                log.warning(_DIVERGES, member.address, version)
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
    """Decides after each failed attempt of one request: once more, or what to raise."""

    def __init__(self, connection: EtcdConnection, sending: Sending | None) -> None:
        self._connection = connection
        self._sending = sending
        self._give_up = time.monotonic() + _PATIENCE * connection.timeout
        self._pauses = Pauses(per_round=connection.size)
        self._refreshed = 0

    def timeout(self) -> float:
        return min(self._connection.timeout, max(self._give_up - time.monotonic(), 0.001))

    async def failed(self, member: Member, token: str | None, error: grpc.aio.AioRpcError) -> None:
        """Return when it is time for the next attempt, or raise."""
        verdict = judge(error)
        if verdict is Verdict.FINAL:
            raise translate(error) from error
        if verdict is Verdict.TOKEN:
            await self._refresh(token, error)
            return
        if verdict is Verdict.UNKNOWN:
            self.lost()
        self._connection.leave(member)
        pause = self._pauses.next()
        if time.monotonic() + pause >= self._give_up:
            reason = f"{error.code().name}: {error.details()}"
            raise self.unavailable(f"etcd at {member.address}: {reason}") from error
        await asyncio.sleep(pause)

    def lost(self) -> None:
        """Remember that an attempt may have taken effect."""
        if self._sending is not None:
            self._sending.uncertain = True

    def unavailable(self, message: str) -> Unavailable:
        uncertain = self._sending is not None and self._sending.uncertain
        return Unavailable(message, uncertain=uncertain)

    async def _refresh(self, token: str | None, error: grpc.aio.AioRpcError) -> None:
        self._refreshed += 1
        if self._refreshed > _REFRESHES:
            raise AccessDenied(f"etcd: {error.details()}") from error
        await self._connection.refresh_token(token)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Pauses:
    """How long to wait before the next attempt: not at all until every endpoint had its turn."""

    def __init__(self, per_round: int) -> None:
        self._per_round = per_round
        self.reset()

    def reset(self) -> None:
        """Begin again with the shortest pause."""
        self._failures = 0
        self._pause = _FIRST_PAUSE

    def next(self) -> float:
        """The pause after one more failure."""
        self._failures += 1
        if self._failures % self._per_round:
            return 0.0
        # Clients that lost the same member must not all come back at the same moment.
        pause = self._pause * random.uniform(0.5, 1.0)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return pause


def metadata(token: str | None) -> grpc.aio.Metadata:
    """What every call carries: a member without a leader shall say so instead of waiting."""
    leader = ("hasleader", "true")
    return (
        grpc.aio.Metadata(leader) if token is None else grpc.aio.Metadata(leader, ("token", token))
    )


def _member(
    address: str,
    credentials: grpc.ChannelCredentials | None,
    options: list[tuple[str, int | str]],
) -> Member:
    if credentials is None:
        channel = grpc.aio.insecure_channel(address, options)
    else:
        channel = grpc.aio.secure_channel(address, credentials, options)
    return Member(
        address=address,
        channel=channel,
        kv=rpc_pb2_grpc.KVStub(channel),
        watch=rpc_pb2_grpc.WatchStub(channel),
        lease=rpc_pb2_grpc.LeaseStub(channel),
        auth=rpc_pb2_grpc.AuthStub(channel),
        maintenance=rpc_pb2_grpc.MaintenanceStub(channel),
    )


def _options(settings: EtcdSettings) -> list[tuple[str, int | str]]:
    timeout = int(settings.timeout * 1000)
    options: list[tuple[str, int | str]] = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", _KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", timeout),
        # Without this a silent connection is given up after a minute, whatever is said above.
        ("grpc.http2.ping_timeout_ms", max(timeout, 1000)),
        ("grpc.http2.max_pings_without_data", 0),
        # How long to wait for a connection, and between attempts at one.
        ("grpc.min_reconnect_backoff_ms", timeout),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1000),
        # Connections of another backend in this process have their own troubles.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    ]
    if settings.tls is not None and settings.tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", settings.tls.server_name))
    return options


def _tls_credentials(tls: Tls) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=_content("ca", tls.ca),
        private_key=_content("key", tls.key),
        certificate_chain=_content("cert", tls.certificate),
    )


def _content(parameter: str, path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise InvalidURL(f"etcd URL: parameter {parameter!r}: {error}") from error
