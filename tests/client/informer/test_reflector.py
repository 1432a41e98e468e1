"""Reflector: listing, watching, and what it does when either fails."""

import asyncio
import logging

import pytest

from apimachinery.errors import (
    APIError,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Timeout,
    TooManyRequests,
)
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import StatusCause, StatusDetails
from apimachinery.meta.table import Table
from apimachinery.meta.types import ObjectMeta, PartialObjectMetadata
from apimachinery.meta.unstructured import Unstructured
from apimachinery.schema import GroupVersion
from client.clock import Clock
from client.informer import Reflector, Store
from client.informer.backoff import Backoff, RetryWindow
from client.informer.faults import is_too_large
from client.informer.intake import Intake
from client.paging import Page
from client.watch import Event, EventType
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, Server, Stream, gadget


class Recorder(Store[Gadget]):
    """A store that remembers what it was asked to do."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def replace(self, objects: object, resource_version: str) -> None:
        super().replace(objects, resource_version)  # type: ignore[arg-type]
        self.calls.append(f"replace {len(self)} at {resource_version}")

    def bookmark(self, resource_version: str) -> None:
        super().bookmark(resource_version)
        self.calls.append(f"bookmark {resource_version}")

    def resync(self) -> None:
        self.calls.append("resync")


class Setup:
    """A reflector of a scripted server, without luck."""

    def __init__(
        self,
        server: Server,
        clock: FakeClock,
        *,
        use_watch_list: bool = False,
        page_size: int = 0,
        resync: float = 0,
        should_resync: bool = True,
        internal_error_retry: float = 0,
        store: Recorder | None = None,
    ) -> None:
        self.store = Recorder() if store is None else store
        self.errors: list[Exception] = []
        self.reflector = Reflector(
            server,
            self.store,
            expected=Gadget,
            use_watch_list=use_watch_list,
            page_size=page_size,
            resync=resync,
            should_resync=lambda: should_resync,
            internal_error_retry=internal_error_retry,
            on_error=self.errors.append,
            clock=clock,
            chance=lambda: 0.0,
        )

    def names(self) -> list[str]:
        return sorted(obj.metadata.name for obj in self.store.objects())


# Backoff


def test_the_backoff_doubles_from_800_ms_to_30_s_and_is_stretched_at_most_twofold() -> None:
    clock = FakeClock()

    least = Backoff(clock, chance=lambda: 0.0)
    most = Backoff(clock, chance=lambda: 1.0)

    assert [least.step() for _ in range(8)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    assert [most.step() for _ in range(7)][-1] == 60.0


async def test_the_backoff_starts_anew_after_two_minutes_without_a_step(clock: FakeClock) -> None:
    backoff = Backoff(clock, chance=lambda: 0.0)
    assert [backoff.step(), backoff.step()] == [0.8, 1.6]

    await clock.advance(120)
    assert backoff.step() == 3.2
    await clock.advance(120.1)

    assert backoff.step() == 0.8


async def test_a_failing_list_is_tried_again_after_the_backoff(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """At once, and then after a backoff for each iteration; the error handler hears of each."""
    failures = [InternalError.of("broken") for _ in range(3)]
    server.list_errors.extend(failures)
    setup = Setup(server, clock)
    background(setup.reflector.run())

    await settle()
    assert len(server.lists) == 1
    for wait, expected in ((0.8, 2), (1.6, 3), (3.2, 4)):
        await clock.advance(wait - 0.01)
        assert len(server.lists) == expected - 1
        await clock.advance(0.01)
        assert len(server.lists) == expected
    assert setup.errors == failures


# Lists


async def test_the_first_list_takes_any_state_and_the_next_one_not_an_older(
    server: Server, clock: FakeClock, background: Background
) -> None:
    server.put("a")
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    assert [options.resource_version for options in server.lists] == ["0"]

    server.put("b")
    server.expire_streams()
    await clock.advance(1)

    assert [options.resource_version for options in server.lists] == ["0", "102"]
    assert setup.names() == ["a", "b"]


@pytest.mark.parametrize(
    "error",
    [
        Expired("too old"),
        Gone("too old"),
        Timeout.future_revision(500, 101),
        Timeout("Timeout: Too large resource version: 5, current: 1", details=StatusDetails()),
    ],
    ids=["expired", "gone", "too large", "too large, as older servers say it"],
)
async def test_a_state_that_cannot_be_had_is_asked_for_anew_at_once(
    error: APIError, server: Server, clock: FakeClock, background: Background
) -> None:
    """The newest instead, without a backoff; afterwards the last state seen is good again."""
    setup = Setup(server, clock)
    server.list_errors.append(error)
    background(setup.reflector.run())

    await settle()

    assert [options.resource_version for options in server.lists] == ["0", ""]
    assert setup.errors == []
    server.expire_streams()
    await clock.advance(1)
    assert server.lists[-1].resource_version == "100"


def test_a_timeout_is_not_a_future_state() -> None:
    assert not is_too_large(Timeout.of("slow"))
    assert not is_too_large(ConnectionError())
    old = StatusDetails(causes=[StatusCause(message="Too large resource version")])
    assert is_too_large(Timeout("Timeout", details=old))


async def test_a_410_in_a_watch_leads_to_a_list_not_older_than_what_was_seen(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The state is not marked as gone: only a list that says so itself goes for the newest."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.put("a")
    await settle()

    server.expire_streams()
    await clock.advance(0.8)

    assert [options.resource_version for options in server.lists] == ["0", "101"]
    assert setup.errors == []


async def test_pages_are_asked_for_when_that_is_better_for_the_server(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """500 at first, and none for a given state, which a cache answers only in one piece."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.expire_streams()
    await clock.advance(1)

    assert [options.limit for options in server.lists] == [500, 0]
    assert setup.store.calls == ["replace 0 at 100", "replace 0 at 100"]


