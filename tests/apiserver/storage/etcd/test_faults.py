"""A real cluster of three under load, whose leader is killed, stopped and restarted.

Every value is written once, so the watch of the whole store is a complete account to hold the
callers' reports against.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from apiserver.storage.interface import (
    Compacted,
    Feed,
    KeyExists,
    RevisionConflict,
    StoredChange,
    Unavailable,
)
from tests.apiserver.storage.etcd.etcd_binary import etcd_binary
from tests.apiserver.storage.etcd.etcd_server import (
    Cluster,
    Node,
    excusing_divergence,
    start_cluster,
)
from tests.faults.figures import record_figures

WRITERS = 8
PROGRESS = 100
"""Acknowledged writes before, during and after each fault."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with start_cluster(tmp_path) as cluster:
        yield cluster


@dataclass
class Account:
    """What the writers were told: a write is its key and value, None for a deletion."""

    acknowledged: dict[int, tuple[str, bytes | None]] = field(default_factory=dict)
    """By revision."""
    unknown: list[tuple[str, bytes | None]] = field(default_factory=list)
    refused: list[tuple[str, bytes | None]] = field(default_factory=list)
    """Reported as certainly not done."""

    async def progress(self, writes: int = PROGRESS) -> None:
        enough = len(self.acknowledged) + writes
        while len(self.acknowledged) < enough:
            await asyncio.sleep(0.001)


Fault = Callable[[Node, Account], Awaitable[None]]
"""What happens to a leader; whoever runs it sees writes go on during and after it."""


async def test_a_leader_that_is_killed_and_restarted(cluster: Cluster) -> None:
    with excusing_divergence(cluster):
        await _torment(cluster, _kill, rounds=2)


async def test_a_leader_that_is_stopped_and_continued(cluster: Cluster) -> None:
    await _torment(cluster, _pause, rounds=2)


@pytest.mark.torture
@pytest.mark.timeout(3600)
async def test_a_leader_that_is_killed_and_restarted_many_times(cluster: Cluster) -> None:
    with excusing_divergence(cluster):
        await _torment(cluster, _kill, rounds=30)


@pytest.mark.torture
@pytest.mark.timeout(3600)
async def test_a_leader_that_is_stopped_and_continued_many_times(cluster: Cluster) -> None:
    await _torment(cluster, _pause, rounds=30)


def test_a_failure_on_a_cluster_that_agrees_is_not_excused(cluster: Cluster) -> None:
    cluster.nodes[0].kill()

    with pytest.raises(ZeroDivisionError), excusing_divergence(cluster):
        raise ZeroDivisionError


async def test_a_feed_far_behind_when_the_store_is_compacted_during_faults_is_told(
    cluster: Cluster,
) -> None:
    backend = await open_etcd(f"etcd://{cluster.hosts}?timeout=1")
    written = [await backend.create("/a", b"")]
    async with backend.watch("/", after=written[0] - 1) as feed:
        await anext(feed)
        leader = await asyncio.to_thread(cluster.leader)
        leader.kill()
        for number in range(40):
            value = bytes([number]) * 1_000_000
            written.append(await backend.update("/a", value, revision=written[-1]))
        await backend.compact(written[-1])
        leader.start()
        seen = [written[0]]

        with pytest.raises(Compacted):
            async for batch in feed:
                seen += [change.revision for change in batch.changes]

    assert seen == written[: len(seen)]
    await backend.close()


async def _kill(leader: Node, account: Account) -> None:
    leader.kill()
    await account.progress()
    leader.start()
    await account.progress()


async def _pause(leader: Node, account: Account) -> None:
    leader.pause()
    await account.progress()
    leader.resume()
    await account.progress()


_DONE: dict[Fault, str] = {_kill: "killed", _pause: "paused"}


