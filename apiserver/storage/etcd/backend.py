"""etcd backend: implements the storage interface on an etcd cluster.

Revisions are etcd's own, shared by all users of that cluster. `channel` sends calls to a member,
`session` makes a write take effect exactly once, and `feed` keeps a watch open across streams.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aetcd.rpc import kv_pb2, rpc_pb2

from apiserver.storage.etcd.channel import EtcdConnection
from apiserver.storage.etcd.errors import RevisionCompacted, RevisionInFuture
from apiserver.storage.etcd.feed import EtcdFeed, oldest_revision
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.etcd.member import Member
from apiserver.storage.etcd.session import WriteApplied, Writer
from apiserver.storage.etcd.url import parse_etcd_url
from apiserver.storage.interface import (
    Compacted,
    FutureRevision,
    KeyExists,
    KeyPage,
    Record,
    RevisionConflict,
    Unavailable,
)
from apiserver.storage.value_limit import DEFAULT_LIMIT, ValueLimit

_FIRST_CHUNK = 500
_LARGEST_CHUNK = 5_000
_CHUNK_BYTES = 4 << 20
"""The target size of one reply: large enough to be fast, too small to block the event loop."""


async def open_etcd(url: str) -> "EtcdBackend":
    """Connect to the etcd of an `etcd://` URL (see `url`) and verify that it answers."""
    settings = parse_etcd_url(url)
    backend = EtcdBackend(
        EtcdConnection(settings), Keyspace(settings.prefix), limit=settings.value_limit
    )
    try:
        await backend.current_revision()
        await backend.connection.supports_progress()
    except BaseException:
        await backend.close()
        raise
    return backend


class EtcdBackend:
    """The keys under one prefix of an etcd cluster."""

    def __init__(
        self,
        connection: EtcdConnection,
        keyspace: Keyspace,
        *,
        limit: ValueLimit = DEFAULT_LIMIT,
    ) -> None:
        self.connection = connection
        self._limit = limit
        self._keyspace = keyspace
        self._writer = Writer(connection, keyspace)
        self._feeds: set[EtcdFeed] = set()

    async def get(self, key: str) -> Record | None:
        request = rpc_pb2.RangeRequest(key=self._keyspace.encode(key))
        reply = await self.connection.call(_range, request)
        return self._record(reply.kvs[0]) if reply.kvs else None

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        begin, end = self._keyspace.span(prefix, start)
        request = rpc_pb2.RangeRequest(key=begin, range_end=end)
        if revision is None:
            return await self._newest(request, limit)
        # etcd starts empty at revision 1, and interprets revision 0 as "newest".
        request.revision = max(revision, 1)
        try:
            return await self._chunks(request, limit)
        except RevisionCompacted as error:
            raise await self._compacted_error(revision) from error
        except RevisionInFuture as error:
            current = await self.current_revision()
            raise FutureRevision(revision, current=current) from error

    async def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        self._limit.check(value)
        outcome = await self._writer.write(
            self._keyspace.encode(key), revision=0, value=value, ttl=ttl
        )
        if isinstance(outcome, WriteApplied):
            return outcome.revision
        raise KeyExists(key)

    async def update(
        self,
        key: str,
        value: bytes,
        *,
        revision: int,
        ttl: int | None = None,
        replaced_bytes: int = 0,
    ) -> int:
        self._limit.check(value, replaced_bytes)
        return await self._replace(key, value, revision, ttl)

    async def delete(self, key: str, *, revision: int) -> int:
        return await self._replace(key, None, revision, None)

    @asynccontextmanager
    async def watch(self, prefix: str, *, after: int) -> AsyncIterator[EtcdFeed]:
        if self.connection.closed:
            raise Unavailable("etcd: the connection is closed")
        feed = EtcdFeed(self.connection, self._keyspace, prefix, after=after)
        self._feeds.add(feed)
        try:
            yield feed
        finally:
            self._feeds.discard(feed)
            await feed.close()

    async def current_revision(self) -> int:
        request = rpc_pb2.RangeRequest(key=self._keyspace.internal_key(""), count_only=True)
        reply = await self.connection.call(_range, request)
        return int(reply.header.revision)

    async def compact(self, revision: int) -> None:
        if revision < 1:
            return
        request = rpc_pb2.CompactionRequest(revision=revision)
        try:
            await self.connection.call(lambda member: member.kv.Compact, request)
        except RevisionCompacted:
            return  # Compacted by an earlier call, a lost attempt of this call, or another server.
        except RevisionInFuture as error:
            current = await self.current_revision()
            raise FutureRevision(revision, current=current) from error

    async def check_integrity(self) -> None:
        """Pass: etcd checks itself, and then refuses writes with an alarm."""

    async def check_members(self) -> list[str]:
        request = rpc_pb2.RangeRequest(key=self._keyspace.internal_key(""), count_only=True)
        return await self.connection.check_members(_range, request)

    async def close(self) -> None:
        for feed in list(self._feeds):
            await feed.close()
        await self._writer.close()
        await self.connection.close()

    async def _newest(self, request: rpc_pb2.RangeRequest, limit: int) -> KeyPage:
        while True:
            try:
                return await self._chunks(request, limit)
            except RevisionCompacted:
                # The snapshot was compacted between two chunks: restart with a newer one.
                request.revision = 0

    async def _chunks(self, first: rpc_pb2.RangeRequest, limit: int) -> KeyPage:
        """Read a range in chunks, all at the revision of the first one."""
        request = rpc_pb2.RangeRequest()
        request.CopyFrom(first)
        records: list[Record] = []
        chunk = _FIRST_CHUNK
        while True:
            request.limit = min(chunk, limit - len(records)) if limit else chunk
            reply = await self.connection.call(_range, request)
            chunk_records = [self._record(kv) for kv in reply.kvs]
            records += chunk_records
            revision = request.revision or reply.header.revision
            remaining = reply.count - len(chunk_records)
            if not reply.more or (limit and len(records) >= limit):
                return KeyPage(records, revision, remaining)
            # Decoding a large reply blocks the event loop; let other tasks run in between.
            await asyncio.sleep(0)
            chunk = _next_chunk(chunk_records)
            request.key = reply.kvs[-1].key + b"\0"
            request.revision = revision

    async def _replace(self, key: str, value: bytes | None, revision: int, ttl: int | None) -> int:
        encoded = self._keyspace.encode(key)
        if revision < 1:
            # In etcd, revision 0 matches a key that does not exist; here it never matches.
            raise RevisionConflict(key, expected=revision, current=await self.get(key))
        outcome = await self._writer.write(encoded, revision=revision, value=value, ttl=ttl)
        if isinstance(outcome, WriteApplied):
            return outcome.revision
        current = None if outcome.current is None else self._record(outcome.current)
        raise RevisionConflict(key, expected=revision, current=current)

    async def _compacted_error(self, revision: int) -> Compacted:
        oldest = await oldest_revision(self.connection, self._keyspace, revision)
        return Compacted(revision, oldest=oldest)

    def _record(self, kv: kv_pb2.KeyValue) -> Record:
        return Record(self._keyspace.decode(kv.key), kv.value, kv.mod_revision, kv.create_revision)


def _range(member: Member) -> Any:
    return member.kv.Range


def _next_chunk(records: Sequence[Record]) -> int:
    total_bytes = sum(len(record.value) for record in records)
    return max(1, min(len(records) * _CHUNK_BYTES // max(total_bytes, 1), _LARGEST_CHUNK))
