"""Watches that resume over several connections, and waits, which are built on them."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from apimachinery.errors import APIError, Expired, Forbidden, Gone, InternalError, Unauthorized
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status
from apis.gadgets import v1
from client import (
    AsyncClient,
    Deleted,
    EventType,
    ObjectEvent,
    RetryWatcher,
    StreamWatcher,
    WaitTimeout,
)
from client.paging import Page
from client.transport.transport import ConnectionLost
from client.watches.object_watch import ResumingWatch
from client.watches.stream_watcher import EndOfStream, ListWatch
from tests.client.fakes import (
    GADGETS,
    FakeClock,
    FakeServer,
    answer,
    frame,
    gadget,
    gadget_list,
    status,
    stream,
)


def new_gadget(name: str, version: str) -> v1.Gadget:
    return v1.Gadget.model_validate(gadget(name, version))


def added(name: str, version: str) -> ObjectEvent[Any]:
    return ObjectEvent(EventType.ADDED, new_gadget(name, version))


def error(code: int, **kwargs: Any) -> ObjectEvent[Any]:
    return ObjectEvent(EventType.ERROR, Status.model_validate(status(code, "X", **kwargs)))


class ScriptedDecoder:
    def __init__(self, events: Sequence[ObjectEvent[Any]]) -> None:
        self._events = list(events)

    async def decode(self) -> ObjectEvent[Any]:
        if not self._events:
            raise EndOfStream
        return self._events.pop(0)

    def close(self) -> None:
        self._events.clear()


class Streams:
    """Streams to open in order; after the last one, opening raises Forbidden."""

    def __init__(self, *scripts: Sequence[ObjectEvent[Any]] | Exception) -> None:
        self.scripts = list(scripts)
        self.opened: list[str] = []

    async def open(self, resource_version: str) -> StreamWatcher[v1.Gadget]:
        self.opened.append(resource_version)
        script = self.scripts.pop(0) if self.scripts else Forbidden("that is all")
        if isinstance(script, Exception):
            raise script
        return StreamWatcher(ScriptedDecoder(script))


async def run(streams: Streams, clock: FakeClock, start: str = "1") -> list[ObjectEvent[Any]]:
    return [event async for event in RetryWatcher(start, streams.open, clock=clock)]


@pytest.mark.parametrize("version", ["", "0"])
def test_it_refuses_to_start_at_no_or_any_resource_version(version: str) -> None:
    with pytest.raises(ValueError, match="is not supported"):
        RetryWatcher(version, Streams().open)


async def test_it_goes_on_from_the_last_event(clock: FakeClock) -> None:
    """Its resourceVersion follows every event."""
    streams = Streams([added("a", "5"), added("b", "7")], [added("c", "9")])

    received = await run(streams, clock)

    assert streams.opened == ["1", "7", "9"]
    assert [event.type for event in received] == ["ADDED"] * 3 + ["ERROR"]


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
async def test_every_change_is_forwarded_and_moves_it_on(kind: str, clock: FakeClock) -> None:
    streams = Streams([ObjectEvent(EventType(kind), new_gadget("a", "5"))], [])

    received = await run(streams, clock)

    assert received[0] == ObjectEvent(EventType(kind), new_gadget("a", "5"))
    assert streams.opened == ["1", "5", "5"]


async def test_bookmarks_move_it_on_and_are_not_forwarded(clock: FakeClock) -> None:
    streams = Streams([added("a", "5"), ObjectEvent(EventType.BOOKMARK, new_gadget("", "90"))], [])

    received = await run(streams, clock)

    assert streams.opened == ["1", "90", "90"]
    assert [event.type for event in received] == ["ADDED", "ERROR"]


async def test_gone_in_the_stream_is_forwarded_and_the_end(clock: FakeClock) -> None:
    streams = Streams([added("a", "5"), error(410)], [added("b", "6")])

    received = await run(streams, clock)

    assert [event.type for event in received] == ["ADDED", "ERROR"]
    assert received[-1].error.code == 410
    assert streams.opened == ["1"]


async def test_gone_at_opening_is_tried_again(clock: FakeClock) -> None:
    streams = Streams(Expired("too old"), Gone("gone"), [added("a", "5")])

    received = await run(streams, clock)

    assert streams.opened == ["1", "1", "1", "5"]
    assert received[0].type is EventType.ADDED


@pytest.mark.parametrize("refusal", [Forbidden("no"), Unauthorized("who")])
async def test_being_refused_at_opening_is_forwarded_and_the_end(
    refusal: APIError, clock: FakeClock
) -> None:
    received = await run(Streams(refusal), clock)

    assert [type(event.error) for event in received] == [type(refusal)]


@pytest.mark.parametrize("code", [500, 504, 429, 418])
async def test_other_errors_in_the_stream_are_tried_again_after_the_time_they_name(
    code: int, clock: FakeClock
) -> None:
    streams = Streams([added("a", "5"), error(code, retryAfterSeconds=7)], [added("b", "6")])

    received = await run(streams, clock)

    assert [event.object.metadata.name for event in received[:2]] == ["a", "b"]
    assert streams.opened[:2] == ["1", "5"]
    assert clock.slept[0] == 7


@pytest.mark.parametrize("failure", [ConnectionLost("reset"), InternalError("oops")])
async def test_failures_at_opening_are_tried_again(failure: Exception, clock: FakeClock) -> None:
    streams = Streams(failure, [added("a", "5")])

    received = await run(streams, clock)

    assert received[0].type is EventType.ADDED


async def test_an_object_without_resource_version_is_fatal(clock: FakeClock) -> None:
    streams = Streams([added("a", ""), added("b", "6")])

    received = await run(streams, clock)

    assert [event.type for event in received] == ["ERROR"]
    assert isinstance(received[0].error, InternalError)


async def test_restarts_are_a_second_apart(clock: FakeClock) -> None:
    """The delay counts from the last opening: a watch that lasted longer restarts at once."""
    streams = Streams([], [], [added("a", "5")])

    async def slowly(version: str) -> StreamWatcher[v1.Gadget]:
        watch = await streams.open(version)
        if len(streams.opened) == 2:
            clock.time += 0.75
        if len(streams.opened) == 3:
            clock.time += 30
        return watch

    [_ async for _ in RetryWatcher("1", slowly, clock=clock)]

    assert clock.slept == [1.0, 0.25]


async def test_stopping_wakes_a_watcher_that_waits_to_restart() -> None:
    slept = asyncio.Event()

    class Sleepy(FakeClock):
        async def sleep(self, seconds: float) -> None:
            slept.set()
            await asyncio.Event().wait()

    watcher = RetryWatcher("1", Streams([], []).open, clock=Sleepy())

    async def read() -> list[ObjectEvent[Any]]:
        return [event async for event in watcher]

    received = asyncio.create_task(read())
    await slept.wait()

    watcher.stop()

    async with asyncio.timeout(5):
        assert await received == []


async def test_an_error_event_without_a_status_is_tried_again(clock: FakeClock) -> None:
    streams = Streams([ObjectEvent(EventType.ERROR, new_gadget("a", "5"))], [added("b", "6")])

    received = await run(streams, clock)

    assert [event.type for event in received] == ["ADDED", "ERROR"]
    assert streams.opened[:2] == ["1", "1"]


async def test_each_stream_is_closed_before_the_next(clock: FakeClock) -> None:
    """Also a stream that sent an error without ending, and the last one with the block."""
    streams: list[StreamWatcher[v1.Gadget]] = []

    async def open_watch(version: str) -> StreamWatcher[v1.Gadget]:
        assert all(stream.stopped for stream in streams)
        streams.append(
            StreamWatcher(ScriptedDecoder([error(500), added("a", "5")][len(streams) :]))
        )
        return streams[-1]

    async with RetryWatcher("1", open_watch, clock=clock) as watcher:
        await anext(watcher)
        assert [stream.stopped for stream in streams] == [True, False]

    assert [stream.stopped for stream in streams] == [True, True]


async def test_a_wait_that_the_server_asked_for_holds_the_second_in_it(clock: FakeClock) -> None:
    """Restarts are a second apart, even if the server's Retry-After is shorter or missing."""
    streams = Streams([error(500, retryAfterSeconds=7)], [error(504)], [added("a", "5")])

    await run(streams, clock)

    assert clock.slept == [7, 1, 1]


