"""What every work queue promises; one suite for both of them."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from client.controller import PriorityQueue, Queue, QueueShutDown, WorkQueue
from client.workqueue.rate_limiters import ExponentialFailure
from tests.client.informer.clock import FakeClock, settle

Made: TypeAlias = Queue[str]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=[WorkQueue, PriorityQueue])
def queue(request: pytest.FixtureRequest, clock: FakeClock) -> Made:
    made: Made = request.param("test", rate_limiter=ExponentialFailure(), clock=clock)
    return made


def begun(work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.ensure_future(work)


# Dirty and processing


async def test_items_come_in_the_order_in_which_they_were_added(queue: Made) -> None:
    for item in "abc":
        queue.add(item)

    assert len(queue) == 3
    assert [await queue.get() for _ in range(3)] == ["a", "b", "c"]
    assert len(queue) == 0


async def test_an_item_waits_once_however_often_it_is_added(queue: Made) -> None:
    for item in "aba":
        queue.add(item)

    assert [await queue.get(), await queue.get()] == ["a", "b"]
    assert len(queue) == 0


async def test_an_item_is_never_worked_on_twice_at_once_and_no_change_is_lost(queue: Made) -> None:
    """Added while it is worked on: got again after `done`, once."""
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("a")
    other = begun(queue.get())
    await settle()
    assert not other.done()
    assert len(queue) == 0

    queue.done("a")

    assert await other == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_done_without_a_change_forgets_the_item(queue: Made) -> None:
    queue.add("a")
    queue.done(await queue.get())
    assert len(queue) == 0

    queue.add("a")

    assert await queue.get() == "a"


async def test_get_waits_and_each_item_wakes_one_worker(queue: Made) -> None:
    workers = [begun(queue.get()) for _ in range(3)]
    await settle()

    queue.add("a")
    queue.add("b")
    await settle()

    assert sorted(w.result() for w in workers if w.done()) == ["a", "b"]
    queue.add("c")
    assert sorted([await w for w in workers]) == ["a", "b", "c"]


async def test_what_was_meant_for_a_cancelled_worker_goes_to_another(queue: Made) -> None:
    first, second = begun(queue.get()), begun(queue.get())
    await settle()

    queue.add("a")
    first.cancel()

    assert await second == "a"
    await asyncio.gather(first, return_exceptions=True)


# Delays


async def test_a_delayed_item_comes_when_its_time_has_come(queue: Made, clock: FakeClock) -> None:
    worker = begun(queue.get())
    queue.add_after("a", 5)
    await clock.advance(4.9)
    assert not worker.done()
    assert len(queue) == 0

    await clock.advance(0.1)

    assert worker.result() == "a"


@pytest.mark.parametrize("delay", [0, -1])
async def test_without_a_delay_it_comes_at_once(delay: float, queue: Made) -> None:
    queue.add_after("a", delay)

    assert await queue.get() == "a"


@pytest.mark.parametrize("delays", [(10, 3), (3, 10)])
async def test_of_two_delays_the_earlier_counts(
    delays: tuple[float, float], queue: Made, clock: FakeClock
) -> None:
    for delay in delays:
        queue.add_after("a", delay)
    await clock.advance(3)

    queue.done(await queue.get())
    await clock.advance(20)

    assert len(queue) == 0


async def test_items_become_ready_in_the_order_of_their_times(
    queue: Made, clock: FakeClock
) -> None:
    for item, delay in (("late", 3.0), ("early", 1.0), ("middle", 2.0)):
        queue.add_after(item, delay)
    await clock.advance(2.5)
    queue.add("now")
    await clock.advance(1)

    assert [await queue.get() for _ in range(4)] == ["early", "middle", "now", "late"]


async def test_an_earlier_item_wakes_who_waits_for_a_later_one(
    queue: Made, clock: FakeClock
) -> None:
    worker = begun(queue.get())
    await settle()
    queue.add_after("later", 60)
    await settle()
    queue.add_after("sooner", 1)

    await clock.advance(1)

    assert worker.result() == "sooner"


async def test_the_clock_is_watched_after_the_watching_worker_has_left(
    queue: Made, clock: FakeClock
) -> None:
    workers = [begun(queue.get()) for _ in range(2)]
    await settle()
    queue.add_after("delayed", 5)
    await settle()
    queue.add("now")
    await settle()
    assert [w.result() for w in workers if w.done()] == ["now"]

    await clock.advance(5)

    assert sorted(w.result() for w in workers) == ["delayed", "now"]


async def test_the_clock_is_watched_after_the_watching_worker_was_cancelled(
    queue: Made, clock: FakeClock
) -> None:
    first, second = begun(queue.get()), begun(queue.get())
    await settle()
    queue.add_after("a", 5)
    await settle()

    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await clock.advance(5)

    assert second.result() == "a"


async def test_a_heartbeat_guards_against_lost_timers(queue: Made, clock: FakeClock) -> None:
    worker = begun(queue.get())
    await settle()
    queue.add_after("a", 3600)
    await settle()

    assert max(clock.slept) == 10
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


# Rate limits


async def test_a_rate_limited_item_waits_longer_each_time(queue: Made, clock: FakeClock) -> None:
    for wait in (0.005, 0.01, 0.02):
        queue.add_rate_limited("a")
        await clock.advance(wait * 0.9)
        assert len(queue) == 0
        await clock.advance(wait * 0.1 + 1e-9)
        queue.done(await queue.get())

    assert queue.num_requeues("a") == 3


async def test_forget_resets_the_limiter_and_nothing_else(queue: Made, clock: FakeClock) -> None:
    """`done` is still owed."""
    queue.add_rate_limited("a")
    await clock.advance(1)
    await queue.get()

    queue.forget("a")
    queue.add("a")

    assert queue.num_requeues("a") == 0
    assert len(queue) == 0
    queue.done("a")
    assert len(queue) == 1


# Shutting down


async def test_what_is_queued_can_be_got_after_shutting_down_and_then_no_more(
    queue: Made, clock: FakeClock
) -> None:
    queue.add("a")
    queue.add_after("delayed", 1)
    queue.shut_down()
    queue.add("b")
    queue.add_after("c", 0)
    queue.add_rate_limited("d")
    await clock.advance(10)

    assert queue.shutting_down
    assert await queue.get() == "a"
    with pytest.raises(QueueShutDown, match="'test'"):
        await queue.get()


async def test_shutting_down_wakes_everybody(queue: Made) -> None:
    workers = [begun(queue.get()) for _ in range(3)]
    await settle()

    queue.shut_down()

    outcomes = await asyncio.gather(*workers, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [QueueShutDown] * 3


async def test_a_change_during_the_last_work_is_still_worked_on(queue: Made) -> None:
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.shut_down()

    queue.done("a")

    assert await queue.get() == "a"


async def test_draining_waits_for_what_is_worked_on(queue: Made) -> None:
    queue.add("a")
    queue.add("b")
    await queue.get()
    await queue.get()
    draining = begun(queue.shut_down_with_drain())
    await settle()

    queue.done("a")
    await settle()
    assert not draining.done()
    queue.done("b")
    await settle()

    assert draining.done()
    with pytest.raises(QueueShutDown):
        await queue.get()


async def test_draining_does_not_wait_for_what_is_delayed(queue: Made) -> None:
    queue.add("a")
    await queue.get()
    queue.add_after("a", 60)
    queue.add_after("b", 60)
    draining = begun(queue.shut_down_with_drain())
    await settle()

    queue.done("a")
    await settle()

    assert draining.done()


async def test_shutting_down_ends_the_wait_for_draining(queue: Made) -> None:
    queue.add("a")
    await queue.get()
    draining = begun(queue.shut_down_with_drain())
    await settle()
    assert not draining.done()

    queue.shut_down()
    await settle()

    assert draining.done()


async def test_draining_an_idle_queue_ends_at_once(queue: Made) -> None:
    await asyncio.wait_for(queue.shut_down_with_drain(), 5)


# All of it


@pytest.mark.parametrize("seed", range(5))
async def test_every_last_change_of_every_item_is_worked_on(
    seed: int, queue: Made, clock: FakeClock
) -> None:
    """Random adds, delays, failures and slow workers: no item is worked on twice at once, and each
    is seen in its last state."""
    luck = random.Random(seed)
    state: dict[str, int] = {}
    seen: dict[str, int] = {}
    busy: set[str] = set()

    async def work() -> None:
        while True:
            try:
                item = await queue.get()
            except QueueShutDown:
                return
            assert item not in busy
            busy.add(item)
            seen[item] = state[item]
            for _ in range(luck.randrange(4)):
                await asyncio.sleep(0)
            busy.remove(item)
            if luck.random() < 0.2:
                queue.add_rate_limited(item, priority=luck.randrange(3))
            else:
                queue.forget(item)
            queue.done(item)

    workers = [begun(work()) for _ in range(4)]
    adds: list[Callable[[str], None]] = [
        queue.add,
        lambda item: queue.add_after(item, luck.random() * 5),
        lambda item: queue.add(item, priority=luck.randrange(-100, 100)),
    ]
    for number in range(1000):
        item = luck.choice("abcdefgh")
        state[item] = number
        luck.choice(adds)(item)
        if luck.random() < 0.3:
            await clock.advance(luck.random())
    await clock.advance(3600)
    queue.shut_down()
    await asyncio.gather(*workers)

    assert seen == state
