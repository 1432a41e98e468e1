"""Reflector: the watch, what it does when that fails, and what goes on beside it."""

import asyncio
import logging

import pytest

from apimachinery.errors import APIError, Forbidden, InternalError, TooManyRequests
from client.informer import Reflector
from client.informer.backoff import RetryWindow
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.reflectors import Recorder, Setup
from tests.client.informer.server import Gadget, Server


async def test_a_watch_starts_where_the_list_was_and_ends_after_five_to_ten_minutes(
    server: Server, clock: FakeClock
) -> None:
    asked = []
    for chance in (lambda: 0.0, lambda: 0.999):
        reflector = Reflector(server, Recorder(), use_watch_list=False, clock=clock, chance=chance)
        task = asyncio.ensure_future(reflector.list_and_watch())
        await settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        asked.append(server.watches[-1])

    assert [options.timeout_seconds for options in asked] == [300, 599]
    assert all(options.allow_watch_bookmarks for options in asked)
    assert [options.resource_version for options in asked] == ["100", "100"]


async def test_a_watch_that_ends_normally_goes_on_at_once(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """From the last version, with no new list and no backoff."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.put("a")
    await settle()

    server.end_streams()
    await settle()

    assert [options.resource_version for options in server.watches] == ["100", "101"]
    assert len(server.lists) == 1
    assert clock.slept == []


@pytest.mark.parametrize("error", [ConnectionRefusedError(), TooManyRequests.of("busy")])
async def test_a_watch_that_a_busy_server_does_not_open_is_waited_for(
    error: Exception, server: Server, clock: FakeClock, background: Background
) -> None:
    """The server will know the version when it is back: no new list."""
    server.watch_errors.append(error)
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    assert len(server.watches) == 1

    await clock.advance(0.8)

    assert (len(server.watches), len(server.lists), setup.errors) == (2, 1, [])


async def test_a_watch_that_cannot_be_opened_otherwise_is_an_error(
    server: Server, clock: FakeClock, background: Background
) -> None:
    forbidden = Forbidden("no")
    server.watch_errors.append(forbidden)
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    assert setup.errors == [forbidden]

    await clock.advance(0.8)

    assert len(server.lists) == 2


async def test_a_watch_that_is_told_to_slow_down_is_opened_again_after_the_backoff(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    server.open[0].fail(TooManyRequests.of("slow down"))
    await clock.advance(0.79)
    assert len(server.watches) == 1
    await clock.advance(0.01)

    assert (len(server.watches), len(server.lists)) == (2, 1)


@pytest.mark.parametrize(("seconds", "lists"), [(0, 2), (30, 1)])
async def test_internal_errors_are_retried_for_as_long_as_allowed(
    seconds: float, lists: int, server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock, internal_error_retry=seconds)
    background(setup.reflector.run())
    await settle()

    server.open[0].fail(InternalError.of("broken"))
    await clock.advance(0.8)

    assert (len(server.watches), len(server.lists)) == (2, lists)


async def test_the_time_for_internal_errors_ends_and_begins_anew(clock: FakeClock) -> None:
    window = RetryWindow(clock, 10)
    assert window.allows()
    await clock.advance(9)
    assert window.allows()
    await clock.advance(2)
    assert not window.allows()
    assert window.allows()
    await clock.advance(61)
    assert window.allows()


async def test_any_other_error_in_a_watch_is_logged_and_leads_to_a_list(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    with caplog.at_level(logging.WARNING):
        server.open[0].fail(APIError("odd", code=418))
        await clock.advance(0.8)

    assert len(server.lists) == 2
    assert any("odd" in record.getMessage() for record in caplog.records)


async def test_a_very_short_watch_is_an_error(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """A server that closes every watch at once gets a backoff, not a hot loop."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    with caplog.at_level(logging.WARNING):
        server.end_streams()
        await settle()
    assert len(server.watches) == 1
    assert "very short watch" in caplog.text
    await clock.advance(0.8)
    assert (len(server.watches), len(server.lists)) == (2, 2)

    await clock.advance(1)
    server.end_streams()
    await settle()
    assert (len(server.watches), len(server.lists)) == (3, 2), "a second is long enough"


async def test_a_server_that_always_closes_at_once_is_asked_rarely(
    server: Server, clock: FakeClock, background: Background
) -> None:
    server._begin = lambda stream, options: stream.end()  # type: ignore[method-assign]
    for use_watch_list in (True, False):
        setup = Setup(server, clock, use_watch_list=use_watch_list)
        background(setup.reflector.run())
    await clock.advance(60)

    assert len(server.watches) < 30


async def test_a_resync_never_touches_the_network(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock, resync=60)
    background(setup.reflector.run())
    await settle()
    asked = (len(server.lists), len(server.watches))

    await clock.advance(180)

    assert setup.store.calls.count("resync") == 3
    assert (len(server.lists), len(server.watches)) == asked


async def test_a_resync_happens_only_if_somebody_wants_it(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock, resync=60, should_resync=False)
    background(setup.reflector.run())
    await clock.advance(180)

    assert "resync" not in setup.store.calls


async def test_an_error_of_a_resync_ends_the_watch(
    server: Server, clock: FakeClock, background: Background
) -> None:
    class Failing(Recorder):
        def resync(self) -> None:
            raise ValueError("cannot")

    setup = Setup(server, clock, resync=60, store=Failing())
    background(setup.reflector.run())
    await clock.advance(60)

    assert [str(error) for error in setup.errors] == ["cannot"]
    assert server.streams[0].stopped
    await clock.advance(0.8)
    assert len(server.lists) == 2


async def test_what_the_store_refuses_is_logged_and_the_watch_goes_on(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    class Picky(Recorder):
        def add(self, obj: Gadget) -> None:
            if obj.metadata.name == "bad":
                raise ValueError("not this one")
            super().add(obj)

    setup = Setup(server, clock, store=Picky())
    background(setup.reflector.run())
    await settle()

    server.put("bad")
    server.put("good")
    await settle()

    assert setup.names() == ["good"]
    assert "unable to store" in caplog.text
    assert len(server.watches) == 1


async def test_cancelling_ends_it_without_an_error_and_lets_go_of_the_stream(
    server: Server, clock: FakeClock
) -> None:
    for use_watch_list in (True, False):
        setup = Setup(server, clock, use_watch_list=use_watch_list)
        task = asyncio.ensure_future(setup.reflector.run())
        await settle()
        stream = server.open[0]

        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        assert task.cancelled()
        assert stream.stopped
        assert setup.errors == []
        assert setup.reflector.last_sync_resource_version == "100"


async def test_an_error_handler_that_fails_stops_nothing(
    server: Server, clock: FakeClock, background: Background
) -> None:
    def handler(error: Exception) -> None:
        raise RuntimeError("the handler is broken as well")

    server.list_errors.append(InternalError.of("broken"))
    reflector = Reflector(
        server, Recorder(), use_watch_list=False, on_error=handler, clock=clock, chance=lambda: 0.0
    )
    background(reflector.run())
    await clock.advance(0.8)

    assert len(server.lists) == 2


async def test_without_an_error_handler_errors_are_logged(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    server.list_errors.append(InternalError.of("broken"))
    background(Reflector(server, Recorder(), use_watch_list=False, clock=clock).run())
    await settle()

    assert "failed to list or watch: Internal error occurred: broken" in caplog.text
