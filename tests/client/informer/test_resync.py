"""Resyncs: who is told everything again, and when."""

import pytest

from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.informers import Notes, informer_of
from tests.client.informer.server import Server


async def test_a_resync_is_told_only_to_handlers_that_want_it_and_are_due(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The check period is the shortest that was asked for before the start."""
    for in_order in (True, False):
        server.put("a")
        informer = informer_of(server, clock, in_order=in_order)
        every, other, never = Notes(), Notes(), Notes()
        informer.add_handler(every, resync=10)
        informer.add_handler(other, resync=25)
        informer.add_handler(never)
        background(informer.run())
        await clock.advance(61)

        assert len(every.told) == 1 + 6
        assert len(other.told) == 1 + 2, "at 30 and 60, which is when somebody looks"
        assert len(never.told) == 1
        version = server.objects["default/a"].metadata.resource_version
        assert every.told[1] == f"update a@{version} to a@{version}"


async def test_a_list_that_changes_nothing_tells_nobody_who_is_not_due(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Equal versions are a resync, however they come."""
    server.put("a")
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.expire_streams()
    await clock.advance(5)

    assert len(server.watches) == 2
    assert notes.told == ["+ add a@101"]


async def test_resync_periods_have_bounds(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """Not below a second; after the start not below what the informer looks at."""
    server.put("a")
    informer = informer_of(server, clock, resync=20)
    default, eager, late, none = Notes(), Notes(), Notes(), Notes()
    informer.add_handler(default)
    informer.add_handler(eager, resync=0.1)
    informer.add_handler(none, resync=0)
    background(informer.run())
    await clock.advance(0.5)
    informer.add_handler(late, resync=0.5)
    await clock.advance(3.6)

    assert len(eager.told) == 1 + 4
    assert len(late.told) == 1 + 3
    await clock.advance(17)
    assert len(default.told) == 1 + 1
    assert len(none.told) == 1
    assert "too short" in caplog.text


async def test_an_informer_that_never_looks_cannot_resync_a_late_handler(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    server.put("a")
    informer = informer_of(server, clock)
    background(informer.run())
    await settle()
    late = Notes()
    informer.add_handler(late, resync=5)
    await clock.advance(60)

    assert late.told == ["+ add a@101"]
    assert "requested after the informer started" in caplog.text
