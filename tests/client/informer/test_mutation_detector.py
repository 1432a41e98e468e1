"""The mutation detector finds those who change what is everybody's."""

import asyncio

import pytest

from client.informer import CacheMutated, MutationDetector
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.informers import informer_of
from tests.client.informer.server import Server, gadget


async def test_a_mutated_object_is_found(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Cached objects are everybody's; the detector compares them with copies every second."""
    informer = informer_of(server, clock, detector=MutationDetector(clock))
    server.put("a", size=1)
    run = asyncio.ensure_future(informer.run())
    await clock.advance(5)
    assert not run.done()

    cached = informer.lister.namespace("default").get("a")
    cached.spec.size = 2
    await clock.advance(1)

    with pytest.raises(CacheMutated, match=r"Gadget default/a: spec\.size was 1 and is 2"):
        await run


async def test_an_object_that_came_by_an_update_is_looked_at_too(
    server: Server, clock: FakeClock
) -> None:
    informer = informer_of(server, clock, detector=MutationDetector(clock))
    server.put("a", size=1)
    run = asyncio.ensure_future(informer.run())
    await settle()
    server.put("a", size=2)
    await settle()

    informer.store.objects()[0].spec.size = 3
    await clock.advance(1)

    with pytest.raises(CacheMutated, match=r"spec\.size was 2 and is 3"):
        await run


async def test_the_detector_forgets_after_some_minutes(clock: FakeClock) -> None:
    detector = MutationDetector(clock)
    obj = gadget("a")
    detector.add(obj)
    for _ in range(3):
        await clock.advance(121)
        detector.check()

    obj.spec.size = 5

    detector.check()
