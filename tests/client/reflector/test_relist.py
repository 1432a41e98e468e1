"""The lists of a reflector: of which state, and in which pages."""

import pytest

from apimachinery.errors import APIError, Expired, Gone, InternalError, Timeout
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import StatusCause, StatusDetails
from client.paging import Page
from client.reflector.error_policy import is_too_large
from client.reflector.relist import list_all
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, Server, Stream, gadget
from tests.client.reflector.reflectors import Recorder, Setup


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


async def test_a_server_that_pages_only_the_newest_state_is_not_paged_for_others(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Pages of the newest state say nothing about whether the server has a cache."""
    for number in range(501):
        server.put(f"g{number}")
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.list_errors.extend([Expired("too old"), InternalError.of("broken")])
    server.expire_streams()
    await clock.advance(3)
    server.expire_streams()
    await clock.advance(4)

    asked = [(o.resource_version, o.limit, bool(o.continue_)) for o in server.lists]
    newest = [("", 500, False), ("", 500, True)]
    assert asked == [
        ("0", 500, False),
        ("601", 0, False),
        ("", 0, False),
        *newest,
        ("601", 0, False),
    ]


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


async def test_a_state_that_cannot_be_had_stays_so_until_a_list_succeeds(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """When the newest cannot be had either, it is what the next list asks for."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    failure = InternalError.of("etcd is away")
    server.list_errors.extend([Expired("too old"), failure])
    server.expire_streams()

    await clock.advance(0.8)
    assert setup.errors == [failure]
    await clock.advance(1.6)

    asked = [options.resource_version for options in server.lists]
    assert asked == ["0", "100", "", ""]
    server.expire_streams()
    await clock.advance(3.2)
    assert server.lists[-1].resource_version == "100"


async def test_a_list_that_fails_otherwise_marks_nothing(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.list_errors.append(Timeout.of("slow"))
    server.expire_streams()
    await clock.advance(3)

    assert [options.resource_version for options in server.lists] == ["0", "100", "100"]
    assert len(setup.errors) == 1


async def test_an_explicit_page_size_wins_for_every_state(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock, page_size=2)
    background(setup.reflector.run())
    await settle()
    server.list_errors.append(Expired("too old"))
    server.expire_streams()
    await clock.advance(1)

    asked = [(options.resource_version, options.limit) for options in server.lists]
    assert asked == [("0", 2), ("100", 2), ("", 2)]


class Pages:
    """Answers a list page by page, as it was told."""

    def __init__(self, *pages: Page[Gadget] | Exception) -> None:
        self.pages = list(pages)
        self.asked: list[ListOptions] = []

    async def list(self, options: ListOptions) -> Page[Gadget]:
        self.asked.append(options)
        page = self.pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return page

    async def watch(self, options: ListOptions) -> Stream:
        raise AssertionError("nobody watches")


async def test_pages_after_the_first_are_asked_for_by_their_token_alone() -> None:
    source = Pages(Page([gadget("a")], "7", "next"), Page([gadget("b")], "7"))

    whole, paginated = await list_all(source, "5", page_size=1)

    assert [obj.metadata.name for obj in whole.items] == ["a", "b"]
    assert paginated
    first, second = source.asked
    assert (first.resource_version, first.limit, first.continue_) == ("5", 1, "")
    assert (second.resource_version, second.resource_version_match) == ("", "")
    assert (second.limit, second.continue_) == (1, "next")


async def test_a_list_is_in_the_state_of_its_first_page() -> None:
    """A watch from a later one would miss what happened while the pages came."""
    source = Pages(Page([gadget("a")], "7", "next"), Page([gadget("b")], "9"))

    whole, _ = await list_all(source, "0", page_size=1)

    assert whole.resource_version == "7"


@pytest.mark.parametrize("error", [Gone("gone"), InternalError.of("broken")])
async def test_only_an_expired_page_leads_to_a_list_in_one_piece(error: APIError) -> None:
    source = Pages(Page([gadget("a")], "7", "next"), error)

    with pytest.raises(type(error)):
        await list_all(source, "0", page_size=1)

    assert len(source.asked) == 2


async def test_an_expired_first_page_is_for_the_caller() -> None:
    source = Pages(Expired("too old"))

    with pytest.raises(Expired):
        await list_all(source, "5", page_size=1)

    assert len(source.asked) == 1


async def test_a_list_that_the_store_refuses_is_an_error_and_asked_for_again(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The state counts as seen only when the store has it."""

    class Refusing(Recorder):
        def replace(self, objects: object, resource_version: str) -> None:
            if len(server.lists) == 1:
                raise ValueError("cannot")
            super().replace(objects, resource_version)

    setup = Setup(server, clock, store=Refusing())
    background(setup.reflector.run())
    await settle()
    assert [str(error) for error in setup.errors] == ["cannot"]
    assert setup.reflector.last_sync_resource_version == ""
    assert server.watches == []

    await clock.advance(0.8)

    assert [options.resource_version for options in server.lists] == ["0", "0"]
    assert setup.reflector.last_sync_resource_version == "100"
