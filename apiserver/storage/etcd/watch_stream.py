"""Watch stream: one watch on one stream to one member, read ahead of its reader.

Replies are read as they arrive, so that a reader that was busy gets all of them at once. They are
bounded: when `MAX_WAITING_BYTES` wait, the stream is not read until the reader has taken them, and
HTTP/2 flow control holds back etcd.
"""

import asyncio
from typing import Final

import grpc
from aetcd.rpc import rpc_pb2

from apiserver.storage.etcd.channel import EtcdConnection, metadata
from apiserver.storage.etcd.errors import FailureKind, classify
from apiserver.storage.etcd.member import Member
from apiserver.storage.interface import Unavailable

MAX_WAITING_BYTES: Final = 4 << 20
"""Replies may wait up to this size, and one more of any size."""
_REPLY_BYTES: Final = 512
"""The memory that a reply takes beside its content, roughly."""


class StreamEnded(Exception):
    """A watch stream has ended; *kind* classifies its error, None if there was none."""

    def __init__(self, kind: FailureKind | None) -> None:
        super().__init__()
        self.kind = kind


class WatchStream:
    """One stream to one member, for one watch: etcd reports progress per stream, not per watch."""

    def __init__(
        self, member: Member, token: str | None, create: rpc_pb2.WatchCreateRequest
    ) -> None:
        self.member = member
        self.token = token
        self.created = False
        self._call = member.watch.Watch(metadata=metadata(token))
        self._replies: list[rpc_pb2.WatchResponse] = []
        self._waiting_bytes = 0
        self._room = asyncio.Event()
        self._wake: asyncio.Future[None] | None = None
        # The task also sends the request: gRPC's `write` does not notice that a call which is not
        # yet connected was cancelled, so it must be in a task that `close` can cancel.
        self._reading = asyncio.create_task(
            self._read_ahead(rpc_pb2.WatchRequest(create_request=create)), name="etcd watch"
        )
        self._reading.add_done_callback(lambda _: self.interrupt())

    @classmethod
    async def open(
        cls, connection: EtcdConnection, create: rpc_pb2.WatchCreateRequest
    ) -> "WatchStream":
        """Open a stream to the current member. Raises StreamEnded."""
        try:
            token = await connection.token()
        except Unavailable:
            raise StreamEnded(None) from None
        if connection.closed:
            raise StreamEnded(None)
        return cls(connection.member, token, create)

    async def request_progress_report(self) -> None:
        """Send a progress request."""
        request = rpc_pb2.WatchRequest(progress_request=rpc_pb2.WatchProgressRequest())
        try:
            await self._call.write(request)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
            raise _stream_ended(error) from error

    async def read(self, timeout: float | None) -> list[rpc_pb2.WatchResponse]:
        """Return all replies that wait; none after *timeout* seconds or an interrupt."""
        if not self._replies and not self._reading.done():
            self._wake = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._wake,), timeout=timeout)
        replies = self._take()
        if not replies and self._reading.done():
            raise self._end()
        self.created = self.created or any(reply.created for reply in replies)
        return replies

    def interrupt(self) -> None:
        """Make a waiting `read` return."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def close(self) -> None:
        """End the stream and the reading of it."""
        self._call.cancel()
        self._reading.cancel()
        await asyncio.wait((self._reading,))

    def _take(self) -> list[rpc_pb2.WatchResponse]:
        replies, self._replies = self._replies, []
        self._waiting_bytes = 0
        self._room.set()
        return replies

    async def _read_ahead(self, create: rpc_pb2.WatchRequest) -> None:
        await self._call.write(create)
        while (reply := await self._call.read()) is not grpc.aio.EOF:
            self._replies.append(reply)
            self._waiting_bytes += reply.ByteSize() + _REPLY_BYTES
            self.interrupt()
            if self._waiting_bytes >= MAX_WAITING_BYTES:
                self._room.clear()
                await self._room.wait()

    def _end(self) -> StreamEnded:
        if self._reading.cancelled():
            return StreamEnded(None)
        error = self._reading.exception()
        return StreamEnded(None) if error is None else _stream_ended(error)


def _stream_ended(error: BaseException) -> StreamEnded:
    ended = StreamEnded(classify(error) if isinstance(error, grpc.aio.AioRpcError) else None)
    ended.__cause__ = error
    return ended
