"""The first state of a collection, streamed as the beginning of a watch."""

import logging

import pytest

from apimachinery.errors import APIError, Expired, Forbidden, Timeout, TooManyRequests
from apimachinery.meta.options import ListOptions
from apimachinery.watch import INITIAL_EVENTS_END, EventType
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, Server, Stream, gadget
from tests.client.reflector.reflectors import Recorder, Setup


async def test_the_first_state_can_be_streamed_and_the_stream_goes_on(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Collected apart until the bookmark, then replaced at its version; the same stream goes on."""
    server.put("a")
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()

    (options,) = server.watches
    assert options.send_initial_events is True
    assert options.resource_version_match == "NotOlderThan"
    assert options.allow_watch_bookmarks
    assert options.resource_version == ""
    assert (server.lists, setup.store.calls) == ([], ["replace 1 at 101"])

    server.put("b")
    await settle()
    assert setup.names() == ["a", "b"]
    assert len(server.watches) == 1


class Slowly:
    """Lets a server open streams that bring nothing by themselves."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._original = server._begin
        server._begin = lambda stream, options: None  # type: ignore[method-assign]

    @property
    def stream(self) -> Stream:
        return self._server.open[-1]

    def over(self) -> None:
        self._server._begin = self._original  # type: ignore[method-assign]


def bookmark(version: int, *, end: str = "") -> Gadget:
    made = gadget("", namespace="", version=version)
    if end:
        made.metadata.annotations[INITIAL_EVENTS_END] = end
    return made


async def test_nothing_is_replaced_before_the_bookmark(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """What there was stays good until all of what there is has come."""
    server.put("old")
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()
    slowly = Slowly(server)
    server.expire_streams()
    await clock.advance(0.8)

    slowly.stream.send(EventType.ADDED, gadget("new", version=105))
    slowly.stream.send(EventType.BOOKMARK, bookmark(106))
    slowly.stream.send(EventType.BOOKMARK, bookmark(107, end="false"))
    await settle()
    assert setup.store.calls == ["replace 1 at 101"]
    assert setup.names() == ["old"]
    assert setup.reflector.last_sync_resource_version == "101"

    slowly.stream.send(EventType.BOOKMARK, bookmark(110, end="true"))
    await settle()
    assert setup.store.calls == ["replace 1 at 101", "replace 1 at 110"]
    assert setup.names() == ["new"]
    assert setup.reflector.last_sync_resource_version == "110"


async def test_changes_before_the_bookmark_are_part_of_the_first_state(
    server: Server, clock: FakeClock, background: Background
) -> None:
    slowly = Slowly(server)
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()

    for kind, obj in (
        (EventType.ADDED, gadget("a", version=1)),
        (EventType.ADDED, gadget("b", version=2)),
        (EventType.MODIFIED, gadget("a", version=3, size=7)),
        (EventType.DELETED, gadget("b", version=4)),
        (EventType.BOOKMARK, bookmark(4, end="true")),
    ):
        slowly.stream.send(kind, obj)
    await settle()

    assert setup.store.calls == ["replace 1 at 4"]
    assert [obj.spec.size for obj in setup.store.objects()] == [7]


async def test_a_stream_that_does_not_say_it_is_complete_is_complained_about(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """Every ten seconds in which it brings nothing."""

    def complaints() -> int:
        return sum("bookmark" in record.getMessage() for record in caplog.records)

    slowly = Slowly(server)
    background(Setup(server, clock, use_watch_list=True).reflector.run())
    caplog.set_level(logging.WARNING)
    await clock.advance(9.9)
    assert complaints() == 0
    await clock.advance(0.1)
    assert complaints() == 1
    await clock.advance(10)
    assert complaints() == 2

    await clock.advance(5)
    slowly.stream.send(EventType.ADDED, gadget("a", version=1))
    await clock.advance(5)
    assert complaints() == 2, "something has come five seconds ago"
    slowly.stream.send(EventType.BOOKMARK, bookmark(1, end="true"))
    await clock.advance(60)
    assert complaints() == 2


async def test_a_stream_that_ends_before_the_bookmark_is_opened_again_after_the_backoff(
    server: Server, clock: FakeClock, background: Background
) -> None:
    slowly = Slowly(server)
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()
    slowly.stream.send(EventType.ADDED, gadget("stale", version=5))
    slowly.stream.end()
    slowly.over()
    server.put("a")
    await clock.advance(0.79)
    assert len(server.watches) == 1

    await clock.advance(0.01)

    assert (setup.names(), server.lists) == (["a"], [])


async def test_a_server_that_cannot_stream_is_listed(
    server: Server, clock: FakeClock, background: Background
) -> None:
    server.streams_initial_state = False
    server.put("a")
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()

    assert setup.names() == ["a"]
    assert setup.errors == []
    assert [options.send_initial_events for options in server.watches] == [True, None]


@pytest.mark.parametrize("error", [ConnectionRefusedError(), TooManyRequests.of("busy")])
async def test_a_stream_from_a_busy_server_is_waited_for(
    error: Exception, server: Server, clock: FakeClock, background: Background
) -> None:
    server.watch_errors.append(error)
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()
    assert len(server.watches) == 1

    await clock.advance(0.8)

    assert len(server.watches) == 2
    assert (server.lists, setup.store.calls) == ([], ["replace 0 at 100"])


async def test_a_stream_from_a_state_that_is_gone_starts_at_the_newest(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()
    server.watch_errors.append(Expired("too old"))
    server.expire_streams()

    await clock.advance(0.8)

    assert [options.resource_version for options in server.watches] == ["", "100", ""]
    assert server.lists == []


async def test_a_stream_that_breaks_before_the_bookmark_starts_clean(
    server: Server, clock: FakeClock, background: Background
) -> None:
    original = server._begin

    def half(stream: Stream, options: ListOptions) -> None:
        stream.send(EventType.ADDED, gadget("stale", version=5))
        stream.fail(TooManyRequests.of("too slow"))
        server._begin = original  # type: ignore[method-assign]

    server._begin = half  # type: ignore[method-assign]
    server.put("a")
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await clock.advance(0.8)

    assert setup.names() == ["a"]
    assert server.streams[-1].stopped is False


@pytest.mark.parametrize("error", [Expired("too old"), Timeout.future_revision(500, 100)], ids=repr)
async def test_a_state_that_is_gone_for_a_stream_already_open_is_given_up_too(
    error: APIError, server: Server, clock: FakeClock, background: Background
) -> None:
    """At once; and when the newest has come, the last state seen is good again."""
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()
    original = server._begin

    def refuse(stream: Stream, options: ListOptions) -> None:
        server._begin = original  # type: ignore[method-assign]
        stream.fail(error)

    server._begin = refuse  # type: ignore[method-assign]
    server.expire_streams()
    await clock.advance(0.8)
    assert [options.resource_version for options in server.watches] == ["", "100", ""]
    server.expire_streams()
    await clock.advance(1.6)

    assert server.watches[-1].resource_version == "100"
    assert server.lists == []


async def test_a_newest_state_that_cannot_be_had_as_a_stream_is_listed(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """A server that says even of its newest state that it is gone is not asked for ever."""
    server.watch_errors.append(Expired("nothing is left"))
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()

    assert len(server.lists) == 1
    assert setup.errors == []


@pytest.mark.parametrize("error", [Forbidden("no"), ConnectionResetError("cut"), ValueError("odd")])
async def test_any_other_error_of_the_stream_leads_to_a_list(
    error: Exception, server: Server, clock: FakeClock, background: Background
) -> None:
    server.put("a")
    server.watch_errors.append(error)
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await settle()

    assert (setup.names(), setup.errors, len(server.lists)) == (["a"], [], 1)
    assert [options.send_initial_events for options in server.watches] == [True, None]


async def test_a_first_state_that_the_store_refuses_is_listed(
    server: Server, clock: FakeClock, background: Background
) -> None:
    class Refusing(Recorder):
        def replace(self, objects: object, resource_version: str) -> None:
            if not server.lists:
                raise ValueError("cannot")
            super().replace(objects, resource_version)

    setup = Setup(server, clock, use_watch_list=True, store=Refusing())
    background(setup.reflector.run())
    await settle()

    assert setup.store.calls == ["replace 0 at 100"]
    assert len(server.open) == 1, "the stream that was refused is let go"


async def test_a_stream_of_the_first_state_ends_after_five_to_ten_minutes(
    server: Server, clock: FakeClock, background: Background
) -> None:
    background(Setup(server, clock, use_watch_list=True).reflector.run())
    await settle()

    assert server.watches[0].timeout_seconds == 300


@pytest.mark.parametrize(("seconds", "lists"), [(0.9, 1), (1, 0)])
async def test_a_first_state_that_ends_within_a_second_with_nothing_is_listed(
    seconds: float, lists: int, server: Server, clock: FakeClock, background: Background
) -> None:
    """A server that closes such streams at once cannot do it; one that lasted is tried again."""
    slowly = Slowly(server)
    setup = Setup(server, clock, use_watch_list=True)
    background(setup.reflector.run())
    await clock.advance(seconds)

    slowly.over()
    server.end_streams()
    await clock.advance(0.8)

    assert len(server.lists) == lists
    assert setup.store.calls == ["replace 0 at 100"]
    assert setup.errors == []
