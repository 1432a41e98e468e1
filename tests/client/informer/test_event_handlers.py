"""Handlers that misbehave: they raise, are slow, or block."""

import asyncio
import logging
import threading

import pytest

from client.informer import HandlerFunctions
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.informers import Notes, informer_of
from tests.client.informer.server import Gadget, Server


async def test_a_handler_that_raises_is_logged_counted_and_gets_the_next_one_a_second_later(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    informer = informer_of(server, clock)
    told: list[str] = []

    def moody(obj: Gadget) -> None:
        if obj.metadata.name == "bad":
            raise ValueError("not this one")
        told.append(obj.metadata.name)

    registration = informer.add_handler(HandlerFunctions(add=moody))
    other = Notes()
    informer.add_handler(other)
    server.put("bad")
    server.put("good")
    background(informer.run())
    await settle()
    assert (told, registration.failures) == ([], 1)
    assert len(other.told) == 2
    await clock.advance(0.9)
    assert told == []

    await clock.advance(0.1)

    assert told == ["good"]
    assert registration.has_synced
    assert "handler failed" in caplog.text


async def test_a_slow_handler_delays_nobody_else_and_is_named_at_high_water(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """What waits for a handler is not bounded; the log says when it is much."""
    informer = informer_of(server, clock, high_water=10)

    async def stuck(obj: Gadget) -> None:
        await asyncio.Event().wait()

    registration = informer.add_handler(HandlerFunctions(add=stuck))
    quick = Notes()
    informer.add_handler(quick)
    for number in range(30):
        server.put(f"first-{number}")
    background(informer.run())
    await settle()
    assert "notifications are pending" not in caplog.text, "a first list comes all at once"

    with caplog.at_level(logging.WARNING):
        for number in range(45):
            server.put(f"later-{number}")
            await settle()

    assert len(quick.told) == 75
    assert registration.pending == 74
    warnings = [
        r.getMessage() for r in caplog.records if "notifications are pending" in r.getMessage()
    ]
    assert len(warnings) == 3, "at 10, 20 and 40 beyond the first list"
    assert all("stuck" in warning for warning in warnings)


async def test_a_handler_that_holds_up_the_event_loop_is_named(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    informer = informer_of(server, clock)

    def slow(obj: Gadget) -> None:
        clock._now += 0.2

    informer.on_add(slow)
    server.put("a")
    background(informer.run())
    with caplog.at_level(logging.WARNING):
        await settle()

    assert "blocked the event loop for 0.200s" in caplog.text


async def test_a_threaded_handler_does_not_run_on_the_event_loop(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    threads: list[int] = []
    names: list[str] = []

    def blocking(obj: Gadget) -> None:
        threads.append(threading.get_ident())
        names.append(obj.metadata.name)

    registration = informer.add_handler(HandlerFunctions(add=blocking), threaded=True)
    server.put("a")
    server.put("b")
    background(informer.run())

    await asyncio.wait_for(registration.wait_synced(), 10)

    assert names == ["a", "b"]
    assert threading.get_ident() not in threads


async def test_a_handler_whose_own_task_was_cancelled_hears_of_the_next_change(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    told: list[str] = []

    async def unlucky(obj: Gadget) -> None:
        told.append(obj.metadata.name)
        if obj.metadata.name == "a":
            task = asyncio.ensure_future(asyncio.Event().wait())
            asyncio.get_running_loop().call_soon(task.cancel)
            await task

    registration = informer.add_handler(HandlerFunctions(add=unlucky))
    server.put("a")
    server.put("b")
    background(informer.run())
    await clock.advance(2)

    assert told == ["a", "b"]
    assert registration.failures == 1
