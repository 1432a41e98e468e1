"""One worker leads: by a lock beside the database, by a Lease where servers share a store."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.coordination.v1 import Lease
from apis.core.v1 import Namespace
from apiserver.controlplane.leader import (
    LEASE_NAME,
    LEASE_NAMESPACE,
    LOCK_FILE,
    AlwaysLeader,
    Election,
    FileLockElection,
    LeaseElection,
    election_for,
)
from client.client import AsyncClient
from client.leaderelection.leader_election import LeaderElection
from tests.apis.controlled import controlled_server

HOLDER = """
import fcntl, sys, time
with open(sys.argv[1], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("locked", flush=True)
    time.sleep(600)
"""
QUICK = LeaderElection(
    LEASE_NAME, "unused", lease_duration=30.0, renew_deadline=1.0, retry_period=0.05
)


class Candidate:
    """A worker that campaigns, and says whether it leads."""

    def __init__(self) -> None:
        self.leads = asyncio.Event()
        self.terms = 0

    async def work(self) -> None:
        self.terms += 1
        self.leads.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.leads.clear()


@asynccontextmanager
async def campaigning(election: Election) -> AsyncIterator[Candidate]:
    candidate = Candidate()
    task = asyncio.create_task(election.run(candidate.work))
    try:
        yield candidate
    finally:
        task.cancel()
        await asyncio.wait([task])


async def leads(candidate: Candidate) -> None:
    async with asyncio.timeout(5):
        await candidate.leads.wait()


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    async with controlled_server() as server:
        namespace = Namespace(metadata=ObjectMeta(name=LEASE_NAMESPACE))
        await server.client.of(Namespace).create(namespace)
        yield server.client


async def holder(client: AsyncClient) -> str:
    lease = await client.of(Lease, namespace=LEASE_NAMESPACE).get(LEASE_NAME)
    return lease.spec.holder_identity or ""


async def test_in_memory_there_is_one_leader() -> None:
    async with campaigning(AlwaysLeader()) as candidate:
        await leads(candidate)

        assert candidate.terms == 1


async def test_of_two_workers_on_one_database_one_leads(tmp_path: Path) -> None:
    lock = tmp_path / LOCK_FILE
    async with campaigning(FileLockElection(lock)) as second:
        await leads(second)
        async with campaigning(FileLockElection(lock)) as third:
            await asyncio.sleep(0.5)
            assert not third.leads.is_set()
        assert third.terms == 0


async def test_a_worker_that_stops_hands_over(tmp_path: Path) -> None:
    lock = tmp_path / LOCK_FILE
    async with campaigning(FileLockElection(lock)) as second:
        await leads(second)
    async with campaigning(FileLockElection(lock)) as third:
        await leads(third)


async def test_a_worker_that_is_killed_hands_over_at_once(tmp_path: Path) -> None:
    lock = tmp_path / LOCK_FILE
    killed = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE)
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"locked\n"
    async with campaigning(FileLockElection(lock)) as successor:
        await asyncio.sleep(0.3)
        assert not successor.leads.is_set()

        killed.send_signal(signal.SIGKILL)

        async with asyncio.timeout(2):
            await successor.leads.wait()
    killed.wait()
    killed.stdout.close()


async def test_controllers_that_fail_are_started_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apiserver.controlplane.leader.RETRY_SECONDS", 0.01)
    terms: list[int] = []
    done = asyncio.Event()

    async def work() -> None:
        terms.append(len(terms))
        if len(terms) == 3:
            done.set()
            await asyncio.Event().wait()
        raise RuntimeError("why")

    task = asyncio.create_task(AlwaysLeader().run(work))
    async with asyncio.timeout(5):
        await done.wait()
    task.cancel()
    await asyncio.wait([task])

    assert "failed and are started again" in caplog.text


async def test_of_two_servers_one_has_the_lease(client: AsyncClient, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    async with campaigning(LeaseElection(client, lock=here, timing=QUICK)) as first:
        await leads(first)
        async with campaigning(LeaseElection(client, lock=there, timing=QUICK)) as other:
            await asyncio.sleep(0.3)
            assert not other.leads.is_set()
    assert await holder(client) == ""


async def test_a_server_that_stops_hands_over_the_lease(
    client: AsyncClient, tmp_path: Path
) -> None:
    async with campaigning(LeaseElection(client, lock=tmp_path / "a", timing=QUICK)) as first:
        await leads(first)
    async with campaigning(LeaseElection(client, lock=tmp_path / "b", timing=QUICK)) as second:
        await leads(second)


async def test_a_respawned_worker_continues_the_lease_of_its_server(
    client: AsyncClient, tmp_path: Path
) -> None:
    """It does not wait for the lease to expire: all workers of a server have one identity."""
    crashing = LeaderElection(
        *(LEASE_NAME, "unused"),
        lease_duration=30.0,
        renew_deadline=1.0,
        retry_period=0.05,
        release_on_cancel=False,
    )
    lock = tmp_path / LOCK_FILE
    async with campaigning(LeaseElection(client, lock=lock, timing=crashing)) as crashed:
        await leads(crashed)
    before = await holder(client)

    async with campaigning(LeaseElection(client, lock=lock, timing=QUICK)) as respawned:
        await leads(respawned)

        assert before
        assert await holder(client) == before


async def test_the_second_worker_of_a_server_does_not_write_the_lease(
    client: AsyncClient, tmp_path: Path
) -> None:
    lock = tmp_path / LOCK_FILE
    async with campaigning(LeaseElection(client, lock=lock, timing=QUICK)) as first:
        await leads(first)
        async with campaigning(LeaseElection(client, lock=lock, timing=QUICK)) as second:
            await asyncio.sleep(0.3)

            assert second.terms == 0


async def test_a_lost_lease_stops_the_controllers_until_it_is_won_again(
    client: AsyncClient, tmp_path: Path
) -> None:
    quick = LeaderElection(
        LEASE_NAME, "unused", lease_duration=1.0, renew_deadline=0.4, retry_period=0.05
    )
    leases = client.of(Lease, namespace=LEASE_NAMESPACE)
    async with campaigning(LeaseElection(client, lock=tmp_path / "a", timing=quick)) as leader:
        await leads(leader)

        async with asyncio.timeout(10):
            while leader.terms == 1:
                spec = {"holderIdentity": "another", "leaseDurationSeconds": 1}
                await leases.patch(LEASE_NAME, {"spec": spec})
                await asyncio.sleep(0.01)
                if not leader.leads.is_set():
                    break
        await leads(leader)

    assert leader.terms == 2


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite://:memory:", AlwaysLeader),
        ("sqlite:////tmp/x/store.sqlite", FileLockElection),
        ("etcd://localhost:2379", LeaseElection),
    ],
)
async def test_the_store_decides_how_a_leader_is_elected(
    client: AsyncClient, tmp_path: Path, url: str, expected: type
) -> None:
    assert type(election_for(url, client, tmp_path)) is expected


async def test_servers_with_the_same_groups_elect_one_leader(
    client: AsyncClient, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    both = election_for(url, client, tmp_path, groups=["a.io", "b.io"])
    async with campaigning(both) as first:
        await leads(first)
        same = election_for(url, client, tmp_path, groups=["b.io", "a.io"])
        async with campaigning(same) as second:
            for groups in ([], ["a.io"]):
                async with campaigning(
                    election_for(url, client, tmp_path, groups=groups)
                ) as separate:
                    await leads(separate)
        assert second.terms == 0


async def test_servers_with_other_groups_have_another_lease(
    client: AsyncClient, tmp_path: Path
) -> None:
    for groups in ([], ["a.io"], ["a.io"]):
        async with campaigning(
            election_for("etcd://x", client, tmp_path, groups=groups)
        ) as candidate:
            await leads(candidate)

    held = [lease.metadata.name async for lease in client.of(Lease, namespace="kube-system").list()]
    assert len(held) == 2
    assert held[0] == LEASE_NAME
    assert held[1].startswith(f"{LEASE_NAME}-")
