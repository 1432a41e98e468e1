"""etcd goes away for a while, dead or silent: clear errors meanwhile, and then on as before."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.apiserver.storage.etcd.etcd_server import Cluster, Node, start_cluster
from tests.faults.load import (
    CONFIG_MAPS,
    Follower,
    Ledger,
    Writer,
    differences,
    lost,
    running,
    settled,
    until,
)
from tests.servers import Answer, Server, serving
from tests.wire import Address

TIMEOUT = 1
"""Seconds for one attempt to reach etcd; there are several."""
LONGEST = 3 * TIMEOUT + 5
"""Seconds after which even a server without its store must have answered."""


class Dead:
    """A process that is gone; whoever connects is refused."""

    leave = staticmethod(Node.kill)
    come_back = staticmethod(Node.start)


class Silent:
    """A process that is stopped; whoever asks waits."""

    leave = staticmethod(Node.pause)
    come_back = staticmethod(Node.resume)


def storage(cluster: Cluster) -> str:
    return f"etcd://{cluster.hosts}?timeout={TIMEOUT}"


def is_ready(server: Server) -> bool:
    return server.request("GET", "/readyz").code == 200


def timed(ask: Callable[[], Answer]) -> Answer:
    began = time.monotonic()
    answer = ask()
    assert time.monotonic() - began < LONGEST
    return answer


def assert_try_again(answer: Answer) -> None:
    """An error that says what is wrong and that it may pass."""
    status = answer.json
    assert status["kind"] == "Status", answer.body
    assert status["reason"] in ("ServerTimeout", "Timeout", "ServiceUnavailable"), answer.body
    assert answer.code in (500, 503, 504), answer.body
    assert int(answer.headers["retry-after"]) == status["details"]["retryAfterSeconds"] > 0


@pytest.mark.parametrize("fault", [Dead, Silent])
async def test_etcd_may_go_away_and_come_back(
    tmp_path: Path, fault: type[Dead] | type[Silent]
) -> None:
    with (
        start_cluster(tmp_path / "etcd", size=1) as cluster,
        serving(tmp_path / "server", storage=storage(cluster), workers=2) as server,
    ):
        (node,) = cluster.nodes
        address, ledger = Address.of(server), Ledger()
        writers = [Writer(address, ledger, f"writer{number}") for number in range(3)]
        followers = [Follower(address) for _ in range(4)]
        async with running(*writers, *followers):
            await ledger.grow(100)

            fault.leave(node)
            while await asyncio.to_thread(is_ready, server):
                pass
            refusals = [
                await asyncio.to_thread(timed, lambda: server.request("GET", CONFIG_MAPS)),
                await asyncio.to_thread(
                    timed, lambda: server.request("POST", CONFIG_MAPS, {"metadata": {"name": "x"}})
                ),
            ]
            ready = await asyncio.to_thread(server.request, "GET", "/readyz?verbose")
            alive = await asyncio.to_thread(server.request, "GET", "/version")
            fault.come_back(node)
            while not await asyncio.to_thread(is_ready, server):
                pass
            await ledger.grow(100)
        items = await settled(server, followers)

        for answer in refusals:
            assert_try_again(answer)
        assert "[-]storage failed: reason withheld" in ready.body.decode()
        assert alive.code == 200
        assert all(answer.json["kind"] == "Status" for answer in ledger.refused)
        assert {answer.code for answer in ledger.refused} <= {500, 503, 504}
        for follower in followers:
            assert list(differences(ledger, follower)) == []
        assert list(lost(ledger, items)) == []
        assert "Traceback" not in server.log


async def test_a_worker_that_dies_meanwhile_is_replaced_when_etcd_is_back(tmp_path: Path) -> None:
    """The one that is left serves what it can, and is not ended with the others."""
    with (
        start_cluster(tmp_path / "etcd", size=1) as cluster,
        serving(tmp_path / "server", storage=storage(cluster)) as server,
    ):
        (node,) = cluster.nodes
        (worker,) = server.workers()
        node.kill()
        os.kill(worker, signal.SIGKILL)
        await until(lambda: "exited with code 1" in server.log)
        assert server.running

        node.start()
        await until(lambda: serves(server))

    assert "Traceback" not in server.log


def serves(server: Server) -> bool:
    try:
        return is_ready(server)
    except OSError:
        return False