@pytest.mark.parametrize("how", ["stop", "cancel"])
async def test_a_watcher_that_is_ended_while_it_opens_leaves_no_stream(how: str) -> None:
    """The pending opening is cancelled, and a stream that it still returns is closed."""
    opening, cancelled = asyncio.Event(), asyncio.Event()

    async def open_slowly(version: str) -> StreamWatcher[v1.Gadget]:
        opening.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError("nobody sets it")

    watcher = RetryWatcher("1", open_slowly)
    received = asyncio.ensure_future(anext(watcher))
    await opening.wait()

    if how == "stop":
        watcher.stop()
    else:
        received.cancel()
    await asyncio.wait([received], timeout=5)

    assert received.cancelled() == (how == "cancel")
    assert received.cancelled() or isinstance(received.exception(), StopAsyncIteration)
    assert cancelled.is_set()


async def test_a_stream_that_was_opened_too_late_is_closed() -> None:
    streams: list[StreamWatcher[v1.Gadget]] = []

    async def open_and_stop(version: str) -> StreamWatcher[v1.Gadget]:
        streams.append(StreamWatcher(ScriptedDecoder([added("a", "5")])))
        watcher.stop()
        return streams[-1]

    watcher = RetryWatcher("1", open_and_stop)

    assert [event async for event in watcher] == []
    assert [stream.stopped for stream in streams] == [True]


