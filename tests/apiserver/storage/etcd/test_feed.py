"""A watch that loses nothing, doubles nothing and never falls silent without a word."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from aetcd.rpc import rpc_pb2

from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from apiserver.storage.etcd.releases import reports_progress_correctly
from apiserver.storage.interface import ChangeBatch, Compacted, Feed
from tests.apiserver.storage.etcd.etcd_binary import etcd_binary
from tests.apiserver.storage.etcd.etcd_fake import Conversation, put, start_fake
from tests.apiserver.storage.etcd.etcd_proxy import Proxy, start_proxy
from tests.apiserver.storage.etcd.etcd_server import start_etcd

TRUSTED = "3.5.13"
UNTRUSTED = "3.5.12"


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
async def backend(proxy: Proxy, prefix: str) -> AsyncIterator[EtcdBackend]:
    """The backend whose feeds are tested."""
    backend = await open_etcd(f"etcd://{proxy.address}?prefix={prefix}&timeout=0.5")
    yield backend
    await backend.close()


@pytest.fixture
async def writer(address: str, prefix: str) -> AsyncIterator[EtcdBackend]:
    """Somebody who writes undisturbed."""
    backend = await open_etcd(f"etcd://{address}?prefix={prefix}")
    yield backend
    await backend.close()


async def read_until(feed: Feed, revision: int) -> list[ChangeBatch]:
    batches = []
    async for batch in feed:
        batches.append(batch)
        if batch.revision >= revision:
            break
    return batches


def revisions(batches: list[ChangeBatch]) -> list[int]:
    return [change.revision for batch in batches for change in batch.changes]


async def test_a_feed_whose_connections_are_cut_loses_and_doubles_nothing(
    backend: EtcdBackend, writer: EtcdBackend, proxy: Proxy
) -> None:
    written = [await writer.create("/first", b"")]
    seen: list[ChangeBatch] = []

    async def write() -> None:
        for number in range(300):
            written.append(await writer.create(f"/{number}", b""))
            if number % 20 == 0:
                await proxy.cut()
        written.append(await writer.create("/last", b""))

    async with backend.watch("/", after=written[0] - 1) as feed:
        writing = asyncio.create_task(write())
        while not seen or seen[-1].changes[-1].key != "/last":
            seen.append(await anext(feed))
        await writing

    assert revisions(seen) == written


async def test_a_feed_that_finds_a_silent_endpoint_goes_to_another(
    address: str, prefix: str, writer: EtcdBackend, proxy: Proxy
) -> None:
    backend = await open_etcd(f"etcd://{proxy.address},{address}?prefix={prefix}&timeout=0.3")
    revision = await writer.create("/a", b"")
    proxy.holding = prefix.encode()

    async with backend.watch("/", after=revision - 1) as feed:
        batch = await anext(feed)

    assert proxy.held.is_set()
    assert batch.revision == revision
    await backend.close()


async def test_giving_up_waiting_for_a_batch_does_not_lose_it(
    backend: EtcdBackend, writer: EtcdBackend
) -> None:
    first = await writer.create("/a", b"")
    async with backend.watch("/", after=first - 1) as feed:
        await anext(feed)
        waiting = asyncio.ensure_future(anext(feed))
        await backend.get("/a")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

        second = await writer.create("/b", b"")

        assert revisions([await anext(feed)]) == [second]


async def test_compaction_while_the_feed_was_cut_off_is_told(
    backend: EtcdBackend, writer: EtcdBackend, proxy: Proxy
) -> None:
    first = await writer.create("/a", b"")
    async with backend.watch("/", after=first - 1) as feed:
        await anext(feed)
        proxy.target = "127.0.0.1:1"
        await proxy.cut()
        last = await writer.update("/a", b"", revision=first)
        last = await writer.update("/a", b"", revision=last)
        await writer.compact(last)
        proxy.target = writer.connection.member.address

        with pytest.raises(Compacted) as compacted:
            await anext(feed)

    assert (compacted.value.revision, compacted.value.oldest) == (first, last)


async def test_a_deletion_at_the_compacted_revision_is_told_as_compacted(
    backend: EtcdBackend, writer: EtcdBackend
) -> None:
    """etcd itself would accept the watch and say nothing of the deletion."""
    created = await writer.create("/a", b"")
    deleted = await writer.delete("/a", revision=created)
    await writer.compact(deleted)

    async with backend.watch("/", after=created) as feed:
        with pytest.raises(Compacted) as compacted:
            await anext(feed)

    assert compacted.value.oldest == deleted


async def test_a_watch_after_the_compacted_revision_itself_goes_on(
    backend: EtcdBackend, writer: EtcdBackend
) -> None:
    first = await writer.create("/a", b"")
    await writer.compact(first)
    second = await writer.create("/b", b"")

    async with backend.watch("/", after=first) as feed:
        assert revisions([await anext(feed)]) == [second]


async def test_a_reader_so_slow_that_compaction_passes_it_is_told(
    backend: EtcdBackend, writer: EtcdBackend
) -> None:
    """What it gets before that has no gap."""
    written = [await writer.create("/a", b"")]
    seen: list[ChangeBatch] = []
    async with backend.watch("/", after=written[0] - 1) as feed:
        seen.append(await anext(feed))
        for number in range(40):
            value = bytes([number]) * 1_000_000
            written.append(await writer.update("/a", value, revision=written[-1]))
        await writer.compact(written[-1])

        with pytest.raises(Compacted) as compacted:
            seen += await read_until(feed, written[-1])

    assert compacted.value.oldest == written[-1]
    assert revisions(seen) == written[: len(revisions(seen))]


async def test_changes_of_one_revision_come_together_however_large(
    backend: EtcdBackend, writer: EtcdBackend, prefix: str
) -> None:
    after = await writer.create("/first", b"")
    for number in range(8):
        puts = [
            rpc_pb2.PutRequest(key=f"{prefix}/{number}/{part}".encode(), value=b"x" * 280_000)
            for part in range(5)
        ]
        request = rpc_pb2.TxnRequest(success=[rpc_pb2.RequestOp(request_put=put) for put in puts])
        await writer.connection.call(lambda member: member.kv.Txn, request)
    last = await writer.current_revision()

    async with backend.watch("/", after=after) as feed:
        batches = await read_until(feed, last)

    found = revisions(batches)
    assert found == sorted(found)
    assert len(found) == 40
    per_batch = [set(revisions([batch])) for batch in batches]
    assert sum(map(len, per_batch)) == len(set.union(*per_batch))


async def test_the_progress_of_an_etcd_is_relied_on_where_its_release_is_right(
    backend: EtcdBackend,
) -> None:
    current = await backend.current_revision()
    async with backend.watch("/", after=current) as feed:
        relied_on = await feed.request_progress()
        if relied_on:
            assert (await anext(feed)).revision >= current

    assert relied_on is reports_progress_correctly(etcd_binary().release)


async def test_progress_is_asked_for_until_it_is_told() -> None:
    async def ignore_once(stream: Conversation) -> None:
        await stream.asked_for_progress()
        await stream.asked_for_progress()
        await stream.say(7, watch_id=-1)

    async with start_fake(TRUSTED, ignore_once) as (_, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            waiting = asyncio.ensure_future(anext(feed))
            await backend.current_revision()

            assert await feed.request_progress() is True

            assert await waiting == ChangeBatch((), 7)
        await backend.close()


async def test_progress_is_asked_for_again_when_the_stream_was_lost() -> None:
    async def lose(stream: Conversation) -> None:
        await stream.asked_for_progress()

    async def tell(stream: Conversation) -> None:
        await stream.asked_for_progress()
        await stream.say(5, watch_id=-1)

    async with start_fake(TRUSTED, lose, tell) as (_, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            assert await feed.request_progress() is True

            assert await anext(feed) == ChangeBatch((), 5)
        await backend.close()


async def test_a_notification_of_progress_is_used_when_the_stream_is_resumed() -> None:
    async def tell(stream: Conversation) -> None:
        await stream.say(90)

    async def go_on(stream: Conversation) -> None:
        await stream.say(91, events=[put("/a", 91)])

    async with start_fake(TRUSTED, tell, go_on) as (fake, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            assert await anext(feed) == ChangeBatch((), 90)
            assert (await anext(feed)).revision == 91
        await backend.close()
    assert [each.start for each in fake.conversations] == [5, 90]


async def test_a_notification_of_progress_from_an_old_etcd_is_ignored() -> None:
    async def tell(stream: Conversation) -> None:
        await stream.say(90)
        await stream.say(90, events=[put("/a", 80)])

    async with start_fake(UNTRUSTED, tell) as (_, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            assert revisions([await anext(feed)]) == [80]
        await backend.close()


async def test_fragments_of_a_stream_that_broke_are_not_delivered_twice_or_in_part() -> None:
    async def half(stream: Conversation) -> None:
        await stream.say(8, events=[put("/a", 7)])
        await stream.say(8, events=[put("/b", 8)], fragment=True)

    async def whole(stream: Conversation) -> None:
        await stream.say(8, events=[put("/a", 7), put("/b", 8)], fragment=True)
        await stream.say(8, events=[put("/c", 8)])

    async with start_fake(UNTRUSTED, half, whole) as (fake, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            batches = [await anext(feed), await anext(feed)]
        await backend.close()
    assert [[change.key for change in batch.changes] for batch in batches] == [["/a"], ["/b", "/c"]]
    assert [each.start for each in fake.conversations] == [5, 7]


async def test_replies_that_wait_are_one_batch_and_what_follows_them_comes_after() -> None:
    said, listening = asyncio.Event(), asyncio.Event()

    async def tell(stream: Conversation) -> None:
        await stream.say(6, events=[put("/a", 6)])
        await listening.wait()
        await stream.say(7, events=[put("/b", 7)])
        await stream.say(8, events=[put("/c", 8)], fragment=True)
        await stream.say(8, events=[put("/d", 8)])
        await stream.say(9)
        await stream.say(9, canceled=True, compact_revision=42)
        said.set()

    async with start_fake(TRUSTED, tell) as (_, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            await anext(feed)
            listening.set()
            await said.wait()
            # Its answer comes over the same connection, so it is behind the replies.
            await backend.current_revision()

            batch = await anext(feed)

            assert ([change.key for change in batch.changes], batch.revision) == (
                ["/b", "/c", "/d"],
                9,
            )
            with pytest.raises(Compacted) as compacted:
                await anext(feed)
        await backend.close()
    assert (compacted.value.revision, compacted.value.oldest) == (9, 42)


@pytest.mark.parametrize("reason", ["etcdserver: no leader", "", "anything else"])
async def test_a_cancelled_watch_is_resumed(reason: str) -> None:
    async def cancel(stream: Conversation) -> None:
        await stream.say(7, events=[put("/a", 7)])
        await stream.say(7, canceled=True, cancel_reason=reason)

    async def go_on(stream: Conversation) -> None:
        await stream.say(9, events=[put("/a", 7), put("/b", 9)])

    async with start_fake(UNTRUSTED, cancel, go_on) as (fake, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            assert revisions([await anext(feed), await anext(feed)]) == [7, 9]
        await backend.close()
    assert [each.start for each in fake.conversations] == [5, 7]


async def test_a_member_without_a_leader_is_asked_to_say_so() -> None:
    async def nothing(stream: Conversation) -> None:
        await stream.say(6, events=[put("/a", 6)])

    async with start_fake(UNTRUSTED, nothing) as (fake, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            await anext(feed)
        await backend.close()
    assert fake.conversations[0].metadata["hasleader"] == "true"


async def test_an_event_whose_previous_value_compaction_took_is_told_as_compacted() -> None:
    async def leave_out(stream: Conversation) -> None:
        await stream.say(9, events=[put("/a", 8, created=3, previous=b"old")])
        await stream.say(9, events=[put("/a", 9, created=3)])

    async def compacted(stream: Conversation) -> None:
        await stream.say(9, canceled=True, compact_revision=42)

    async with start_fake(UNTRUSTED, leave_out, compacted) as (_, address):
        backend = await open_etcd(f"etcd://{address}")
        async with backend.watch("/", after=5) as feed:
            batch = await anext(feed)
            assert batch.changes[0].previous == b"old"

            with pytest.raises(Compacted) as raised:
                await anext(feed)
        await backend.close()
    assert (raised.value.revision, raised.value.oldest) == (8, 42)


async def test_progress_is_not_relied_on_while_a_member_cannot_be_asked_its_version() -> None:
    async def nothing(stream: Conversation) -> None:
        pass

    async with start_fake(TRUSTED, nothing) as (_, address):
        backend = await open_etcd(f"etcd://{address},127.0.0.1:1?timeout=0.2")
        async with backend.watch("/", after=5) as feed:
            assert await feed.request_progress() is False
        await backend.close()


@pytest.mark.parametrize(("release", "warnings"), [("3.5.2", 1), ("3.5.3", 0)])
async def test_a_release_that_loses_data_is_warned_of_once(
    caplog: pytest.LogCaptureFixture, release: str, warnings: int
) -> None:
    async with start_fake(release) as (_, address):
        backend = await open_etcd(f"etcd://{address}")
        await backend.connection.supports_progress()
        await backend.close()

    told = [each.getMessage() for each in caplog.records if "upgrade it to 3.5.3" in each.message]
    assert len(told) == warnings
    assert all(f"{address} is release {release}" in message for message in told)


@pytest.mark.torture
async def test_a_feed_whose_member_falls_silent_goes_to_another(
    address: str, prefix: str, writer: EtcdBackend, proxy: Proxy
) -> None:
    """The connection stays open, so only the missing answers to keepalive pings can tell."""
    backend = await open_etcd(f"etcd://{proxy.address},{address}?prefix={prefix}&timeout=1")
    first = await writer.create("/a", b"")
    async with backend.watch("/", after=first - 1) as feed:
        await anext(feed)
        proxy.losing_answers = True
        second = await writer.create("/b", b"")

        async with asyncio.timeout(20):
            assert revisions([await anext(feed)]) == [second]
    await backend.close()


async def test_a_watch_that_is_cancelled_for_its_token_goes_on_with_another() -> None:
    """As newer releases of etcd do; older ones say that permission is denied."""

    async def cancel(conversation: Conversation) -> None:
        reason = "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"
        await conversation.say(canceled=True, cancel_reason=reason)

    async def go_on(conversation: Conversation) -> None:
        await conversation.say(7, events=[put("/registry/a", 7)])

    async with start_fake(UNTRUSTED, cancel, go_on) as (fake, address):
        backend = await open_etcd(f"etcd://user:secret@{address}")
        async with backend.watch("/", after=4) as feed:
            assert (await anext(feed)).revision == 7
        await backend.close()

    first, second = (each.metadata["token"] for each in fake.conversations)
    assert first != second
