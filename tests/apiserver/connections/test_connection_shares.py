"""Workers divide long-lived connections evenly, and none is lost to a worker that ends or hangs."""

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from apiserver.connections.connection_shares import TOLERANCE, ConnectionShare, ConnectionShares
from tests.apiserver.process.test_worker import Running, running

CONNECTIONS = 48


def accepting(shares: ConnectionShares, connections: int) -> ConnectionShare:
    """The share of a worker that accepts connections and has so many."""
    share = shares.assign()
    share.record(connections)
    share.begin()
    return share


def test_the_worker_with_the_fewest_connections_accepts() -> None:
    shares = ConnectionShares()
    few, more = accepting(shares, 3), accepting(shares, 4)

    assert few.is_fair
    assert not more.is_fair

    few.record(4)
    assert more.is_fair


def test_many_connections_need_not_be_divided_exactly() -> None:
    shares = ConnectionShares()
    accepting(shares, 80)
    more = accepting(shares, 80 + 80 // TOLERANCE)

    assert more.is_fair

    more.record(80 + 80 // TOLERANCE + 1)
    assert not more.is_fair


def test_a_worker_that_does_not_accept_has_no_claim() -> None:
    """Whether it starts, stops or has ended."""
    shares = ConnectionShares()
    busy = accepting(shares, 5)
    starting, stopping, ended = shares.assign(), accepting(shares, 0), accepting(shares, 0)
    assert not busy.is_fair

    stopping.end()
    stopping.record(3)
    ended.release()

    assert busy.is_fair
    starting.begin()
    assert not busy.is_fair


def test_the_place_of_a_worker_that_has_ended_is_taken_by_another() -> None:
    shares = ConnectionShares()
    workers = [accepting(shares, 9) for _ in range(3)]

    for _ in range(5000):
        workers.pop(0).release()
        workers.append(accepting(shares, 9))

    assert all(worker.is_fair for worker in workers)
    workers[0].record(10)
    workers[0].record(20)
    assert not workers[0].is_fair


def test_a_worker_that_does_not_come_is_passed_over_until_it_shows_life() -> None:
    shares = ConnectionShares()
    hung, busy = accepting(shares, 0), accepting(shares, 5)
    assert not busy.is_fair

    busy.pass_over()
    assert busy.is_fair

    hung.show_life()
    assert not busy.is_fair


def test_who_is_passed_over_is_only_who_should_have_come() -> None:
    shares = ConnectionShares()
    accepting(shares, 0)
    busy, like_me = accepting(shares, 5), accepting(shares, 5)

    busy.pass_over()
    like_me.record(4)

    assert not busy.is_fair


def connect(server: Running, count: int) -> list[int]:
    """Open connections that stay open; return the process that serves each of them."""
    served = []
    for _ in range(count):
        connection = server.connect()
        connection.request("GET", "/")
        served.append(json.loads(connection.getresponse().read())["pid"])
    return served


def disconnect(server: Running) -> None:
    while server.opened:
        server.opened.pop().close()


def until_serving(server: Running, workers: int) -> list[int]:
    """Return the processes of all workers as soon as each has served a connection."""
    seen: set[int] = set()

    def all_seen() -> bool | None:
        seen.update(connect(server, 1))
        return True if len(seen) == workers else None

    server.until(all_seen)
    disconnect(server)
    return sorted(seen)


@pytest.mark.parametrize("workers", [2, 4])
def test_connections_are_divided_evenly(tmp_path: Path, workers: int) -> None:
    with running(tmp_path, insecure_http=True, workers=workers) as server:
        until_serving(server, workers)

        served = Counter(connect(server, CONNECTIONS))

        fair = CONNECTIONS / workers
        assert len(served) == workers
        assert all(abs(count - fair) <= fair / 4 for count in served.values()), served


def test_a_worker_that_hangs_holds_up_no_connection(tmp_path: Path) -> None:
    with running(tmp_path, insecure_http=True, workers=2) as server:
        hung, other = until_serving(server, 2)
        os.kill(hung, signal.SIGSTOP)
        try:
            assert set(connect(server, 12)) == {other}
        finally:
            os.kill(hung, signal.SIGCONT)

        # It has the fewest, and is passed over only until its event loop runs again.
        server.until(lambda: True if hung in connect(server, 1) else None)


def test_the_worker_that_replaces_one_that_was_killed_gets_the_next_connections(
    tmp_path: Path,
) -> None:
    with running(tmp_path, insecure_http=True, workers=2) as server:
        victim, other = until_serving(server, 2)
        connect(server, 20)

        os.kill(victim, signal.SIGKILL)

        def replaced() -> int | None:
            (pid,) = connect(server, 1)
            return pid if pid not in (victim, other) else None

        replacement = server.until(replaced)
        assert set(connect(server, 4)) == {replacement}
