"""Handlers that come, go, and hear of the first list."""

import asyncio

import pytest

from client.informer import HandlerFunctions, InformerStopped
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.informers import Notes, informer_of
from tests.client.informer.server import Gadget, Server


async def test_a_late_handler_is_told_of_what_is_there_and_then_joins(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Synthetic additions as in the first list; those who were there are not told again."""
    informer = informer_of(server, clock)
    early, late = Notes(), Notes()
    informer.add_handler(early)
    background(informer.run())
    server.put("a")
    await settle()
    server.put("b")
    await settle()

    registration = informer.add_handler(late)
    server.put("c")
    assert not registration.has_synced
    await settle()

    assert late.told == ["+ add a@101", "+ add b@102", "add c@103"]
    assert early.told == ["+ add a@101", "add b@102", "add c@103"]
    assert registration.has_synced


async def test_no_handler_can_join_an_informer_that_has_stopped(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    run = background(informer.run())
    await settle()
    informer.stop()
    await run

    with pytest.raises(InformerStopped, match="was stopped"):
        informer.add_handler(Notes())


async def test_a_registration_is_synced_when_its_handler_heard_of_the_first_list(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The informer is synced earlier, when the list is in the cache."""
    server.put("a")
    server.put("b")
    informer = informer_of(server, clock)
    gate = asyncio.Event()

    async def slow(obj: Gadget) -> None:
        await gate.wait()

    registration = informer.add_handler(HandlerFunctions(add=slow))
    quick = informer.add_handler(Notes())
    background(informer.run())
    assert not informer.has_synced
    waiting = background(registration.wait_synced())

    await informer.wait_synced()
    await quick.wait_synced()
    assert (informer.has_synced, registration.has_synced) == (True, False)
    assert not waiting.done()

    gate.set()
    await waiting
    assert registration.has_synced


async def test_an_empty_collection_is_synced_too(
    server: Server, clock: FakeClock, background: Background
) -> None:
    for in_order in (True, False):
        informer = informer_of(server, clock, in_order=in_order)
        registration = informer.add_handler(Notes())
        background(informer.run())

        await asyncio.wait_for(registration.wait_synced(), 5)


async def test_a_removed_handler_hears_nothing_more(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Asynchronous and idempotent; a separate call waits until it is not running any more."""
    informer = informer_of(server, clock)
    gate, told = asyncio.Event(), list[str]()

    async def slow(obj: Gadget) -> None:
        told.append(obj.metadata.name)
        await gate.wait()

    registration = informer.add_handler(HandlerFunctions(add=slow))
    background(informer.run())
    await settle()
    server.put("a")
    server.put("b")
    await settle()

    registration.remove()
    registration.remove()
    waiting = background(registration.wait_removed())
    await settle()
    assert not waiting.done()
    gate.set()
    await waiting
    server.put("c")
    await settle()

    assert told == ["a"]


async def test_a_handler_removed_before_the_start_is_never_called(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    notes = Notes()
    registration = informer.add_handler(notes)
    registration.remove()
    await registration.wait_removed()
    server.put("a")
    background(informer.run())
    await settle()

    assert notes.told == []
