"""PriorityQueue: the most urgent first."""

import asyncio

import pytest

from client.controller import LOW_PRIORITY, PriorityQueue
from tests.client.informer.clock import FakeClock, settle


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(clock: FakeClock) -> PriorityQueue[str]:
    return PriorityQueue("test", clock=clock)


async def taken(queue: PriorityQueue[str]) -> list[tuple[str, int]]:
    return [await queue.get_with_priority() for _ in range(len(queue))]


async def test_the_highest_priority_comes_first_and_within_it_the_first_added(
    queue: PriorityQueue[str],
) -> None:
    for item, priority in (("a", LOW_PRIORITY), ("b", 0), ("c", 10), ("d", 0), ("e", 10)):
        queue.add(item, priority=priority)

    assert await taken(queue) == [("c", 10), ("e", 10), ("b", 0), ("d", 0), ("a", -100)]


async def test_an_item_keeps_the_highest_priority_it_was_added_with(
    queue: PriorityQueue[str],
) -> None:
    queue.add("a", priority=5)
    queue.add("b", priority=3)
    queue.add("a", priority=1)

    assert await taken(queue) == [("a", 5), ("b", 3)]


async def test_an_item_that_is_raised_goes_to_the_end_of_its_new_level(
    queue: PriorityQueue[str],
) -> None:
    queue.add("a", priority=LOW_PRIORITY)
    queue.add("b")
    queue.add("c")

    queue.add("a", priority=0)

    assert await taken(queue) == [("b", 0), ("c", 0), ("a", 0)]


async def test_adding_again_with_the_same_priority_keeps_the_place(
    queue: PriorityQueue[str],
) -> None:
    queue.add("a")
    queue.add("b")
    queue.add("a")

    assert await taken(queue) == [("a", 0), ("b", 0)]


async def test_adding_now_what_is_delayed_makes_it_ready_with_the_higher_priority(
    queue: PriorityQueue[str], clock: FakeClock
) -> None:
    queue.add_after("a", 60, priority=7)

    queue.add("a", priority=1)

    assert await taken(queue) == [("a", 7)]
    await clock.advance(60)
    queue.done("a")
    assert len(queue) == 0


async def test_a_delay_does_not_put_off_what_is_ready(queue: PriorityQueue[str]) -> None:
    queue.add("a")
    queue.add_after("a", 60, priority=9)

    assert await taken(queue) == [("a", 9)]


async def test_items_that_become_ready_are_ordered_by_when_they_did(
    queue: PriorityQueue[str], clock: FakeClock
) -> None:
    queue.add_after("second", 2)
    queue.add_after("first", 1)
    queue.add_after("urgent", 3, priority=1)
    await clock.advance(5)
    queue.add("last")

    assert [item for item, _ in await taken(queue)] == ["urgent", "first", "second", "last"]


async def test_an_item_that_is_worked_on_is_passed_over_and_keeps_its_place(
    queue: PriorityQueue[str],
) -> None:
    queue.add("a", priority=5)
    await queue.get()
    queue.add("a", priority=5)
    queue.add("b", priority=5)
    assert len(queue) == 1

    assert await queue.get() == "b"
    queue.add("c", priority=5)
    queue.done("a")

    assert await taken(queue) == [("a", 5), ("c", 5)]


async def test_the_priority_of_an_item_that_is_worked_on_can_be_raised(
    queue: PriorityQueue[str],
) -> None:
    queue.add("a")
    await queue.get()
    queue.add("a", priority=1)
    queue.add("a", priority=8)
    queue.done("a")

    assert await taken(queue) == [("a", 8)]


async def test_a_delayed_item_that_is_worked_on_when_its_time_comes_waits_for_done(
    queue: PriorityQueue[str], clock: FakeClock
) -> None:
    queue.add("a")
    await queue.get()
    queue.add_after("a", 1)
    worker = asyncio.ensure_future(queue.get())
    await clock.advance(2)
    assert not worker.done()

    queue.done("a")
    await settle()

    assert worker.result() == "a"


async def test_priority_is_kept_when_an_item_is_rate_limited(
    queue: PriorityQueue[str], clock: FakeClock
) -> None:
    """The default limiter counts the failures of each item and has no bucket."""
    for _ in range(200):
        queue.add_rate_limited("a", priority=4)
    for number in range(200):
        queue.add_rate_limited(f"other-{number}")
    await clock.advance(0.006)

    assert len(queue) == 201
    assert await queue.get_with_priority() == ("a", 4)
