"""Time slices: tasks that work through many items take turns, and the others hardly wait."""

import asyncio
import time

from apiserver.time_slices import SLICE_SECONDS, LoopTurns, TimeSlices


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
