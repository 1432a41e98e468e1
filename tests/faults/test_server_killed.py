"""All processes die at once, as in a power cut: the next start finds all that was promised."""

import asyncio
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


def identity(server: Server) -> dict[str, bytes]:
    """What clients know the server by."""
    files = sorted(server.data_dir.iterdir())
    return {file.name: file.read_bytes() for file in files if "store" not in file.name}


async def kill_servers(folder: Path, *, rounds: int) -> None:
    with serving(folder, workers=2) as server:
        address, ledger, known = Address.of(server), Ledger(), identity(server)
        writers = [Writer(address, ledger, f"writer{number}") for number in range(4)]
        followers = [Follower(address) for _ in range(4)]
        async with running(*writers, *followers):
            for _ in range(rounds):
                await ledger.grow(100)
                await until(lambda: all(follower.watching for follower in followers))
                server.kill()
                await asyncio.to_thread(server.start)
                assert identity(server) == known
            await ledger.grow(100)
        items = await settled(server, followers)

        assert not ledger.refused
        assert all(follower.broken >= rounds for follower in followers)
        for follower in followers:
            assert list(differences(ledger, follower)) == []
        assert list(lost(ledger, items)) == []
        record_load("all processes of a server are killed", ledger, followers, rounds=rounds)


async def test_a_killed_server_has_lost_nothing_after_its_restart(tmp_path: Path) -> None:
    await kill_servers(tmp_path, rounds=1)


@pytest.mark.torture
async def test_killing_the_server_over_and_over(tmp_path: Path) -> None:
    await kill_servers(tmp_path, rounds=30)
