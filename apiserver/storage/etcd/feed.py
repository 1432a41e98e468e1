"""One watch over however many streams it takes.

A feed reads from the stream only when it is asked for the next batch, so nothing is buffered here:
a slow reader is held back by HTTP/2, and etcd keeps its place until compaction passes it. When a
stream ends for any reason the feed opens another, at whichever member answers, from the last
revision it delivered.

A stream is asked for the last delivered revision once more, and that revision is dropped here:
etcd accepts a watch that begins exactly at the compacted revision although the deletions of that
revision are already lost. Beginning one earlier makes etcd itself say Compacted in that case.
"""

import asyncio
import contextlib
from collections.abc import Sequence

import grpc
from aetcd.rpc import kv_pb2, rpc_pb2

from apiserver.storage.etcd.channel import EtcdConnection, Member, Pauses, metadata
from apiserver.storage.etcd.errors import AccessDenied, Verdict, judge
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.interface import ChangeBatch, Compacted, StoredChange, Unavailable

_ASK_AGAIN_SECONDS = 0.1
"""etcd stays silent when it is asked for progress while the watch is still catching up."""


class EtcdFeed:
    """A running watch."""

    def __init__(
        self, connection: EtcdConnection, keyspace: Keyspace, prefix: str, *, after: int
    ) -> None:
        self._connection = connection
        self._keyspace = keyspace
        self._span = keyspace.span(prefix)
        self._revision = max(after, 0)
        self._stream: WatchStream | None = None
        self._fragments: list[kv_pb2.Event] = []
        self._pauses = Pauses(per_round=connection.size)
        self._closing = asyncio.Event()
        self._progress_wanted = False
        self._denied = False

    def __aiter__(self) -> "EtcdFeed":
        return self

    async def __anext__(self) -> ChangeBatch:
        while not self._closing.is_set():
            try:
                batch = await self._digest(await self._reply())
            except StreamEnded as ended:
                await self._recover(ended)
            else:
                if batch is not None:
                    return batch
        raise StopAsyncIteration

    async def request_progress(self) -> bool:
        """Ask for a batch even if nothing changes, unless etcd's word cannot be relied on."""
        if not await self._connection.trusts_progress():
            return False
        self._progress_wanted = True
        # Before that, a read that returns nothing means that the member stays silent.
        if self._stream is not None and self._stream.created:
            self._stream.nudge()
        return True

    async def close(self) -> None:
        """End the stream; whoever waits for the next batch is told that there is none."""
        self._closing.set()
        await self._drop_stream()

    async def _reply(self) -> rpc_pb2.WatchResponse:
        stream = self._stream or await self._open()
        while (reply := await stream.read(self._wait(stream))) is None:
            if not stream.created:
                raise StreamEnded(None)
            if self._progress_wanted:
                await stream.ask_progress()
        return reply

    def _wait(self, stream: "WatchStream") -> float | None:
        if not stream.created:
            return self._connection.timeout
        return _ASK_AGAIN_SECONDS if self._progress_wanted else None

    async def _open(self) -> "WatchStream":
        begin, end = self._span
        request = rpc_pb2.WatchCreateRequest(
            key=begin,
            range_end=end,
            start_revision=max(self._revision, 1),
            prev_kv=True,
            fragment=True,
            progress_notify=self._connection.progress_trusted,
        )
        self._stream = await WatchStream.open(self._connection, request)
        return self._stream

    async def _recover(self, ended: "StreamEnded") -> None:
        stream = self._stream
        await self._drop_stream()
        try:
            if stream is not None and ended.verdict is Verdict.TOKEN:
                await self._connection.refresh_token(stream.token)
            elif stream is not None:
                self._connection.leave(stream.member)
        except Unavailable:
            pass  # The next attempt will find out whether that is still so.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pauses.next()):
                await self._closing.wait()

    async def _drop_stream(self) -> None:
        self._fragments = []
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()

    async def _digest(self, reply: rpc_pb2.WatchResponse) -> ChangeBatch | None:
        """What a reply adds up to, if it completes a batch."""
        if reply.canceled:
            raise self._cancelled(reply)
        if reply.created:
            self._denied = False
            self._pauses.reset()
            return None
        self._fragments.extend(reply.events)
        if reply.fragment:
            return None
        events, self._fragments = self._fragments, []
        if not events:
            return self._progress(reply.header.revision)
        changes = [self._change(event) for event in events if self._is_new(event)]
        if None in changes:
            raise await self._previous_lost()
        return self._batch([change for change in changes if change is not None])

    def _cancelled(self, reply: rpc_pb2.WatchResponse) -> Exception:
        if reply.compact_revision:
            return Compacted(self._revision, oldest=reply.compact_revision)
        if "permission denied" not in reply.cancel_reason:
            return StreamEnded(None)
        if self._denied:
            return AccessDenied(f"etcd: watch: {reply.cancel_reason}")
        # Old releases say this of an expired token too.
        self._denied = True
        return StreamEnded(Verdict.TOKEN)

    def _is_new(self, event: kv_pb2.Event) -> bool:
        return bool(event.kv.mod_revision > self._revision)

    def _progress(self, revision: int) -> ChangeBatch | None:
        # A member that lags behind the one before it reports less than was delivered already.
        reached = max(revision, self._revision)
        advanced = reached > self._revision
        if not self._connection.progress_trusted or not (advanced or self._progress_wanted):
            return None
        self._progress_wanted = False
        self._revision = reached
        return ChangeBatch((), reached)

    def _change(self, event: kv_pb2.Event) -> StoredChange | None:
        """The change an event tells of, or None if what was there before is no longer known."""
        kv = event.kv
        previous = event.prev_kv if event.HasField("prev_kv") else None
        if event.type == kv_pb2.Event.PUT and kv.create_revision == kv.mod_revision:
            key = self._keyspace.key(kv.key)
            return StoredChange(key, kv.value, None, kv.mod_revision, kv.create_revision)
        if previous is None:
            return None
        value = kv.value if event.type == kv_pb2.Event.PUT else None
        return StoredChange(
            key=self._keyspace.key(kv.key),
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

    async def _previous_lost(self) -> Compacted:
        """etcd leaves out the previous value when compaction overtook an event on its way."""
        oldest = await oldest_revision(self._connection, self._keyspace, self._revision)
        return Compacted(self._revision, oldest=oldest)


class StreamEnded(Exception):
    """A watch stream is over; the verdict of its last error is None if there was no error."""

    def __init__(self, verdict: Verdict | None) -> None:
        super().__init__()
        self.verdict = verdict


class WatchStream:
    """One stream to one member, for one watch: progress is reported per stream, not per watch."""

    def __init__(
        self, member: Member, token: str | None, create: rpc_pb2.WatchCreateRequest
    ) -> None:
        self.member = member
        self.token = token
        self.created = False
        self._call = member.watch.Watch(metadata=metadata(token))
        # Cancelling a read would end the stream, so a read lives on when its reader is cancelled.
        # The request is written there as well: gRPC's `write` does not notice that a call which is
        # not connected yet was cancelled, so it must be in a task that `close` can cancel.
        self._reading: asyncio.Task[rpc_pb2.WatchResponse] | None = asyncio.create_task(
            self._first(rpc_pb2.WatchRequest(create_request=create)), name="etcd watch"
        )
        self._nudge: asyncio.Future[None] | None = None

    @classmethod
    async def open(
        cls, connection: EtcdConnection, create: rpc_pb2.WatchCreateRequest
    ) -> "WatchStream":
        """A stream to the member that calls go to now."""
        try:
            token = await connection.token()
        except Unavailable:
            raise StreamEnded(None) from None
        if connection.closed:
            raise StreamEnded(None)
        return cls(connection.member, token, create)

    async def ask_progress(self) -> None:
        """Send a request for progress."""
        request = rpc_pb2.WatchRequest(progress_request=rpc_pb2.WatchProgressRequest())
        try:
            await self._call.write(request)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
            raise _ended(error) from error

    async def read(self, timeout: float | None) -> rpc_pb2.WatchResponse | None:
        """The next reply, or None after *timeout* seconds or a nudge."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._call.read(), name="etcd watch")
        self._nudge = asyncio.get_running_loop().create_future()
        await asyncio.wait(
            {self._reading, self._nudge}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        if not self._reading.done():
            return None
        reading, self._reading = self._reading, None
        return self._result(reading)

    def nudge(self) -> None:
        """Make a waiting `read` return."""
        if self._nudge is not None and not self._nudge.done():
            self._nudge.set_result(None)

    async def close(self) -> None:
        """End the stream and what reads from it."""
        self._call.cancel()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _first(self, create: rpc_pb2.WatchRequest) -> rpc_pb2.WatchResponse:
        await self._call.write(create)
        return await self._call.read()

    def _result(self, reading: "asyncio.Task[rpc_pb2.WatchResponse]") -> rpc_pb2.WatchResponse:
        if reading.cancelled():
            raise StreamEnded(None)
        error = reading.exception()
        if error is not None:
            raise _ended(error) from error
        reply = reading.result()
        if reply is grpc.aio.EOF:
            raise StreamEnded(None)
        self.created = self.created or reply.created
        return reply


def _ended(error: BaseException) -> StreamEnded:
    return StreamEnded(judge(error) if isinstance(error, grpc.aio.AioRpcError) else None)


async def oldest_revision(connection: EtcdConnection, keyspace: Keyspace, revision: int) -> int:
    """The revision an etcd is compacted to, asked of a watch at a *revision* known to be gone.

    There is no cheaper way to ask. If no answer comes, the least that can be true is returned.
    """
    create = rpc_pb2.WatchCreateRequest(key=keyspace.own(""), start_revision=max(revision, 1))
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
