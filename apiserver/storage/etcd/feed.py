"""etcd feed: one watch over as many streams as it takes.

A feed reads ahead while its reader is busy, and merges all replies that wait into one batch: etcd
sends a reply for each write, and a reader that takes them one at a time falls behind a busy store.
The replies that wait are bounded (`watch_stream`). When they are that many, the stream is no
longer read: HTTP/2 flow control then holds back etcd, which keeps its position until compaction
passes it. When a stream ends for any reason, the feed opens another at any member that answers,
from the last revision it delivered.

The new stream starts at the last delivered revision, and the feed drops that revision: etcd accepts
a watch that starts exactly at the compacted revision although the deletions of that revision are
already lost. Starting one revision earlier makes etcd report Compacted in that case.
"""

import asyncio
import contextlib
from collections.abc import Iterable

from aetcd.rpc import kv_pb2, rpc_pb2

from apiserver.storage.etcd.channel import CallBackoff, EtcdConnection
from apiserver.storage.etcd.errors import AccessDenied, FailureKind, is_stale_token
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.etcd.watch_stream import StreamEnded, WatchStream
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
        # A failure behind changes that are delivered first.
        self._failure: Exception | None = None
        self._backoff = CallBackoff(per_round=connection.size)
        self._closing = asyncio.Event()
        self._progress_wanted = False
        self._denied = False

    def __aiter__(self) -> "EtcdFeed":
        return self

    async def __anext__(self) -> ChangeBatch:
        while not self._closing.is_set():
            try:
                batch = await self._next_batch()
            except StreamEnded as end:
                await self._recover(end)
            except _PreviousValueLost:
                raise await self._compacted_error() from None
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

    async def _next_batch(self) -> ChangeBatch | None:
        """Return one batch with all replies that wait, None if they complete none."""
        if self._failure is not None:
            raise self._failure
        replies = await self._next_replies()
        # From here to the end nothing awaits, so that a cancelled reader loses no reply.
        changes: list[StoredChange] = []
        reported = False
        for reply in replies:
            try:
                reported = self._process_reply(reply, changes) or reported
            except (StreamEnded, Compacted, AccessDenied, _PreviousValueLost) as failure:
                self._failure = failure
                if not changes and not reported:
                    raise
                break
        return ChangeBatch(tuple(changes), self._revision) if changes or reported else None

    async def _next_replies(self) -> list[rpc_pb2.WatchResponse]:
        stream = self._stream or await self._open()
        while not (replies := await stream.read(self._wait(stream))):
            if not stream.created:
                raise StreamEnded(None)
            if self._progress_wanted:
                await stream.request_progress_report()
        return replies

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
        self._failure = None
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()

    def _process_reply(self, reply: rpc_pb2.WatchResponse, changes: list[StoredChange]) -> bool:
        """Append the changes that *reply* completes; return whether it reports progress."""
        if reply.canceled:
            raise self._cancellation_error(reply)
        if reply.created:
            self._denied = False
            self._backoff.reset()
            return False
        self._fragments.extend(reply.events)
        if reply.fragment:
            return False
        events, self._fragments = self._fragments, []
        if not events:
            return self._progress(reply.header.revision)
        new = self._changes(events)
        if new:
            changes += new
            self._revision = new[-1].revision
        return False

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

    def _progress(self, revision: int) -> bool:
        # A member that lags behind the previous one reports a revision that was already delivered.
        reached = max(revision, self._revision)
        advanced = reached > self._revision
        if not self._connection.progress_supported or not (advanced or self._progress_wanted):
            return False
        self._progress_wanted = False
        self._revision = reached
        return True

    def _changes(self, events: Iterable[kv_pb2.Event]) -> list[StoredChange]:
        """Return the changes of the events that are new."""
        delivered = self._revision
        return [self._change(event) for event in events if event.kv.mod_revision > delivered]

    def _change(self, event: kv_pb2.Event) -> StoredChange:
        """Return the change of an event. Raises _PreviousValueLost."""
        kv = event.kv
        if event.type == kv_pb2.Event.PUT and kv.create_revision == kv.mod_revision:
            key = self._keyspace.decode(kv.key)
            return StoredChange(key, kv.value, None, kv.mod_revision, kv.create_revision)
        if not event.HasField("prev_kv"):
            raise _PreviousValueLost
        previous = event.prev_kv
        return StoredChange(
            key=self._keyspace.decode(kv.key),
            value=kv.value if event.type == kv_pb2.Event.PUT else None,
            previous=previous.value,
            revision=kv.mod_revision,
            created=previous.create_revision,
        )

    async def _compacted_error(self) -> Compacted:
        """Return the error for an event whose previous value was compacted before delivery."""
        oldest = await oldest_revision(self._connection, self._keyspace, self._revision)
        return Compacted(self._revision, oldest=oldest)


class _PreviousValueLost(Exception):
    """The previous value of a change was compacted before the change was delivered."""


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
            while True:
                for reply in await stream.read(None):
                    if reply.canceled:
                        return max(int(reply.compact_revision), revision + 1)
    except (StreamEnded, TimeoutError):
        return revision + 1
    finally:
        if stream is not None:
            await stream.close()
