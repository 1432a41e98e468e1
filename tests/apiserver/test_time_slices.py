"""Time slices: tasks that work through many items take turns, and the others hardly wait."""

import asyncio
import time

from apiserver.time_slices import REST_SECONDS, SLICE_SECONDS, LoopTurns, TimeSlices
from tests.pauses import measures_time

pytestmark = measures_time


async def work(until: asyncio.Event) -> int:
    items, slices = 0, TimeSlices()
    while not until.is_set():
        items += 1
        await slices.yield_loop()
    return items


async def test_a_task_that_is_quick_does_not_wait() -> None:
    slices = TimeSlices()

    step = slices.yield_loop()

    try:
        step.send(None)
    except StopIteration:
        return
    raise AssertionError("it has waited")


async def test_in_each_iteration_of_the_loop_one_task_runs() -> None:
    turns, ran = LoopTurns(), []

    async def wait(name: str) -> None:
        for _ in range(3):
            await turns.wait()
            ran.append(name)

    waiting = [asyncio.create_task(wait(name)) for name in "abc"]
    before = 0
    while not all(task.done() for task in waiting):
        await asyncio.sleep(0)
        assert len(ran) - before <= 1
        before = len(ran)

    assert "".join(ran) == "abcabcabc"


async def test_a_cancelled_task_does_not_take_a_turn() -> None:
    turns = LoopTurns()
    first, second = asyncio.create_task(turns.wait()), asyncio.create_task(turns.wait())
    await asyncio.sleep(0)
    first.cancel()

    await asyncio.wait_for(second, 5)

    assert first.cancelled()


async def test_others_wait_for_few_slices_however_many_tasks_work() -> None:
    done = asyncio.Event()
    working = [asyncio.create_task(work(done)) for _ in range(40)]
    await asyncio.sleep(0)  # their first slices

    started = time.thread_time()
    for _ in range(5):
        await asyncio.sleep(0)
    waited = time.thread_time() - started
    done.set()

    assert waited < 15 * SLICE_SECONDS
    assert all(await asyncio.gather(*working))


async def busy(until: asyncio.Event) -> float:
    """A task that always has something to do, a millisecond at a time; returns what it got."""
    used = 0.0
    while not until.is_set():
        started = time.perf_counter()
        while (now := time.perf_counter()) < started + 0.001:
            pass
        used += now - started
        await asyncio.sleep(0)
    return used


async def test_resting_tasks_leave_most_of_the_loop_to_others() -> None:
    turns, done = LoopTurns(REST_SECONDS), asyncio.Event()
    others = asyncio.create_task(busy(done))

    async def slices() -> None:
        for _ in range(5):
            await turns.wait()

    await asyncio.gather(*(slices() for _ in range(3)))
    done.set()

    # Without the first turn, which nobody had to wait for.
    assert await others >= 14 * REST_SECONDS * 0.9


async def test_resting_tasks_do_not_wait_if_nobody_else_needs_the_loop() -> None:
    turns = LoopTurns(REST_SECONDS)

    started = time.perf_counter()
    for _ in range(50):
        await turns.wait()

    assert time.perf_counter() - started < 25 * REST_SECONDS
