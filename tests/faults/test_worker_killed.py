"""A worker dies in the middle of its work: what it did is kept, and the others do the rest."""

import os
import signal
from pathlib import Path

import pytest

from tests.faults.load import (
    Follower,
    Ledger,
    Writer,
    differences,
    lost,
    record_load,
    running,
    settled,
    until,
)
from tests.servers import Server, serving
from tests.wire import Address

WORKERS = 3


async def kill_workers(folder: Path, *, rounds: int) -> None:
    with serving(folder, workers=WORKERS) as server:
        await until(lambda: len(server.workers()) == WORKERS)
        await _kill_workers(server, rounds)


async def _kill_workers(server: Server, rounds: int) -> None:
    address, ledger = Address.of(server), Ledger()
    writers = [Writer(address, ledger, f"writer{number}") for number in range(4)]
    followers = [Follower(address) for _ in range(6)]
    async with running(*writers, *followers):
        for _ in range(rounds):
            # One after the other, because all connections may have come to the same worker.
            for victim in server.workers():
                await ledger.grow(100)
                await until(lambda: all(follower.watching for follower in followers))
                os.kill(victim, signal.SIGKILL)
                # The others go on, whether or not the dead one has a successor.
                await ledger.grow(50)
                await _replaced(server, victim)
    items = await settled(server, followers)

    assert not ledger.refused
    # Otherwise no one of them has ever lost its worker, and the test has shown nothing.
    assert ledger.broken + sum(follower.broken for follower in followers) >= rounds
    assert [follower.listed for follower in followers] == [1] * len(followers)
    for follower in followers:
        assert list(differences(ledger, follower)) == []
    assert list(lost(ledger, items)) == []
    record_load("each of three workers is killed", ledger, followers, rounds=rounds)


async def _replaced(server: Server, victim: int) -> None:
    await until(lambda: victim not in server.workers() and len(server.workers()) == WORKERS)


async def test_a_killed_worker_loses_no_write_and_no_event(tmp_path: Path) -> None:
    await kill_workers(tmp_path, rounds=1)


@pytest.mark.torture
async def test_killing_workers_over_and_over(tmp_path: Path) -> None:
    await kill_workers(tmp_path, rounds=20)
