"""Deadlines cancel what is late, and nothing else; as `asyncio.timeout` would."""

import asyncio
from typing import Any

import pytest

from apiserver.http.deadlines import Deadlines


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


async def late(deadlines: Deadlines, seconds: float) -> bool:
    """Wait forever; return whether it was the deadline that ended it."""
    deadline = deadlines.begin(seconds)
    try:
        await forever()
    except asyncio.CancelledError:
        if deadline.end():
            return True
        raise
    return False


async def test_each_task_is_cancelled_at_its_own_deadline() -> None:
    deadlines = Deadlines()
    order: list[float] = []

    async def one(seconds: float) -> None:
        assert await late(deadlines, seconds)
        order.append(seconds)

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for seconds in (0.03, 0.01, 0.04, 0.02, 0.01):
            tasks.create_task(one(seconds))

    assert order == sorted(order)
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_a_deadline_that_has_ended_cancels_nothing() -> None:
    deadlines = Deadlines()
    ended = deadlines.begin(0.0)
    assert not ended.end()

    async with asyncio.timeout(5):
        assert await late(deadlines, 0.01)


async def test_a_deadline_that_is_postponed_expires_later() -> None:
    deadlines = Deadlines()
    first = deadlines.begin(0.0)
    first.postpone(5.0)

    async with asyncio.timeout(5):
        assert await late(deadlines, 0.01)

    assert not first.end()


async def test_a_task_that_is_cancelled_otherwise_is_not_late() -> None:
    task = asyncio.create_task(late(Deadlines(), 5.0))
    await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_outer_of_two_deadlines_ends_both() -> None:
    outer, inner = Deadlines(), Deadlines()
    first = outer.begin(0.01)

    with pytest.raises(asyncio.CancelledError):
        await late(inner, 5.0)

    assert first.end()


async def test_an_expired_deadline_is_not_counted_twice() -> None:
    outer, inner = Deadlines(), Deadlines()
    first, second = outer.begin(5.0), inner.begin(5.0)
    first.expire()
    second.expire()
    second.expire()

    with pytest.raises(asyncio.CancelledError):
        await forever()

    assert (second.end(), first.end(), first.end()) == (False, True, False)


async def test_deadlines_far_away_share_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines, loop = Deadlines(), asyncio.get_running_loop()
    timers: list[float] = []
    call_at = loop.call_at

    def counted(at: float, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        timers.append(at)
        return call_at(at, *rest, **more)

    monkeypatch.setattr(loop, "call_at", counted)

    for _ in range(100):
        deadlines.begin(60.0).end()

    assert len(timers) == 1
