"""The first state of a collection, streamed as the beginning of a watch."""

import logging

import pytest

from apimachinery.errors import Expired, TooManyRequests
from apimachinery.meta.options import ListOptions
from client.watch import EventType
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.reflectors import Setup
from tests.client.informer.server import Server, Stream, gadget


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


async def test_nothing_is_replaced_before_the_bookmark(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """A stream that never says it is complete is complained about every ten seconds."""
    server.streams_initial_state = True
    setup = Setup(server, clock, use_watch_list=True)
    original = server._begin
    server._begin = lambda stream, options: None  # type: ignore[method-assign]
    background(setup.reflector.run())
    await settle()
    server.put("a")

    with caplog.at_level(logging.WARNING):
        await clock.advance(20)

    assert setup.store.calls == []
    assert [r.getMessage() for r in caplog.records if "bookmark" in r.getMessage()]
    server._begin = original  # type: ignore[method-assign]
    server.end_streams()
    await clock.advance(2)
    assert setup.store.calls == ["replace 1 at 101"]


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
