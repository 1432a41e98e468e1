"""Reading through the watch cache: what is seen, when, and at which revision."""

import asyncio

import orjson
import pytest

from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.watch_cache import (
    EntrySelection,
    Exact,
    Freshness,
    NotOlderThan,
    NotReady,
    TooLargeRevision,
    WatchCache,
)
from apiserver.storage.interface import Backend, Unavailable
from apiserver.storage.keys import InvalidStorageKey
from tests.apiserver.storage.cache.cached import (
    GADGETS,
    NODES,
    PODS,
    JsonView,
    Switchboard,
    caching,
    fill,
    labelled,
    pod,
    put,
    settle,
    synced,
    texts,
    value,
)

HASTY = CacheLimits(wait=0.02, grace=0.001, progress=0.02, retry_first=0.001)
EVERYTHING = EntrySelection()


async def test_what_was_there_before_the_start_is_listed_in_the_order_of_keys(
    backend: Backend,
) -> None:
    await fill(backend, "b", "a")
    revision = await fill(backend, "c", namespace="a-first")

    async with caching(backend) as (cache, pods):
        listing = await pods.list(EVERYTHING)

    assert texts(listing.entries) == ["c", "a", "b"]
    assert (listing.revision, listing.more, listing.remaining) == (revision, False, 0)
    assert cache.revision == revision


async def test_an_acknowledged_write_is_seen_by_the_next_read(backend: Backend) -> None:
    async with caching(backend) as (_, pods):
        for number in range(20):
            revision = await backend.create(pod(f"p{number}"), value(str(number)))

            entry = await pods.get(f"p{number}", namespace="default")

            assert entry is not None
            assert entry.record.revision == revision


async def test_a_deleted_object_is_not_read_any_more(backend: Backend) -> None:
    revision = await fill(backend, "a")
    async with caching(backend) as (_, pods):
        await backend.delete(pod("a"), revision=revision)

        assert await pods.get("a", namespace="default") is None
        assert (await pods.list(EVERYTHING)).entries == []


async def test_a_write_of_another_server_on_the_same_store_is_seen(backend: Backend) -> None:
    async with caching(backend) as (_, mine), caching(backend) as (_, theirs):
        revision = await fill(backend, "a")

        for pods in (mine, theirs):
            entry = await pods.get("a", namespace="default")
            assert entry is not None
            assert entry.record.revision == revision


async def test_namespaces_and_cluster_scope_have_their_own_objects(backend: Backend) -> None:
    await fill(backend, "a", namespace="one")
    await fill(backend, "a", "b", namespace="one-more")
    await backend.create(NODES.object_key("a"), value("node"))
    cache = WatchCache(backend)
    pods, nodes = cache.register(PODS, JsonView()), cache.register(NODES, JsonView())

    async with cache:
        in_one = await pods.list(EntrySelection(namespace="one"))
        named = await pods.list(EntrySelection(name="a"))
        of_cluster = await nodes.list(EntrySelection(name="a"))

    assert [entry.record.key for entry in in_one.entries] == [pod("a", "one")]
    assert [entry.record.key for entry in named.entries] == [pod("a", "one-more"), pod("a", "one")]
    assert texts(of_cluster.entries) == ["node"]


async def test_selectors_look_at_labels_and_fields(backend: Backend) -> None:
    await backend.create(pod("a"), value("a", labels={"app": "web"}, phase="Running"))
    await backend.create(pod("b"), value("b", labels={"app": "web"}, phase="Failed"))
    await backend.create(pod("c"), value("c", phase="Running"))

    async with caching(backend) as (_, pods):
        web = await pods.list(labelled("app", "web"))
        running = EntrySelection(
            labels=lambda labels: labels.get("app") == "web",
            fields=lambda fields: fields.get("phase") == "Running",
        )

        assert texts(web.entries) == ["a", "b"]
        assert texts((await pods.list(running)).entries) == ["a"]


@pytest.mark.parametrize("name", ["", "a/b", "default/a"])
async def test_a_name_that_no_object_can_have_selects_nothing(backend: Backend, name: str) -> None:
    await fill(backend, "a", "b")
    async with caching(backend) as (_, pods):
        for namespace in (None, "default"):
            assert (await pods.list(EntrySelection(namespace, name))).entries == []


async def test_getting_a_name_that_no_object_can_have_is_refused(backend: Backend) -> None:
    async with caching(backend) as (_, pods):
        with pytest.raises(InvalidStorageKey, match="name 'a/b'"):
            await pods.get("a/b", namespace="default")


@pytest.mark.parametrize("at", [NotOlderThan, Exact])
async def test_a_revision_that_does_not_come_is_too_large(
    backend: Backend, at: type[NotOlderThan] | type[Exact]
) -> None:
    current = await fill(backend, "a")
    async with caching(backend, limits=HASTY) as (_, pods):
        with pytest.raises(TooLargeRevision) as raised:
            await pods.list(EVERYTHING, at=at(current + 99))

    assert (raised.value.requested, raised.value.current) == (current + 99, current)
    assert str(raised.value) == f"Too large resource version: {current + 99}, current: {current}"