async def _torment(cluster: Cluster, fault: Fault, *, rounds: int) -> None:
    """Let *fault* happen to the leader in each round, under load, and check the accounts."""
    url = f"etcd://{cluster.hosts}?timeout=1"
    account = Account()
    backend, observer = await open_etcd(url), await open_etcd(url)
    start = await backend.current_revision()
    history: list[StoredChange] = []
    async with observer.watch("/", after=start) as feed, asyncio.TaskGroup() as group:
        reading = group.create_task(_read(feed, history))
        async with _writing(backend, account):
            for _ in range(rounds):
                await account.progress()
                await fault(await asyncio.to_thread(cluster.leader), account)
                await asyncio.to_thread(cluster.wait_healthy)
        end = await backend.create("/end", b"")
        async with asyncio.timeout(30):
            while not history or history[-1].revision < end:
                await asyncio.sleep(0.01)
        reading.cancel()
    final = await backend.range("/")
    await backend.close()
    await observer.close()
    _check(account, history[:-1])
    assert {found.key: found.value for found in final.records} == _replay(history)
    record_figures(
        "fault suites",
        f"the leader of etcd {etcd_binary().release} is {_DONE[fault]}",
        rounds=rounds,
        writes=len(account.acknowledged),
        events=len(history),
    )


@asynccontextmanager
async def _writing(backend: EtcdBackend, account: Account) -> AsyncIterator[None]:
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for number in range(WRITERS):
            group.create_task(_write(backend, account, f"/{number}", stopping))
        yield
        stopping.set()


async def _write(backend: EtcdBackend, account: Account, key: str, stopping: asyncio.Event) -> None:
    """Create, update and delete one key that nobody else writes."""
    revision = 0
    doubted = False
    for count in itertools.count():
        if stopping.is_set():
            return
        value = None if revision and count % 3 == 2 else f"{key}-{count}".encode()
        try:
            written = await _send(backend, key, value, revision)
        except Unavailable as error:
            (account.unknown if error.uncertain else account.refused).append((key, value))
            doubted = doubted or error.uncertain
            revision = await _newest(backend, key)
        except (KeyExists, RevisionConflict):
            # Nobody else writes this key, so this can only be a write without an answer.
            assert doubted
            account.refused.append((key, value))
            revision = await _newest(backend, key)
        else:
            assert written not in account.acknowledged
            account.acknowledged[written] = (key, value)
            revision = 0 if value is None else written


async def _send(backend: EtcdBackend, key: str, value: bytes | None, revision: int) -> int:
    if value is None:
        return await backend.delete(key, revision=revision)
    if revision == 0:
        return await backend.create(key, value)
    return await backend.update(key, value, revision=revision)


async def _newest(backend: EtcdBackend, key: str) -> int:
    while True:
        try:
            record = await backend.get(key)
        except Unavailable:
            continue
        return 0 if record is None else record.revision


async def _read(feed: Feed, history: list[StoredChange]) -> None:
    async for batch in feed:
        history.extend(batch.changes)


def _check(account: Account, history: list[StoredChange]) -> None:
    revisions = [change.revision for change in history]
    assert revisions == sorted(set(revisions)), "a change was doubled or reordered"
    told = {change.revision: (change.key, change.value) for change in history}
    lost = account.acknowledged.items() - told.items()
    assert not lost, "an acknowledged write is missing or different"
    others = [write for revision, write in told.items() if revision not in account.acknowledged]
    values = [value for _, value in told.values() if value is not None]
    assert len(values) == len(set(values)), "a write took effect twice"
    assert all(write in account.unknown for write in others), "a write happened that was refused"
    for change, previous in _with_previous(history):
        assert change.previous == previous, "a change does not follow the one before it"


def _with_previous(history: list[StoredChange]) -> Iterator[tuple[StoredChange, bytes | None]]:
    values: dict[str, bytes | None] = {}
    for change in history:
        yield change, values.get(change.key)
        values[change.key] = change.value


def _replay(history: list[StoredChange]) -> dict[str, bytes]:
    values = {change.key: change.value for change in history}
    return {key: value for key, value in values.items() if value is not None}
