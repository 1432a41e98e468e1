"""An etcd that says what a test wrote down for it: for words that a real one says only rarely.

Used where a real etcd cannot be brought to the point: newer versions, lost previous values,
fragments at a chosen place.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
from aetcd.rpc import kv_pb2, rpc_pb2, rpc_pb2_grpc

Stream: TypeAlias = Any
"""gRPC's own classes have no types."""
Script = Callable[["Conversation"], Awaitable[None]]


@dataclass
class Conversation:
    """One watch stream as the server sees it."""

    requests: AsyncIterator[rpc_pb2.WatchRequest]
    context: Stream
    start: int = 0
    """The revision the watch was asked to begin at."""
    metadata: dict[str, str] = field(default_factory=dict)

    async def accept(self) -> None:
        """Read the request for a watch and say that it is created."""
        request = await anext(self.requests)
        self.start = request.create_request.start_revision
        self.metadata = dict(self.context.invocation_metadata())
        await self.say(created=True)

    async def asked_for_progress(self) -> None:
        """Wait for a request for progress."""
        request = await anext(self.requests)
        assert request.HasField("progress_request")

    async def say(self, revision: int = 1, **fields: Any) -> None:
        """Send one reply."""
        header = rpc_pb2.ResponseHeader(revision=revision)
        await self.context.write(rpc_pb2.WatchResponse(header=header, **fields))


class _Services(
    rpc_pb2_grpc.KVServicer,  # type: ignore[misc]
    rpc_pb2_grpc.WatchServicer,  # type: ignore[misc]
    rpc_pb2_grpc.MaintenanceServicer,  # type: ignore[misc]
    rpc_pb2_grpc.AuthServicer,  # type: ignore[misc]
):
    """The services of an etcd that a watch needs."""


@dataclass
class FakeEtcd(_Services):
    """Each watch stream plays the next script; the last one is followed by silence."""

    version: str
    scripts: Sequence[Script]
    conversations: list[Conversation] = field(default_factory=list)
    tokens: int = 0
    """How many tokens it has given away."""

    async def Range(  # noqa: N802
        self, request: rpc_pb2.RangeRequest, context: Stream
    ) -> rpc_pb2.RangeResponse:
        return rpc_pb2.RangeResponse(header=rpc_pb2.ResponseHeader(revision=1))

    async def Status(  # noqa: N802
        self, request: rpc_pb2.StatusRequest, context: Stream
    ) -> rpc_pb2.StatusResponse:
        return rpc_pb2.StatusResponse(version=self.version)

    async def Authenticate(  # noqa: N802
        self, request: rpc_pb2.AuthenticateRequest, context: Stream
    ) -> rpc_pb2.AuthenticateResponse:
        self.tokens += 1
        return rpc_pb2.AuthenticateResponse(token=f"token-{self.tokens}")

    async def Watch(  # noqa: N802
        self, requests: AsyncIterator[rpc_pb2.WatchRequest], context: Stream
    ) -> None:
        number = len(self.conversations)
        conversation = Conversation(aiter(requests), context)
        self.conversations.append(conversation)
        await conversation.accept()
        await self.scripts[number](conversation)
        if number + 1 == len(self.scripts):
            await asyncio.Event().wait()


@asynccontextmanager
async def start_fake(version: str, *scripts: Script) -> AsyncIterator[tuple[FakeEtcd, str]]:
    """Serve a fake etcd, and yield it and its address."""
    fake = FakeEtcd(version, scripts)
    server = grpc.aio.server()
    rpc_pb2_grpc.add_KVServicer_to_server(fake, server)
    rpc_pb2_grpc.add_WatchServicer_to_server(fake, server)
    rpc_pb2_grpc.add_MaintenanceServicer_to_server(fake, server)
    rpc_pb2_grpc.add_AuthServicer_to_server(fake, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield fake, f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


def put(key: str, revision: int, *, created: int = 0, previous: bytes | None = None) -> Any:
    """An event: of a creation unless it says when the key was created."""
    created = created or revision
    kv = kv_pb2.KeyValue(
        key=key.encode(), value=b"new", mod_revision=revision, create_revision=created
    )
    event = kv_pb2.Event(type=kv_pb2.Event.PUT, kv=kv)
    if previous is not None:
        event.prev_kv.CopyFrom(kv_pb2.KeyValue(value=previous, create_revision=created))
    return event
