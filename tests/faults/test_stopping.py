"""The ends that an operator means: a stop and a reload lose nothing that was under way."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.faults.load import (
    CONFIG_MAPS,
    PATIENCE,
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
from tests.wire import Address, Broken, connected

HEAD = (
    f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
    "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)


async def test_a_stop_answers_what_has_begun_and_ends_watches_whole(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        address, body = Address.of(server), b'{"metadata":{"name":"begun"}}'
        async with connected(address) as writing, connected(address) as watching:
            await watching.send("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=1")
            assert (await watching.head())[0] == 200
            await writing.write((HEAD % (server.token, len(body))).encode() + body[:10])
            # An answer on another connection shows that the worker has read what came before.
            await asyncio.to_thread(server.request, "GET", "/version")
            assert server.process is not None

            server.process.send_signal(signal.SIGTERM)
            # Its end is the end of the watch, while the request that has begun is waited for.
            ended = [line async for line in watching.lines()]
            await writing.write(body[10:])
            code, headers = await writing.head()
            await writing.rest(headers)

            assert (code, headers["connection"]) == (201, "close")
            assert all(b'"ADDED"' in line for line in ended)
            assert await asyncio.to_thread(server.process.wait, PATIENCE) == 0
            with pytest.raises(Broken):
                async with connected(address):
                    pass
    assert "Traceback" not in server.log


async def reload_servers(folder: Path, *, rounds: int) -> int:
    """Reload under load; return how many connections were lost without an answer.

    Nothing that was acknowledged may be missing, and no follower may lose or repeat an event.
    """
    with serving(folder, workers=2) as server:
        address, ledger = Address.of(server), Ledger()
        writers = [Writer(address, ledger, f"writer{number}") for number in range(4)]
        followers = [Follower(address) for _ in range(4)]
        async with running(*writers, *followers):
            for _ in range(rounds):
                await ledger.grow(100)
                await _reload(server)
            await until(lambda: all(follower.watching for follower in followers))
        items = await settled(server, followers)

        assert ledger.refused == []
        assert all(follower.ended >= rounds for follower in followers)
        for follower in followers:
            assert list(differences(ledger, follower)) == []
        assert list(lost(ledger, items)) == []
        assert "Traceback" not in server.log
        record_load("a server is reloaded", ledger, followers, rounds=rounds)
        return ledger.broken + sum(follower.broken for follower in followers)


async def _reload(server: Server) -> None:
    old = set(server.workers())
    assert server.process is not None
    server.process.send_signal(signal.SIGHUP)
    await until(lambda: not old & set(server.workers()))


async def test_a_reload_loses_no_request_and_no_event(tmp_path: Path) -> None:
    assert await reload_servers(tmp_path, rounds=2) == 0


@pytest.mark.torture
async def test_reloading_over_and_over(tmp_path: Path) -> None:
    assert await reload_servers(tmp_path, rounds=30) == 0
