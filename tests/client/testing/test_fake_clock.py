"""A clock that only the test moves."""

import asyncio
from datetime import timedelta

import pytest

from client.testing import fake_clock as module
from client.testing.fake_clock import FakeClock, StillBusy


async def test_sleepers_wake_at_their_moments_in_order(clock: FakeClock) -> None:
    woken: list[tuple[str, float]] = []

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as tasks:
        for name, seconds in (("c", 3.0), ("a", 1.0), ("b", 2.0), ("now", 0.0)):
            tasks.create_task(sleep(name, seconds))
        await clock.advance(2)
        assert woken == [("now", 0.0), ("a", 1.0), ("b", 2.0)]
        await clock.advance(timedelta(minutes=1))

    assert woken[-1] == ("c", 3.0)
    assert clock.monotonic() == 62.0
    assert clock.slept == [3.0, 1.0, 2.0, 0.0]


async def test_the_time_of_day_moves_with_it(clock: FakeClock) -> None:
    before = clock.now()
    await clock.advance(3600)

    assert clock.now() - before == timedelta(hours=1)


async def test_who_sleeps_again_is_woken_again(clock: FakeClock) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await clock.sleep(1)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await clock.advance(10)
    ticking.cancel()

    assert ticks == 10


async def test_a_step_goes_to_the_next_sleeper(clock: FakeClock) -> None:
    assert await clock.step() == 0
    cancelled = asyncio.create_task(clock.sleep(1))
    sleeping = asyncio.create_task(clock.sleep(5))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)

    assert await clock.step() == 5
    assert sleeping.done()


async def test_no_time_passes_while_something_is_busy(clock: FakeClock) -> None:
    busy = True
    clock.busy_while(lambda: busy)
    sleeping = asyncio.create_task(clock.sleep(1))
    advancing = asyncio.create_task(clock.advance(1))
    await asyncio.sleep(0.01)
    assert not sleeping.done()

    busy = False
    await advancing
    assert sleeping.done()


async def test_what_is_busy_for_ever_is_an_error(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    clock.busy_while(lambda: True)

    with pytest.raises(StillBusy):
        await clock.advance(1)
