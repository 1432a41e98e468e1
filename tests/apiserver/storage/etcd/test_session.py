"""A write takes effect once and is reported truly, whatever becomes of its answers."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aetcd.rpc import rpc_pb2

from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from apiserver.storage.etcd.keys import Keyspace
from apiserver.storage.etcd.session import Writer
from apiserver.storage.interface import KeyExists, RevisionConflict, StoredChange, Unavailable
from tests.apiserver.storage.etcd.etcd_proxy import Proxy, start_proxy
from tests.apiserver.storage.etcd.etcd_server import start_etcd


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    return f"/{request.node.name}"


@pytest.fixture
async def proxy(address: str) -> AsyncIterator[Proxy]:
    async with start_proxy(address) as proxy:
        yield proxy


@pytest.fixture
async def other(address: str, prefix: str) -> AsyncIterator[EtcdBackend]:
    """Somebody else, with no troubles."""
    backend = await open_etcd(f"etcd://{address}?prefix={prefix}")
    yield backend
    await backend.close()


@pytest.fixture
async def backend(address: str, proxy: Proxy, prefix: str) -> AsyncIterator[EtcdBackend]:
    """A backend that goes through the proxy until that fails it, and then straight to etcd."""
    url = f"etcd://{proxy.address},{address}?prefix={prefix}&timeout=0.3"
    backend = await open_etcd(url)
    # The lease of the session is not what is tested.
    await backend.create("/warm", b"")
    yield backend
    await backend.close()


@pytest.fixture
async def alone(proxy: Proxy, prefix: str) -> AsyncIterator[EtcdBackend]:
    """A backend that knows no way but through the proxy."""
    backend = await open_etcd(f"etcd://{proxy.address}?prefix={prefix}&timeout=0.1")
    await backend.create("/warm", b"")
    yield backend
    await backend.close()


async def changes(backend: EtcdBackend, key: str) -> list[StoredChange]:
    """All that ever happened to *key*."""
    end = await backend.create("/end", b"")
    found: list[StoredChange] = []
    async with backend.watch("/", after=0) as feed:
        async for batch in feed:
            found += [change for change in batch.changes if change.key == key]
            if batch.revision >= end:
                break
    return found


async def test_a_creation_whose_answer_was_lost_is_reported_with_its_own_revision(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    proxy.losing_answers = True

    revision = await backend.create("/a", b"1")

    assert await changes(other, "/a") == [StoredChange("/a", b"1", None, revision, revision)]


async def test_an_update_whose_answer_was_lost_is_reported_with_its_own_revision(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    created = await other.create("/a", b"1")
    proxy.losing_answers = True

    revision = await backend.update("/a", b"2", revision=created)

    assert (await changes(other, "/a"))[1:] == [StoredChange("/a", b"2", b"1", revision, created)]


async def test_a_deletion_whose_answer_was_lost_is_reported_with_its_own_revision(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    created = await other.create("/a", b"1")
    proxy.losing_answers = True

    revision = await backend.delete("/a", revision=created)

    assert (await changes(other, "/a"))[1:] == [StoredChange("/a", None, b"1", revision, created)]


async def test_the_revision_is_right_even_when_others_have_written_before_the_answer(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    proxy.losing_answers = True
    creating = asyncio.create_task(backend.create("/a", b"1"))
    while (record := await other.get("/a")) is None:
        pass
    deleted = await other.delete("/a", revision=record.revision)
    again = await other.create("/a", b"1")

    assert record.revision == await creating
    history = [(change.value, change.revision) for change in await changes(other, "/a")]
    assert history == [(b"1", record.revision), (None, deleted), (b"1", again)]


async def test_the_same_bytes_written_by_somebody_else_are_not_taken_for_ones_own(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    created = await other.create("/a", b"4")
    proxy.holding = b"/a"
    updating = asyncio.create_task(backend.update("/a", b"5", revision=created))
    await proxy.held.wait()
    theirs = await other.update("/a", b"5", revision=created)

    with pytest.raises(RevisionConflict) as conflict:
        await updating

    assert conflict.value.current is not None
    assert conflict.value.current.revision == theirs


async def test_a_deletion_by_somebody_else_is_not_taken_for_ones_own(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    created = await other.create("/a", b"1")
    proxy.holding = b"/a"
    deleting = asyncio.create_task(backend.delete("/a", revision=created))
    await proxy.held.wait()
    await other.delete("/a", revision=created)

    with pytest.raises(RevisionConflict) as conflict:
        await deleting

    assert conflict.value.current is None


async def test_a_late_copy_of_a_creation_does_not_revive_what_was_deleted(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    proxy.holding = b"/a"
    created = await backend.create("/a", b"1")
    await other.delete("/a", revision=created)

    await proxy.release()

    assert await other.get("/a") is None
    assert len(await changes(other, "/a")) == 2


async def test_a_late_copy_of_a_creation_reported_as_failed_does_not_take_effect(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    theirs = await other.create("/a", b"theirs")
    proxy.holding = b"/a"
    with pytest.raises(KeyExists):
        await backend.create("/a", b"mine")
    await other.delete("/a", revision=theirs)

    await proxy.release()

    assert await other.get("/a") is None


async def test_a_write_after_one_that_failed_with_a_copy_abroad_is_reported_truly(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    """The slot is used again only after the fence, so the old copy cannot speak for a new write."""
    theirs = await other.create("/a", b"theirs")
    proxy.holding = b"/a"
    with pytest.raises(KeyExists):
        await backend.create("/a", b"mine")
    await other.delete("/a", revision=theirs)
    await other.create("/b", b"theirs")

    await proxy.release()

    with pytest.raises(KeyExists):
        await backend.create("/b", b"mine")


async def test_a_write_that_is_never_answered_is_uncertain(
    alone: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    proxy.losing_answers = True

    with pytest.raises(Unavailable) as unavailable:
        await alone.create("/a", b"1")

    assert unavailable.value.uncertain
    assert await other.get("/a") is not None


async def test_a_write_that_nobody_could_be_sent_is_certain_not_to_have_happened(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        with start_etcd(tmp_path) as address:
            backend = await open_etcd(f"etcd://{address}?timeout=0.1")
            stack.push_async_callback(backend.close)
            await backend.create("/warm", b"")
        # The connection's end must be noticed first: what is sent into it is uncertain.
        with pytest.raises(Unavailable):
            await backend.get("/a")

        with pytest.raises(Unavailable) as unavailable:
            await backend.create("/a", b"1")

    assert not unavailable.value.uncertain


async def test_a_cancelled_write_leaves_nothing_that_confuses_the_next(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    proxy.holding = b"/a"
    creating = asyncio.create_task(backend.create("/a", b"1"))
    await proxy.held.wait()
    creating.cancel()
    await asyncio.gather(creating, return_exceptions=True)
    theirs = await other.create("/b", b"theirs")

    await proxy.release()

    with pytest.raises(RevisionConflict):
        await backend.update("/b", b"mine", revision=theirs - 1)
    assert await other.get("/a") is not None


async def test_writing_goes_on_after_the_lease_of_the_session_was_revoked(
    backend: EtcdBackend, other: EtcdBackend
) -> None:
    await _revoke_all_leases(other)

    first = await backend.create("/a", b"1")
    second = await backend.update("/a", b"2", revision=first)

    record = await other.get("/a")
    assert record is not None
    assert (record.revision, record.created) == (second, first)


async def test_a_write_is_uncertain_if_the_lease_is_revoked_while_its_answer_is_missing(
    backend: EtcdBackend, other: EtcdBackend, proxy: Proxy
) -> None:
    """The slot that could have told is gone."""
    proxy.losing_answers = True
    creating = asyncio.create_task(backend.create("/a", b"1"))
    while await other.get("/a") is None:
        pass
    await _revoke_all_leases(other)

    with pytest.raises(Unavailable) as unavailable:
        await creating

    assert unavailable.value.uncertain


async def test_a_session_is_left_long_before_its_lease_ends(other: EtcdBackend) -> None:
    now = 0.0
    writer = Writer(other.connection, Keyspace("/left"), clock=lambda: now)
    before = await _leases(other)
    await writer.write(b"/left/a", revision=0, value=b"")
    now = 1799.0
    await writer.write(b"/left/b", revision=0, value=b"")
    assert len(await _leases(other)) == len(before) + 1

    now = 1801.0
    await writer.write(b"/left/c", revision=0, value=b"")

    assert len(await _leases(other)) == len(before) + 2
    await writer.close()


async def test_closing_takes_the_slots_away(address: str, prefix: str) -> None:
    backend = await open_etcd(f"etcd://{address}?prefix={prefix}")
    await backend.create("/a", b"1")
    await backend.close()
    outsider = await open_etcd(f"etcd://{address}?prefix=/outside")
    everything = rpc_pb2.RangeRequest(key=prefix.encode(), range_end=prefix.encode() + b"\xff")

    reply = await outsider.connection.call(lambda member: member.kv.Range, everything)

    await outsider.close()
    assert [kv.key for kv in reply.kvs] == [f"{prefix}/a".encode()]


async def _leases(backend: EtcdBackend) -> list[int]:
    request = rpc_pb2.LeaseLeasesRequest()
    reply = await backend.connection.call(lambda member: member.lease.LeaseLeases, request)
    return [lease.ID for lease in reply.leases]


async def _revoke_all_leases(backend: EtcdBackend) -> None:
    for lease in await _leases(backend):
        revoke = rpc_pb2.LeaseRevokeRequest(ID=lease)
        await backend.connection.call(lambda member: member.lease.LeaseRevoke, revoke)