async def test_cancelling_the_reader_closes_the_stream() -> None:
    class Endless(ScriptedDecoder):
        async def decode(self) -> ObjectEvent[Any]:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")

    stream: StreamWatcher[v1.Gadget] = StreamWatcher(Endless([]))

    async def open_endless(version: str) -> StreamWatcher[v1.Gadget]:
        return stream

    received = asyncio.ensure_future(anext(RetryWatcher("1", open_endless)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    received.cancel()

    with pytest.raises(asyncio.CancelledError):
        await received
    assert stream.stopped


async def test_stopping_a_watch_wakes_who_waits_for_its_list() -> None:
    """A watch can be stopped in any of its phases."""
    listing = asyncio.Event()

    async def list_slowly(options: ListOptions) -> Page[v1.Gadget]:
        listing.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    source = ListWatch(list_slowly, lambda _: Streams([]).open("1"))
    watch = ResumingWatch(source, ListOptions(), clock=FakeClock())
    received = asyncio.ensure_future(anext(watch))
    await listing.wait()

    watch.stop()

    async with asyncio.timeout(5):
        with pytest.raises(StopAsyncIteration):
            await received
    assert [event async for event in watch] == []


async def test_watching_without_a_start_begins_with_what_exists(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a", "3"), version="10")),
        stream(frame("MODIFIED", gadget("a", "11"))),
        stream(
            frame("BOOKMARK", gadget("", "20")),
            frame("ERROR", status(410, "Expired", "too old resource version")),
        ),
    )
    events = []

    with pytest.raises(Expired, match="too old"):
        async for event in client.of(v1.Gadget).watch(labels="app=a"):
            events.append((event.type, event.object.metadata.resource_version))

    assert events == [("ADDED", "3"), ("MODIFIED", "11")]
    queries = [request.query for request in server.requests if request.path == GADGETS]
    assert [query.get("resourceVersion") for query in queries] == [None, "10", "11"]
    assert all(query["labelSelector"] == "app=a" for query in queries)
    assert queries[-1]["allowWatchBookmarks"] == "true"


@pytest.mark.parametrize("since", ["", "0"])
async def test_a_watch_of_an_empty_collection_starts_where_that_was(
    since: str, server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(version="10")),
        stream(frame("ADDED", gadget("a", "11"))),
    )

    async with client.of(v1.Gadget).watch(since=since) as watch:
        event = await anext(watch)

    assert event.object.metadata.resource_version == "11"
    queries = [request.query for request in server.requests if request.path == GADGETS]
    assert [query.get("resourceVersion", "") for query in queries] == [since, "10"]


async def test_a_watch_behind_pages_starts_where_the_first_one_was(
    server: FakeServer, client: AsyncClient
) -> None:
    """Changes since the first page must not be lost, whatever version a later page has."""
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), version="10", **{"continue": "next"})),
        answer(gadget_list(gadget("b"), version="15")),
        stream(frame("ADDED", gadget("c", "16"))),
    )

    async with client.of(v1.Gadget).watch() as watch:
        names = [(await anext(watch)).object.metadata.name for _ in range(3)]

    assert names == ["a", "b", "c"]
    assert server.requests[-1].query["resourceVersion"] == "10"


async def test_a_watch_knows_how_far_it_came(server: FakeServer, client: AsyncClient) -> None:
    release = asyncio.Event()
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a", "8")), hold=release))

    async with client.of(v1.Gadget).watch(since="7") as watch:
        async for _ in watch:
            break
    release.set()

    assert watch.resource_version == "8"
    assert [event async for event in watch] == []


async def test_waiting_ends_when_the_condition_holds(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(version="10")),
        stream(frame("ADDED", gadget("a", "11")), frame("MODIFIED", gadget("a", "12", replicas=3))),
    )

    received = await client.of(v1.Gadget).wait("a", lambda g: g.spec.replicas == 3, timeout=5)

    assert received.metadata.resource_version == "12"
    assert server.requests[-1].query["fieldSelector"] == "metadata.name=a"


async def test_waiting_looks_again_when_the_server_forgot(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(version="10")),
        stream(frame("ERROR", status(410, "Expired"))),
        answer(gadget_list(gadget("a"), version="99")),
    )

    received = await client.of(v1.Gadget).wait("a", lambda g: True, timeout=5)

    assert received.metadata.name == "a"


async def test_waiting_for_what_is_deleted_raises_deleted(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), version="10")),
        stream(frame("DELETED", gadget("a", "11"))),
    )

    with pytest.raises(Deleted) as caught:
        await client.of(v1.Gadget).wait("a", lambda g: False, timeout=5)

    assert caught.value.object.metadata.name == "a"


async def test_waiting_ends_with_its_time(server: FakeServer, client: AsyncClient) -> None:
    release = asyncio.Event()
    server.on("GET", GADGETS, answer(gadget_list(gadget("a"), version="10")), stream(hold=release))

    with pytest.raises(WaitTimeout, match=r"timed out after 0\.5s") as caught:
        await client.of(v1.Gadget).wait("a", lambda g: False, timeout=0.5)

    release.set()
    assert caught.value.object is not None


async def test_waiting_for_deletion_ends_when_the_object_or_its_uid_is_gone(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), version="10")),
        stream(frame("DELETED", gadget("a", "11"))),
    )
    gadgets = client.of(v1.Gadget)

    await gadgets.wait_deleted("a", timeout=5)
    server.on("GET", GADGETS, answer(gadget_list(gadget("a"), version="10")))
    await gadgets.wait_deleted("a", uid="another", timeout=5)
