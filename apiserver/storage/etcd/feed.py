"""etcd feed: one watch over as many streams as it takes.

A feed reads from the stream only when the next batch is requested, so nothing is buffered here:
HTTP/2 flow control holds back etcd for a slow reader, and etcd keeps its position until compaction
passes it. When a stream ends for any reason, the feed opens another at any member that answers,
from the last revision it delivered.

The new stream starts at the last delivered revision, and the feed drops that revision: etcd accepts
a watch that starts exactly at the compacted revision although the deletions of that revision are
already lost. Starting one revision earlier makes etcd report Compacted in that case.
"""

import asyncio
import contextlib
from collections.abc import Sequence

import grpc
from aetcd.rpc import kv_pb2, rpc_pb2

from apiserver.storage.etcd.channel import CallBackoff, EtcdConnection, Member, metadata
from apiserver.storage.etcd.errors import AccessDenied, FailureKind, classify, is_stale_token
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.interface import ChangeBatch, Compacted, StoredChange, Unavailable

_PROGRESS_RETRY_SECONDS = 0.1
"""etcd ignores a progress request while the watch is still catching up: repeat it."""


class EtcdFeed:
    """An open watch."""

    def __init__(
        self, connection: EtcdConnection, keyspace: Keyspace, prefix: str, *, after: int
    ) -> None:
        self._connection = connection
        self._keyspace = keyspace
        self._span = keyspace.span(prefix)
        self._revision = max(after, 0)
        self._stream: WatchStream | None = None
        self._fragments: list[kv_pb2.Event] = []
        self._backoff = CallBackoff(per_round=connection.size)
        self._closing = asyncio.Event()
        self._progress_wanted = False
        self._denied = False

    def __aiter__(self) -> "EtcdFeed":
        return self

    async def __anext__(self) -> ChangeBatch:
        while not self._closing.is_set():
            try:
                batch = await self._process_reply(await self._next_reply())
            except StreamEnded as end:
                await self._recover(end)
            else:
                if batch is not None:
                    return batch
        raise StopAsyncIteration

    async def request_progress(self) -> bool:
        """Request a batch even if nothing changes; False if etcd's progress is not reliable."""
        if not await self._connection.supports_progress():
            return False
        self._progress_wanted = True
        # Until the watch is created, a read without a reply means that the member does not answer.
        if self._stream is not None and self._stream.created:
            self._stream.interrupt()
        return True

    async def close(self) -> None:
        """End the stream; a task waiting for the next batch gets StopAsyncIteration."""
        self._closing.set()
        await self._drop_stream()

    async def _next_reply(self) -> rpc_pb2.WatchResponse:
        stream = self._stream or await self._open()
        while (reply := await stream.read(self._wait(stream))) is None:
            if not stream.created:
                raise StreamEnded(None)
            if self._progress_wanted:
                await stream.request_progress_report()
        return reply

    def _wait(self, stream: "WatchStream") -> float | None:
        if not stream.created:
            return self._connection.timeout
        return _PROGRESS_RETRY_SECONDS if self._progress_wanted else None

    async def _open(self) -> "WatchStream":
        begin, end = self._span
        request = rpc_pb2.WatchCreateRequest(
            key=begin,
            range_end=end,
            start_revision=max(self._revision, 1),
            prev_kv=True,
            fragment=True,
            progress_notify=self._connection.progress_supported,
        )
        self._stream = await WatchStream.open(self._connection, request)
        return self._stream

    async def _recover(self, end: "StreamEnded") -> None:
        stream = self._stream
        await self._drop_stream()
        try:
            if stream is not None and end.kind is FailureKind.TOKEN:
                await self._connection.refresh_token(stream.token)
            elif stream is not None:
                self._connection.switch_from(stream.member)
        except Unavailable:
            pass  # The next attempt will report it if it persists.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._backoff.next()):
                await self._closing.wait()

    async def _drop_stream(self) -> None:
        self._fragments = []
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()

    async def _process_reply(self, reply: rpc_pb2.WatchResponse) -> ChangeBatch | None:
        """Return the batch that *reply* completes, None if it completes none."""
        if reply.canceled:
            raise self._cancellation_error(reply)
        if reply.created:
            self._denied = False
            self._backoff.reset()
            return None
        self._fragments.extend(reply.events)
        if reply.fragment:
            return None
        events, self._fragments = self._fragments, []
        if not events:
            return self._progress(reply.header.revision)
        changes = [self._change(event) for event in events if self._is_new(event)]
        if None in changes:
            raise await self._compacted_error()
        return self._batch([change for change in changes if change is not None])

    def _cancellation_error(self, reply: rpc_pb2.WatchResponse) -> Exception:
        if reply.compact_revision:
            return Compacted(self._revision, oldest=reply.compact_revision)
        if is_stale_token(reply.cancel_reason):
            return StreamEnded(FailureKind.TOKEN)
        if "permission denied" not in reply.cancel_reason:
            return StreamEnded(None)
        if self._denied:
            return AccessDenied(f"etcd: watch: {reply.cancel_reason}")
        # Old releases give this reason for an expired token, too.
        self._denied = True
        return StreamEnded(FailureKind.TOKEN)

    def _is_new(self, event: kv_pb2.Event) -> bool:
        return bool(event.kv.mod_revision > self._revision)

    def _progress(self, revision: int) -> ChangeBatch | None:
        # A member that lags behind the previous one reports a revision that was already delivered.
        reached = max(revision, self._revision)
        advanced = reached > self._revision
        if not self._connection.progress_supported or not (advanced or self._progress_wanted):
            return None
        self._progress_wanted = False
        self._revision = reached
        return ChangeBatch((), reached)

    def _change(self, event: kv_pb2.Event) -> StoredChange | None:
        """Return the change of an event, or None if its previous value is compacted."""
        kv = event.kv
        previous = event.prev_kv if event.HasField("prev_kv") else None
        if event.type == kv_pb2.Event.PUT and kv.create_revision == kv.mod_revision:
            key = self._keyspace.decode(kv.key)
            return StoredChange(key, kv.value, None, kv.mod_revision, kv.create_revision)
        if previous is None:
            return None
        value = kv.value if event.type == kv_pb2.Event.PUT else None
        return StoredChange(
            key=self._keyspace.decode(kv.key),
            value=value,
            previous=previous.value,
            revision=kv.mod_revision,
            created=previous.create_revision,
        )

    def _batch(self, changes: Sequence[StoredChange]) -> ChangeBatch | None:
        if not changes:
            return None
        self._revision = changes[-1].revision
        return ChangeBatch(tuple(changes), self._revision)

    async def _compacted_error(self) -> Compacted:
        """Return the error for an event whose previous value was compacted before delivery."""
        oldest = await oldest_revision(self._connection, self._keyspace, self._revision)
        return Compacted(self._revision, oldest=oldest)


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
        # Cancelling a read would end the stream, so the read continues in a task when its reader is
        # cancelled. The task also sends the request: gRPC's `write` does not notice that a call
        # which is not yet connected was cancelled, so it must be in a task that `close` can cancel.
        self._reading: asyncio.Task[rpc_pb2.WatchResponse] | None = asyncio.create_task(
            self._create_watch(rpc_pb2.WatchRequest(create_request=create)), name="etcd watch"
        )
        self._interrupt: asyncio.Future[None] | None = None

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

    async def read(self, timeout: float | None) -> rpc_pb2.WatchResponse | None:
        """Return the next reply, or None after *timeout* seconds or an interrupt."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._call.read(), name="etcd watch")
        self._interrupt = asyncio.get_running_loop().create_future()
        await asyncio.wait(
            {self._reading, self._interrupt}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        if not self._reading.done():
            return None
        reading, self._reading = self._reading, None
        return self._result(reading)

    def interrupt(self) -> None:
        """Make a waiting `read` return None."""
        if self._interrupt is not None and not self._interrupt.done():
            self._interrupt.set_result(None)

    async def close(self) -> None:
        """End the stream and the pending read."""
        self._call.cancel()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _create_watch(self, create: rpc_pb2.WatchRequest) -> rpc_pb2.WatchResponse:
        await self._call.write(create)
        return await self._call.read()

    def _result(self, reading: "asyncio.Task[rpc_pb2.WatchResponse]") -> rpc_pb2.WatchResponse:
        if reading.cancelled():
            raise StreamEnded(None)
        error = reading.exception()
        if error is not None:
            raise _stream_ended(error) from error
        reply = reading.result()
        if reply is grpc.aio.EOF:
            raise StreamEnded(None)
        self.created = self.created or reply.created
        return reply


def _stream_ended(error: BaseException) -> StreamEnded:
    return StreamEnded(classify(error) if isinstance(error, grpc.aio.AioRpcError) else None)


async def oldest_revision(connection: EtcdConnection, keyspace: Keyspace, revision: int) -> int:
    """Return the compacted revision, by watching at a *revision* known to be compacted.

    etcd has no cheaper request for it. Without an answer, return the lowest possible revision.
    """
    create = rpc_pb2.WatchCreateRequest(
        key=keyspace.internal_key(""), start_revision=max(revision, 1)
    )
    stream = None
    try:
        async with asyncio.timeout(connection.timeout):
            stream = await WatchStream.open(connection, create)
            while (reply := await stream.read(None)) is None or not reply.canceled:
                pass
            return max(int(reply.compact_revision), revision + 1)
    except (StreamEnded, TimeoutError):
        return revision + 1
    finally:
        if stream is not None:
            await stream.close()