@pytest.mark.parametrize("at", [NotOlderThan, Exact])
async def test_a_revision_that_comes_soon_is_waited_for(
    backend: Backend, at: type[NotOlderThan] | type[Exact]
) -> None:
    revision = await fill(backend, "a")
    async with caching(backend) as (_, pods):
        reading = asyncio.create_task(pods.list(EVERYTHING, at=at(revision + 2)))
        await settle()
        assert not reading.done()

        await fill(backend, "b", "c")

        assert texts((await reading).entries) == ["a", "b", "c"]


async def test_any_is_answered_without_asking_the_store(backend: Backend) -> None:
    board = Switchboard(backend)
    await fill(backend, "a")
    async with caching(board) as (_, pods):
        asked = board.questions
        board.gate.clear()

        assert texts((await pods.list(EVERYTHING, at=Freshness.ANY)).entries) == ["a"]
        assert board.questions == asked


async def test_one_question_serves_all_reads_that_wait(backend: Backend) -> None:
    board = Switchboard(backend)
    async with caching(board) as (_, pods):
        board.questions = 0

        await asyncio.gather(*(pods.list(EVERYTHING) for _ in range(64)))

        assert board.questions == 1


async def test_a_read_that_comes_during_a_question_waits_for_the_next(backend: Backend) -> None:
    """The answer under way was given before the write that the read must show."""
    board = Switchboard(backend)
    async with caching(board) as (_, pods):
        board.gate.clear()
        board.held.clear()
        first = asyncio.create_task(pods.list(EVERYTHING))
        await board.held.wait()
        board.questions = 0
        await fill(backend, "a")
        second = asyncio.create_task(pods.list(EVERYTHING))
        await settle()

        board.gate.set()
        await first
        listing = await second

        assert texts(listing.entries) == ["a"]
        assert board.questions == 1


async def test_a_reader_that_goes_away_leaves_the_others_their_answer(backend: Backend) -> None:
    board = Switchboard(backend)
    await fill(backend, "a")
    async with caching(board) as (_, pods):
        board.gate.clear()
        leaving = asyncio.create_task(pods.list(EVERYTHING))
        staying = asyncio.create_task(pods.list(EVERYTHING))
        await settle()
        leaving.cancel()
        await settle()
        board.gate.set()

        assert texts((await staying).entries) == ["a"]
        assert leaving.cancelled()


async def test_a_store_that_cannot_answer_is_told_to_every_waiting_read(backend: Backend) -> None:
    board = Switchboard(backend)
    async with caching(board) as (_, pods):
        board.gate.clear()
        reads = [asyncio.create_task(pods.list(EVERYTHING)) for _ in range(3)]
        await settle()
        board.failure = Unavailable("gone")
        board.gate.set()

        outcomes = await asyncio.gather(*reads, return_exceptions=True)
        board.failure = None

        assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
        assert (await pods.list(EVERYTHING)).entries == []


async def test_a_write_outside_the_prefix_does_not_hold_up_reads(backend: Backend) -> None:
    async with caching(backend) as (_, pods):
        revision = await backend.create("/elsewhere/x", b"1")

        for _ in range(3):
            assert (await pods.list(EVERYTHING)).revision == revision


async def test_a_feed_that_cannot_be_trusted_is_not_waited_for(backend: Backend) -> None:
    """Then reads go to the store, and mean the same."""
    board = Switchboard(backend)
    async with caching(board, limits=HASTY) as (cache, pods):
        board.silent = True
        await backend.create(pod("a"), value("a", labels={"app": "web"}))
        await backend.create(pod("b"), value("b"))
        revision = await fill(backend, "c")

        assert cache.revision < revision
        entry = await pods.get("c", namespace="default")
        assert entry is not None
        assert orjson.loads(entry.encode("v1"))["resourceVersion"] == revision
        assert await pods.get("d", namespace="default") is None
        page = await pods.list(EVERYTHING, limit=2)
        assert (texts(page.entries), page.more, page.remaining) == (["a", "b"], True, 1)
        assert texts((await pods.list(labelled("app", "web"))).entries) == ["a"]
        assert texts((await pods.list(EntrySelection("default", "b"))).entries) == ["b"]
        assert texts((await pods.list(EntrySelection(name="b"))).entries) == ["b"]
        late = await pods.list(EVERYTHING, at=NotOlderThan(revision))
        assert (texts(late.entries), late.revision) == (["a", "b", "c"], revision)


