"""Many watchers are resumed in groups, and whoever else uses the event loop runs in between."""

import asyncio

from apiserver.storage.cache.waking import AT_ONCE, WakeTurns


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
