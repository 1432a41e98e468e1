"""What the etcd backend promises beyond the suite that all backends share."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from aetcd.rpc import rpc_pb2

from apiserver.storage.backends import InvalidURL
from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from apiserver.storage.etcd.http2_frames import ProtocolError
from apiserver.storage.etcd.keys import InvalidEtcdKey
from apiserver.storage.interface import (
    Compacted,
    FutureRevision,
    RevisionConflict,
    Unavailable,
    ValueTooLarge,
)
from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.pauses import measures_time

MIB = 1 << 20


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd"), "--max-request-bytes=8000000") as address:
        yield address


@pytest.fixture
def url(address: str, request: pytest.FixtureRequest) -> str:
    return f"etcd://{address}?prefix=/{request.node.name}&max-value-bytes=16000000"


@pytest.fixture
async def backend(url: str) -> AsyncIterator[EtcdBackend]:
    backend = await open_etcd(url)
    yield backend
    await backend.close()


async def keys(backend: EtcdBackend, prefix: str = "") -> list[str]:
    return [record.key for record in (await backend.range(prefix)).records]


async def test_prefixes_keep_stores_apart(address: str, backend: EtcdBackend) -> None:
    other = await open_etcd(f"etcd://{address}?prefix=/elsewhere")
    await backend.create("/a", b"1")
    await other.create("/b", b"2")

    assert await keys(backend) == ["/a"]
    assert await keys(other) == ["/b"]
    await other.close()


async def test_the_prefix_is_on_the_wire(address: str, backend: EtcdBackend, url: str) -> None:
    await backend.create("/a", b"1")
    everything = await open_etcd(f"etcd://{address}")

    prefix = url.partition("prefix=")[2].partition("&")[0]

    assert (await everything.get(f"{prefix}/a")) is not None
    await everything.close()


async def test_slots_are_seen_by_neither_range_nor_watch_without_any_prefix(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with start_etcd(tmp_path_factory.mktemp("bare")) as address:
        backend = await open_etcd(f"etcd://{address}")
        revision = await backend.create("/a", b"1")
        async with backend.watch("", after=0) as feed:
            batch = await anext(feed)

        page = await backend.range("")

        await backend.close()
    assert [record.key for record in page.records] == ["/a"]
    assert page.remaining == 0
    assert [(change.key, change.revision) for change in batch.changes] == [("/a", revision)]


async def test_values_larger_than_grpcs_default_are_written_read_and_watched(
    backend: EtcdBackend,
) -> None:
    value = b"x" * (5 * MIB)
    revision = await backend.create("/large", value)

    record = await backend.get("/large")
    async with backend.watch("/", after=revision - 1) as feed:
        batch = await anext(feed)

    assert record is not None
    assert record.value == value
    assert batch.changes[0].value == value


async def test_a_request_larger_than_etcd_takes_is_refused_clearly(backend: EtcdBackend) -> None:
    with pytest.raises(ValueTooLarge, match=r"(too large|larger than max).*--max-request-bytes"):
        await backend.create("/large", b"x" * (9 * MIB))

    assert await backend.get("/large") is None


async def test_a_range_of_many_chunks_is_one_snapshot(backend: EtcdBackend) -> None:
    names = [f"/{number:04}" for number in range(1200)]
    revisions = await asyncio.gather(*(backend.create(name, b"old") for name in names))
    reading = asyncio.create_task(backend.range("/"))
    writing = [
        backend.update(name, b"new", revision=revision)
        for name, revision in zip(reversed(names), reversed(revisions), strict=True)
    ]

    await asyncio.gather(*writing)
    page = await reading

    assert [record.key for record in page.records] == names
    assert max(record.revision for record in page.records) <= page.revision
    at_revision = await backend.range("/", revision=page.revision)
    assert at_revision == page


async def test_chunks_of_heavy_records_add_up_to_more_than_one_message(
    backend: EtcdBackend,
) -> None:
    for number in range(12):
        await backend.create(f"/{number:02}", bytes([number]) * (2 * MIB))

    page = await backend.range("/")

    assert [record.value[:1] for record in page.records] == [bytes([n]) for n in range(12)]


async def test_a_limit_counts_what_remains(backend: EtcdBackend) -> None:
    await asyncio.gather(*(backend.create(f"/{number:04}", b"") for number in range(700)))

    page = await backend.range("/", start="/0050", limit=600)

    assert len(page.records) == 600
    assert page.records[0].key == "/0050"
    assert page.remaining == 50


async def test_a_start_behind_the_prefix_finds_nothing(backend: EtcdBackend) -> None:
    await backend.create("/a/1", b"")

    page = await backend.range("/a/", start="/b")

    assert page.records == []
    assert page.revision == await backend.current_revision()


async def test_a_range_without_revision_does_not_mind_compaction_between_chunks(
    backend: EtcdBackend,
) -> None:
    await asyncio.gather(*(backend.create(f"/{number:04}", b"") for number in range(1100)))

    async def compact() -> None:
        record = await backend.get("/0000")
        assert record is not None
        revision = record.revision
        for _ in range(20):
            revision = await backend.update("/0000", b"", revision=revision)
            await backend.compact(revision)

    page, _ = await asyncio.gather(backend.range("/"), compact())

    assert len(page.records) == 1100


async def test_two_servers_may_compact_the_same_etcd(backend: EtcdBackend, url: str) -> None:
    other = await open_etcd(url)
    first = await backend.create("/a", b"1")
    second = await backend.create("/b", b"1")

    await asyncio.gather(*(each.compact(second) for each in (backend, other, backend)))
    await other.compact(first)

    await other.close()
    with pytest.raises(Compacted) as compacted:
        await backend.range("/", revision=first)
    assert compacted.value.oldest == second


async def test_compacting_the_future_is_refused(backend: EtcdBackend) -> None:
    current = await backend.current_revision()

    with pytest.raises(FutureRevision) as future:
        await backend.compact(current + 100)

    assert future.value.current >= current


async def test_a_key_with_a_time_to_live_goes_and_one_updated_without_stays(
    backend: EtcdBackend,
) -> None:
    await backend.create("/going", b"", ttl=1)
    revision = await backend.create("/staying", b"", ttl=1)
    kept = await backend.update("/staying", b"", revision=revision)

    async with backend.watch("/", after=kept) as feed:
        batch = await anext(feed)

    assert [(change.key, change.value) for change in batch.changes] == [("/going", None)]
    assert await keys(backend) == ["/staying"]


async def test_keys_of_one_time_to_live_share_a_lease(backend: EtcdBackend) -> None:
    before = await _leases(backend)

    await asyncio.gather(*(backend.create(f"/{number}", b"", ttl=3600) for number in range(50)))

    # One for the keys, and one for the backend's own session.
    assert await _leases(backend) - before <= 2


async def test_a_lease_revoked_by_somebody_else_is_replaced(backend: EtcdBackend) -> None:
    await backend.create("/a", b"", ttl=3600)
    for lease in await _lease_ids(backend):
        request = rpc_pb2.LeaseRevokeRequest(ID=lease)
        await backend.connection.call(lambda member: member.lease.LeaseRevoke, request)

    await backend.create("/b", b"", ttl=3600)

    assert await keys(backend) == ["/b"]


async def test_revision_zero_matches_no_key(backend: EtcdBackend) -> None:
    """To etcd itself it is the revision of a key that does not exist."""
    with pytest.raises(RevisionConflict):
        await backend.update("/a", b"", revision=0)

    assert await backend.get("/a") is None


async def test_keys_that_the_backend_keeps_for_itself_are_refused(backend: EtcdBackend) -> None:
    with pytest.raises(InvalidEtcdKey):
        await backend.create("\0a", b"")
    with pytest.raises(InvalidEtcdKey):
        await backend.range("\0")


async def test_a_dead_endpoint_is_passed_over(address: str) -> None:
    backend = await open_etcd(f"etcd://127.0.0.1:1,{address}?prefix=/dead")

    await backend.create("/a", b"1")

    assert await keys(backend) == ["/a"]
    await backend.close()


async def test_host_names_are_endpoints_too(address: str) -> None:
    port = address.partition(":")[2]
    backend = await open_etcd(f"etcd://localhost:{port}?prefix=/named")

    await backend.create("/a", b"1")

    assert await keys(backend) == ["/a"]
    await backend.close()


async def test_no_etcd_at_all_is_unavailable() -> None:
    with pytest.raises(Unavailable) as unavailable:
        await open_etcd("etcd://127.0.0.1:1?timeout=0.1")

    assert not unavailable.value.uncertain


async def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InvalidURL, match=r"parameter 'ca': .*'/no/such/file'"):
        await open_etcd("etcd://a?ca=/no/such/file")


async def test_a_member_that_speaks_another_http2_is_used_with_grpcio(
    backend: EtcdBackend,
) -> None:
    channel = backend.connection.member.http2
    assert channel.connection is not None
    channel.connection.violation = ProtocolError("for the test")
    await channel.connection.close()

    revision = await backend.create("/a", b"1")

    assert channel.falls_back
    assert not channel.connection.accepts_streams
    async with backend.watch("/", after=revision - 1) as feed:
        assert (await anext(feed)).revision == revision
    record = await backend.get("/a")
    assert record is not None
    assert record.value == b"1"


@measures_time
async def test_closing_is_prompt_ends_feeds_and_leaves_no_task(url: str) -> None:
    before = asyncio.all_tasks()
    backend = await open_etcd(url)
    revision = await backend.create("/a", b"1")
    async with backend.watch("/", after=revision) as feed:
        waiting = asyncio.create_task(anext(feed, None))
        await backend.create("/b", b"1")
        assert await waiting is not None
        waiting = asyncio.create_task(anext(feed, None))
        await backend.get("/a")
        begun = time.monotonic()

        await backend.close()

        assert await waiting is None
        assert time.monotonic() - begun < 0.5
    assert asyncio.all_tasks() == before


async def test_what_is_closed_is_unavailable_and_can_be_closed_again(url: str) -> None:
    backend = await open_etcd(url)
    await backend.create("/a", b"1")
    await backend.close()

    with pytest.raises(Unavailable):
        await backend.get("/a")
    with pytest.raises(Unavailable):
        await backend.create("/b", b"1")
    with pytest.raises(Unavailable):
        async with backend.watch("/", after=0):
            pass
    await backend.close()


async def test_calls_under_way_when_the_backend_closes_are_unavailable_not_cancelled(
    url: str,
) -> None:
    backend = await open_etcd(url)
    calls = [asyncio.create_task(backend.range("/")) for _ in range(100)]
    await asyncio.sleep(0)

    await backend.close()

    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    unexpected = [each for each in outcomes if not isinstance(each, Unavailable)]
    assert all(not isinstance(each, BaseException) for each in unexpected)


async def _leases(backend: EtcdBackend) -> int:
    return len(await _lease_ids(backend))


async def _lease_ids(backend: EtcdBackend) -> list[int]:
    request = rpc_pb2.LeaseLeasesRequest()
    reply = await backend.connection.call(lambda member: member.lease.LeaseLeases, request)
    return [lease.ID for lease in reply.leases]


async def test_each_member_is_checked_on_its_own(address: str, unused_tcp_port: int) -> None:
    backend = await open_etcd(f"etcd://{address},127.0.0.1:{unused_tcp_port}?timeout=2")

    healthy, gone = await backend.check_members()
    await backend.close()

    assert healthy == ""
    assert gone.startswith(f"etcd at 127.0.0.1:{unused_tcp_port}: ")