async def test_an_object_is_encoded_once_per_form(backend: Backend) -> None:
    view = JsonView()
    await fill(backend, "a")
    async with caching(backend, view=view) as (_, pods):
        for _ in range(3):
            (entry,) = (await pods.list(EVERYTHING)).entries
            assert entry.encode("v1") is entry.encode("v1")
            assert entry.encode("v2") is entry.encode("v2")
            assert orjson.loads(entry.encode("v2"))["form"] == "v2"
            assert orjson.loads(entry.encode("v1"))["form"] == "v1"

    assert (view.looked, view.encoded) == (1, 2)


async def test_labels_that_do_not_change_are_held_once(backend: Backend) -> None:
    await backend.create(pod("a"), value("1", labels={"app": "web"}))
    async with caching(backend) as (cache, pods):
        before = await pods.get("a", namespace="default")
        await put(backend, pod("a"), value("2", labels={"app": "web"}))
        await synced(cache, backend)
        after = await pods.get("a", namespace="default")

    assert before is not None
    assert after is not None
    assert before is not after
    assert before.labels is after.labels
    assert before.fields is after.fields


async def test_resources_nobody_registered_are_not_looked_at(backend: Backend) -> None:
    view = JsonView()
    async with caching(backend, view=view) as (cache, _):
        revision = await backend.create(GADGETS.object_key("g", namespace="default"), b"not JSON")

        assert await synced(cache, backend) == revision
        assert view.looked == 0


async def test_a_resource_can_be_registered_while_the_cache_runs(backend: Backend) -> None:
    key = GADGETS.object_key("g", namespace="default")
    revision = await backend.create(key, value("old"))
    async with caching(backend) as (cache, _):
        gadgets = cache.register(GADGETS, JsonView())
        writing = asyncio.create_task(backend.update(key, value("new"), revision=revision))
        assert cache.ready

        first = await gadgets.list(EVERYTHING)
        await writing

        assert len(first.entries) == 1
        assert texts((await gadgets.list(EVERYTHING)).entries) == ["new"]


async def test_a_resource_is_registered_once_and_again_after_it_was_removed(
    backend: Backend,
) -> None:
    await fill(backend, "a")
    async with caching(backend, limits=HASTY) as (cache, pods):
        with pytest.raises(ValueError, match="already registered"):
            cache.register(PODS, JsonView())

        cache.unregister(pods)
        with pytest.raises(NotReady):
            await pods.list(EVERYTHING)
        again = cache.register(PODS, JsonView())

        assert texts((await again.list(EVERYTHING)).entries) == ["a"]


async def test_reads_wait_for_the_first_list(backend: Backend) -> None:
    board = Switchboard(backend)
    await fill(backend, "a")
    board.gate.clear()
    cache = WatchCache(board)
    pods = cache.register(PODS, JsonView())
    async with cache:
        reading = asyncio.create_task(pods.list(EVERYTHING, at=Freshness.ANY))
        await settle()
        assert (cache.ready, cache.revision, reading.done()) == (False, 0, False)

        board.gate.set()

        assert texts((await reading).entries) == ["a"]
        assert cache.ready


async def test_reads_do_not_wait_for_ever_for_the_first_list(backend: Backend) -> None:
    board = Switchboard(backend)
    board.gate.clear()
    cache = WatchCache(board, limits=HASTY)
    pods = cache.register(PODS, JsonView())
    async with cache:
        with pytest.raises(NotReady, match="/registry/core/pods/"):
            await pods.list(EVERYTHING, at=Freshness.ANY)


async def test_a_long_list_is_filled_page_by_page(backend: Backend) -> None:
    names = [f"p{number:02d}" for number in range(23)]
    await fill(backend, *names)
    limits = CacheLimits(page=5)
    async with caching(backend, limits=limits) as (_, pods):
        assert texts((await pods.list(EVERYTHING)).entries) == names


async def test_an_object_that_cannot_be_decoded_does_not_stop_the_others(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    await backend.create(pod("a"), b"\xff")
    async with caching(backend) as (_, pods):
        await backend.create(pod("b"), b"\xfe")
        await fill(backend, "c")

        listing = await pods.list(EVERYTHING)

        assert [entry.record.value[:1] for entry in listing.entries] == [b"\xff", b"\xfe", b"{"]
        with pytest.raises(orjson.JSONDecodeError):
            listing.entries[0].encode("v1")
    assert "/registry/core/pods/default/a" in caplog.text


async def test_keys_of_others_under_our_prefix_are_not_objects(backend: Backend) -> None:
    await backend.create("/registry/core/pods/stray", b"x")
    async with caching(backend) as (_, pods):
        await backend.create("/registry/core/pods/default/too/deep", b"x")
        await fill(backend, "a")

        assert texts((await pods.list(EVERYTHING)).entries) == ["a"]


async def test_a_closed_cache_answers_no_reads(backend: Backend) -> None:
    async with caching(backend) as (_, pods):
        pass

    with pytest.raises(Unavailable, match="closed"):
        await pods.list(EVERYTHING)
