"""Reflector: the watch, what it does when that fails, and what goes on beside it."""

import asyncio
import logging
from dataclasses import FrozenInstanceError

import pytest

from apimachinery.errors import APIError, Expired, Forbidden, InternalError, TooManyRequests
from apimachinery.meta.options import ListOptions
from client.informer import InformerOptions, Reflector
from client.paging import Page
from client.reflector.backoff import RetryWindow
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, Server
from tests.client.reflector.reflectors import Recorder, Setup


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


@pytest.mark.parametrize(
    "error", [Forbidden("no"), Expired("too old"), ConnectionResetError("cut"), ValueError("odd")]
)
async def test_a_watch_that_cannot_be_opened_otherwise_is_an_error(
    error: Exception, server: Server, clock: FakeClock, background: Background
) -> None:
    server.watch_errors.append(error)
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    assert setup.errors == [error]

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


async def test_a_watch_that_is_opened_again_goes_on_from_the_last_event(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """After an internal error or a 429 nothing is told twice, and nothing is missed."""
    setup = Setup(server, clock, internal_error_retry=60)
    background(setup.reflector.run())
    await settle()
    for error in (InternalError.of("broken"), TooManyRequests.of("slow down")):
        server.put("a")
        await settle()

        server.open[0].fail(error)
        server.put("b")
        await clock.advance(1)

        assert int(server.watches[-1].resource_version) == server.revision - 1
        assert setup.reflector.last_sync_resource_version == str(server.revision)
    assert len(server.lists) == 1


async def test_internal_errors_are_not_retried_for_ever(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock, internal_error_retry=5)
    background(setup.reflector.run())
    await settle()

    for lists in (1, 1, 2):
        server.open[0].fail(InternalError.of("broken"))
        await clock.advance(3)

        assert len(server.lists) == lists


async def test_resyncs_go_on_when_a_stream_ends(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The timer is the reflector's: a stream that ends does not start it anew."""
    setup = Setup(server, clock, resync=60)
    background(setup.reflector.run())
    for _ in range(3):
        await clock.advance(50)
        server.put("a")
        await settle()
        server.end_streams()
        await settle()

    assert setup.store.calls.count("resync") == 2
    assert len(server.watches) == 4


@pytest.mark.parametrize("method", ["add", "update", "delete", "bookmark"])
async def test_no_error_of_the_store_ends_a_watch(
    method: str,
    server: Server,
    clock: FakeClock,
    background: Background,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is logged, and how far the collection has been seen advances all the same."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    def refuse(given: object) -> None:
        raise ValueError("cannot")

    setattr(setup.store, method, refuse)
    for change in (server.put, server.put, server.delete):
        change("a")
    server.bookmark()
    await settle()

    assert "unable to store" in caplog.text
    assert setup.reflector.last_sync_resource_version == str(server.revision)
    assert (len(server.watches), setup.errors) == (1, [])


async def test_cancelling_marks_nothing_wherever_it_hits(server: Server, clock: FakeClock) -> None:
    """While it lists, while it streams the first state, while it waits to try again."""

    async def never(options: ListOptions) -> Page[Gadget]:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    lists = server.list
    for use_watch_list, errors, listing in (
        (False, [], never),
        (True, [TooManyRequests.of("busy")], lists),
        (True, [Forbidden("no")], never),
        (False, [Forbidden("no")], lists),
    ):
        server.watch_errors.extend(errors)
        server.list = listing  # type: ignore[method-assign]
        setup = Setup(server, clock, use_watch_list=use_watch_list)
        task = asyncio.ensure_future(setup.reflector.run())
        await settle()
        told = list(setup.errors)

        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        assert task.cancelled()
        assert setup.errors == told
        assert not setup.reflector._is_version_unavailable


async def test_every_failed_attempt_is_told_to_the_error_handler_once(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """A watch that ends, however it does, is no failure: only what leads nowhere is."""
    setup = Setup(server, clock)
    failures = [InternalError.of("broken"), ConnectionResetError("cut"), Forbidden("no")]
    server.list_errors.extend(failures)
    background(setup.reflector.run())
    await clock.advance(10)
    assert setup.errors == failures

    server.expire_streams()
    await clock.advance(30)
    server.open[0].fail(APIError("odd", code=418))
    await clock.advance(30)

    assert setup.errors == failures
    assert len(server.lists) == 6


def test_an_error_handler_is_given_before_the_start() -> None:
    """Nobody can exchange it under a reflector that runs."""
    options = InformerOptions(on_error=print)

    with pytest.raises(FrozenInstanceError):
        options.on_error = None  # type: ignore[misc]
