"""Many watchers are resumed in groups, and whoever else uses the event loop runs in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apiserver.storage.cache.waking import AT_ONCE, FEW, TICK_SECONDS, Waiters, WakeTurns


def waiters(count: int) -> list[asyncio.Future[None]]:
    loop = asyncio.get_running_loop()
    return [loop.create_future() for _ in range(count)]


async def test_a_small_group_is_resumed_at_once() -> None:
    turns, group = WakeTurns(), waiters(AT_ONCE)

    for waiter in group:
        turns.resume(waiter)

    assert all(waiter.done() for waiter in group)


async def test_a_large_group_is_resumed_in_turns() -> None:
    turns, group = WakeTurns(), waiters(3 * AT_ONCE + 5)
    seen = []

    for waiter in group:
        turns.resume(waiter)
    while not group[-1].done():
        seen.append(sum(waiter.done() for waiter in group))
        await asyncio.sleep(0)

    assert sorted(set(seen)) == [AT_ONCE, 2 * AT_ONCE, 3 * AT_ONCE]
    assert all(waiter.done() for waiter in group)


async def test_who_comes_later_is_resumed_later() -> None:
    turns, group = WakeTurns(), waiters(AT_ONCE + 1)
    order: list[int] = []
    for number, waiter in enumerate(group):
        waiter.add_done_callback(lambda _, number=number: order.append(number))  # type: ignore[misc]

    for waiter in group[:AT_ONCE]:
        turns.resume(waiter)
    turns.resume(group[-1])

    assert not group[-1].done()
    await asyncio.wait_for(group[-1], 10)
    assert order == sorted(order)


async def test_waiters_that_are_gone_take_no_turn() -> None:
    turns, group = WakeTurns(), waiters(4 * AT_ONCE)

    for waiter in group:
        turns.resume(waiter)
    for waiter in group[AT_ONCE:-1]:
        waiter.cancel()
    await asyncio.wait_for(group[-1], 10)
    (late,) = waiters(1)
    turns.resume(late)

    await asyncio.wait_for(late, 10)


class Group:
    """The watchers of one log, and how often one of them was resumed."""

    def __init__(self, size: int) -> None:
        self.now = 100.0
        self.resumed = 0
        self.waiters = Waiters(WakeTurns(lambda: self.now))
        self._tasks = [asyncio.create_task(self._watch(number)) for number in range(size)]

    async def _watch(self, number: int) -> None:
        while True:
            await self.waiters.wait(number)
            self.resumed += 1

    async def publish(self) -> int:
        """Publish an event; return how many watchers are resumed for it at once."""
        before = self.resumed
        self.waiters.resume_all()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return self.resumed - before

    async def settle(self, resumed: int) -> None:
        """Let time pass on the clock of the event loop until so many have been resumed."""
        async with asyncio.timeout(10):
            while self.resumed < resumed:
                self.now += TICK_SECONDS
                await asyncio.sleep(0.001)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def group_of(size: int) -> AsyncIterator[Group]:
    group = Group(size)
    await asyncio.sleep(0)
    yield group
    await group.close()


async def test_few_watchers_are_resumed_for_every_event() -> None:
    async with group_of(FEW) as group:
        assert [await group.publish() for _ in range(5)] == [FEW] * 5


async def test_an_event_after_a_pause_is_delivered_at_once_however_many_watch() -> None:
    async with group_of(FEW + 1) as group:
        for _ in range(5):
            assert await group.publish() == FEW + 1
            group.now += TICK_SECONDS


async def test_events_in_quick_succession_are_delivered_once_in_a_tick() -> None:
    """The first is not delayed, and all that come within a tick are one batch."""
    async with group_of(FEW + 1) as group:
        assert [await group.publish() for _ in range(10)] == [FEW + 1] + [0] * 9

        await group.settle(2 * (FEW + 1))

        assert group.resumed == 2 * (FEW + 1)


async def test_one_watcher_can_be_resumed_alone_at_any_time() -> None:
    async with group_of(FEW + 1) as group:
        await group.publish()
        await group.publish()

        group.waiters.resume(3)
        await asyncio.sleep(0)

        assert group.resumed == FEW + 2


async def test_a_watcher_that_is_gone_does_not_wait() -> None:
    async with group_of(3) as group:
        assert len(group.waiters) == 3

        await group.close()

        assert len(group.waiters) == 0