async def test_a_server_that_pages_any_state_is_paged_ever_after(
    server: Server, clock: FakeClock, background: Background
) -> None:
    server.pages_any_state = True
    for number in range(501):
        server.put(f"g{number}")
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.expire_streams()
    await clock.advance(1)

    first, second, third, fourth = server.lists
    assert (first.resource_version, first.limit, first.continue_) == ("0", 500, "")
    assert (second.resource_version, second.limit) == ("", 500)
    assert second.continue_
    assert (third.resource_version, third.limit) == ("601", 500)
    assert fourth.continue_
    assert len(setup.store) == 501


async def test_an_explicit_page_size_wins(
    server: Server, clock: FakeClock, background: Background
) -> None:
    server.pages_any_state = True
    for name in "abc":
        server.put(name)
    setup = Setup(server, clock, page_size=2)
    background(setup.reflector.run())
    await settle()

    assert [options.limit for options in server.lists] == [2, 2]
    assert setup.names() == ["a", "b", "c"]


async def test_a_list_that_expires_between_pages_is_asked_for_in_one_piece(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """From the second page on; the requested state is then asked for again."""
    server.pages_any_state = True
    for name in "abc":
        server.put(name)

    class Expiring(Server):
        async def list(self, options: ListOptions) -> Page[Gadget]:
            page = await super().list(options)
            self.put("d")
            return page

    expiring = Expiring()
    expiring.pages_any_state, expiring.objects = True, server.objects
    expiring.revision = server.revision
    setup = Setup(expiring, clock, page_size=2)
    background(setup.reflector.run())
    await settle()

    asked = [(o.resource_version, o.limit, bool(o.continue_)) for o in expiring.lists]
    assert asked == [("0", 2, False), ("", 2, True), ("0", 0, False)]
    assert setup.names() == ["a", "b", "c", "d"]


# The first state as a stream


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


# Watches


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


async def test_an_event_of_something_else_is_skipped(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """Wrong type, no metadata, a Table: logged, and the stream goes on."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    stream = server.open[0]
    other = PartialObjectMetadata(metadata=ObjectMeta(name="x", resource_version="999"))
    stream.send(EventType.ADDED, other)  # type: ignore[arg-type]
    stream.send(EventType.ADDED, Table())  # type: ignore[arg-type]
    server.put("a")
    await settle()

    assert setup.names() == ["a"]
    assert caplog.text.count("event skipped") == 2
    assert setup.reflector.last_sync_resource_version == "101"


def test_an_object_of_another_kind_is_skipped_where_there_is_no_class(clock: Clock) -> None:
    kind = GroupVersion("example.io", "v1").with_kind("Gadget")
    intake = Intake("test", clock, expected=Unstructured, kind=kind)
    right = Unstructured(kind="Gadget", api_version="example.io/v1")
    wrong = Unstructured(kind="Gadget", api_version="example.io/v2")

    assert intake.understood(Event(EventType.ADDED, right)) is right
    assert intake.understood(Event(EventType.ADDED, wrong)) is None


async def test_the_version_follows_events_and_bookmarks(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Bookmarks are passed on to a store that wants to know."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.put("a")
    await settle()
    assert setup.reflector.last_sync_resource_version == "101"

    server.revision = 150
    server.bookmark()
    await settle()

    assert setup.reflector.last_sync_resource_version == "150"
    assert setup.store.calls[-1] == "bookmark 150"


@pytest.mark.parametrize("version", ["", "0"])
async def test_what_exists_says_nothing_about_the_version_of_a_stream_from_anywhere(
    version: str, server: Server, clock: FakeClock
) -> None:
    """Such added events are not ordered; the first other event is where the order begins."""
    stream = await server.watch(ListOptions(resource_version=version))
    stream.events.clear()
    for kind, obj in (
        (EventType.ADDED, gadget("a", version=9)),
        (EventType.ADDED, gadget("b", version=7)),
        (EventType.MODIFIED, gadget("a", version=10)),
        (EventType.ADDED, gadget("c", version=11)),
    ):
        stream.send(kind, obj)
    stream.end()
    advanced: list[str] = []
    intake: Intake[Gadget] = Intake("test", clock, expected=Gadget)

    await intake.read(stream, Store(), start=0, began_at=version, advance=advanced.append)

    assert advanced == ["10", "11"]


# Beside the watch


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
