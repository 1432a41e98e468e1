"""Forgetting history after a while, and not before."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from apiserver.storage.compaction import Compactor
from apiserver.storage.interface import Backend, Compacted, Unavailable
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.cache.cached import HandClock, Switchboard

KEY = "/registry/core/pods/default/a"


@pytest.fixture
async def store() -> AsyncIterator[Switchboard]:
    backend = await open_sqlite("sqlite://:memory:")
    yield Switchboard(backend)
    await backend.close()


async def write(store: Backend) -> int:
    """Change the one key there is; the revision of that."""
    record = await store.get(KEY)
    if record is None:
        return await store.create(KEY, b"0")
    return await store.update(KEY, record.value + b"0", revision=record.revision)


async def is_known(store: Backend, revision: int) -> bool:
    try:
        await store.range("/", revision=revision)
    except Compacted:
        return False
    return True


async def test_history_is_kept_for_an_interval(store: Switchboard) -> None:
    compactor = Compactor(store)
    old = await write(store)
    newer = await write(store)

    await compactor.tick()
    at_first = await is_known(store, old)
    newest = await write(store)
    await compactor.tick()

    assert at_first
    assert not await is_known(store, old)
    assert await is_known(store, newer)
    assert await is_known(store, newest)


async def test_a_quiet_store_is_left_alone(store: Switchboard) -> None:
    calls: list[int] = []

    async def compact(revision: int) -> None:
        calls.append(revision)

    store.compact = compact  # type: ignore[attr-defined]
    compactor = Compactor(store)
    written = await write(store)

    for _ in range(5):
        await compactor.tick()

    assert calls == [written]


async def test_servers_do_not_fight(store: Switchboard) -> None:
    one, other = Compactor(store), Compactor(store)
    old = await write(store)
    await one.tick()
    await write(store)
    await other.tick()
    newest = await write(store)

    await one.tick()
    await other.tick()
    await one.tick()

    assert not await is_known(store, old)
    assert await is_known(store, newest)
    assert await store.get(KEY) is not None


async def test_a_store_that_cannot_be_reached_is_tried_again(
    store: Switchboard, caplog: pytest.LogCaptureFixture
) -> None:
    compactor = Compactor(store)
    old = await write(store)
    await write(store)
    await compactor.tick()

    store.failure = Unavailable("gone")
    await compactor.tick()
    store.failure = None
    still_known = await is_known(store, old)
    await compactor.tick()

    assert still_known
    assert "failed to compact the store: gone" in caplog.text
    assert not await is_known(store, old)


async def test_a_store_that_begins_again_is_followed(store: Switchboard) -> None:
    """As after it was put back from a backup."""
    compactor = Compactor(store)
    old = await write(store)
    newer = await write(store)

    async def far_ahead() -> int:
        return 1000

    store.current_revision = far_ahead  # type: ignore[method-assign]
    await compactor.tick()
    del store.current_revision
    await compactor.tick()
    known = await is_known(store, old)
    await compactor.tick()

    assert known
    assert not await is_known(store, old)
    assert await is_known(store, newer)


async def test_what_was_compacted_before_a_backup_came_back_does_not_count(
    store: Switchboard,
) -> None:
    revisions = iter([10, 20, 4, 6, 8])
    compacted: list[int] = []

    async def current() -> int:
        return next(revisions)

    async def compact(revision: int) -> None:
        compacted.append(revision)

    store.current_revision = current  # type: ignore[method-assign]
    store.compact = compact  # type: ignore[attr-defined]
    compactor = Compactor(store)

    for _ in range(5):
        await compactor.tick()

    assert compacted == [10, 6]


@asynccontextmanager
async def running(compactor: Compactor) -> AsyncIterator[None]:
    task = asyncio.create_task(compactor.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_runs_every_five_minutes(store: Switchboard) -> None:
    clock = HandClock()
    ticks: list[float] = []

    class Noticing(Compactor):
        async def tick(self) -> None:
            ticks.append(clock.now())

    async with running(Noticing(store, clock=clock)):
        await clock.advance(900)

    assert ticks == [0, 300, 600, 900]


def test_an_interval_is_positive(store: Switchboard) -> None:
    with pytest.raises(ValueError, match="interval 0: must be a positive"):
        Compactor(store, interval=0)
