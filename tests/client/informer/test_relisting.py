"""The lists of a reflector: of which state, and in which pages."""

import pytest

from apimachinery.errors import (
    APIError,
    Expired,
    Gone,
    Timeout,
)
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import StatusCause, StatusDetails
from client.informer.faults import is_too_large
from client.paging import Page
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.reflectors import Setup
from tests.client.informer.server import Gadget, Server


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
