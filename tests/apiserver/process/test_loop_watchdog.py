"""Pauses of an event loop are measured, and what ran in them is named."""

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from apis.gadgets.install import GADGETS as GADGETS_GROUP
from apis.gadgets.strategy import GadgetStrategy
from apis.gadgets.types import Gadget
from apiserver.http.server_metrics import LONG_PAUSE, ServerMetrics
from apiserver.process.loop_watchdog import (
    GARBAGE_COLLECTION,
    LOG_INTERVAL,
    OTHER_THREAD,
    SERVER,
    LoopPause,
    LoopWatchdog,
    PauseLog,
)
from apiserver.process.stack_sample import StackSample
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import GADGETS, gadget
from tests.pauses import measures_time

pytestmark = measures_time

ATTEMPTS = 20
"""On a machine so busy that the watchdog itself has to wait, it may not see what ran."""
PAUSE = 0.15
"""Seconds; several times what the watchdog must notice, since machines are busy."""


def spin(seconds: float = PAUSE) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def one_long_call() -> None:
    """Keep the interpreter lock in one call into C."""
    began = time.thread_time()
    sum(range(1_000_000))
    sum(range(int(1_000_000 * 2 * PAUSE / (time.thread_time() - began))))


async def pauses(run: Callable[[], Any], *packages: str) -> list[LoopPause]:
    """Return the long pauses of a loop that calls *run*."""
    found: list[LoopPause] = []
    async with LoopWatchdog(found.append, packages=packages):
        await asyncio.sleep(0)
        result = run()
        if result is not None:
            await result
        await asyncio.sleep(0.03)
    return [pause for pause in found if pause.seconds >= LONG_PAUSE]


def longest(found: list[LoopPause]) -> LoopPause:
    return max(found, key=lambda pause: pause.seconds)


async def test_a_pause_is_measured_and_names_what_ran() -> None:
    pause = longest(await pauses(spin))

    assert pause.seconds > PAUSE - 0.03
    assert pause.cpu_seconds > PAUSE / 2
    assert pause.source == SERVER
    assert ".spin:" in pause.sample.frames[-1]


async def test_a_call_that_keeps_the_interpreter_lock_is_named() -> None:
    """The sample is taken when the call returns, or a moment too late on a busy machine."""
    for _ in range(ATTEMPTS):
        pause = longest(await pauses(one_long_call))
        if any(".one_long_call:" in frame for frame in pause.sample.frames):
            break

    assert pause.seconds > PAUSE / 2
    assert any(".one_long_call:" in frame for frame in pause.sample.frames)


async def test_a_pause_in_the_code_of_a_group_names_its_module() -> None:
    pause = longest(await pauses(spin, "tests"))

    assert pause.source == __name__


async def test_another_thread_that_keeps_the_interpreter_lock_is_named() -> None:
    for _ in range(ATTEMPTS):
        found = await pauses(lambda: asyncio.to_thread(one_long_call))
        named = [pause for pause in found if ".one_long_call:" in "".join(pause.sample.frames)]
        if named:
            break

    assert longest(named).source == OTHER_THREAD


async def test_a_pause_of_the_garbage_collector_is_attributed_to_it() -> None:
    def collect() -> None:
        until = time.thread_time() + PAUSE
        while time.thread_time() < until:
            gc.collect()

    found = await pauses(collect)

    assert GARBAGE_COLLECTION in {pause.source for pause in found}


class SlowStrategy(GadgetStrategy):
    def validate(self, *arguments: Any) -> Iterator[Any]:
        spin()
        return iter(())


async def test_a_pause_in_a_request_names_the_request() -> None:
    (resource, *_) = (r for r in GADGETS_GROUP.resources if r.cls is Gadget)
    slow = replace(resource, strategy=SlowStrategy())
    app = make_app(replace(GADGETS_GROUP, resources=(slow,)))
    await app.start()
    client = Driver(app, authorization="Bearer root")
    found: list[LoopPause] = []

    async with LoopWatchdog(found.append, packages=app.group_packages()):
        answer = await client.post(GADGETS, gadget(), audit_id="the-slow-one")
    await app.stop()

    assert answer.code == 201
    assert longest(found).source == __name__
    assert longest(found).sample.request == {
        "request": "the-slow-one",
        "verb": "create",
        "path": GADGETS,
        "user": "root",
    }


def pause_of(seconds: float) -> LoopPause:
    sample = StackSample(("apiserver.x.f:1", "lamps.g:2"), "lamps", {"request": "r1"})
    return LoopPause(seconds, seconds, 0.0, 0.0, sample, StackSample(()))


def test_long_pauses_are_logged_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    pause_log = PauseLog(lambda: now)

    with caplog.at_level(logging.WARNING):
        for seconds in (0.04, 0.2, 0.3, 0.4):
            pause_log.write(pause_of(seconds))
        now = LOG_INTERVAL
        pause_log.write(pause_of(0.5))

    first, second = caplog.records
    assert first.getMessage() == "the event loop paused for 200 ms: lamps"
    assert vars(first)["stack"] == "apiserver.x.f:1 > lamps.g:2"
    assert (vars(first)["request"], vars(second)["unlogged"]) == ("r1", 2)


def test_pauses_are_in_the_metrics() -> None:
    metrics = ServerMetrics()

    for seconds, source in ((0.03, SERVER), (0.2, "lamps"), (0.1, SERVER)):
        metrics.loop_paused(seconds, source)

    text = metrics.render().decode()
    assert "apiserver_event_loop_longest_pause_seconds 0.2" in text
    assert 'apiserver_event_loop_long_pauses_total{source="lamps"} 1.0' in text
    assert 'apiserver_event_loop_long_pauses_total{source="server"} 1.0' in text
    assert "apiserver_event_loop_pause_seconds_count 3.0" in text
