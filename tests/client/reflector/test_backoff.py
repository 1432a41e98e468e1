"""How long a reflector waits before it asks again."""

from apimachinery.errors import Forbidden, InternalError, TooManyRequests
from client.reflector.backoff import Backoff
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Server
from tests.client.reflector.reflectors import Setup


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


async def test_the_backoff_begins_when_the_watch_has_ended(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """However long it lasted: the delay is counted from its end, and a long one starts anew."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    for seen in (1, 2):
        await clock.advance(300)

        server.expire_streams()
        await clock.advance(0.79)
        assert len(server.lists) == seen
        await clock.advance(0.01)
        assert len(server.lists) == seen + 1


async def test_one_backoff_serves_lists_and_watches_alike(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """A server in trouble is left alone for longer however the trouble shows."""
    server.list_errors.append(InternalError.of("broken"))
    server.watch_errors.extend([TooManyRequests.of("busy"), Forbidden("no")])
    background(Setup(server, clock).reflector.run())

    await clock.advance(60)

    assert clock.slept == [0.8, 1.6, 3.2]
