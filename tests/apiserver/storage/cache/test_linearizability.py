"""Reads from the watch caches of several servers are linearizable with the writes of all."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from apiserver.storage.cache.entry import Selectable
from apiserver.storage.cache.watch_cache import CachedResource, EntrySelection, NotReady, WatchCache
from apiserver.storage.etcd.backend import open_etcd
from apiserver.storage.interface import Backend, KeyPage, Record, Unavailable
from tests.apiserver.storage.cache.cached import PODS, JsonView
from tests.apiserver.storage.etcd.etcd_binary import etcd_binary
from tests.apiserver.storage.etcd.etcd_server import (
    Cluster,
    Node,
    excusing_divergence,
    start_cluster,
)
from tests.apiserver.storage.linearizability import Operation, is_linearizable, record_history
from tests.apiserver.storage.test_linearizability import DONE, Callers


class PlainView(JsonView):
    """Looks into nothing: the values of these tests are not JSON."""

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        return {}, {}


class ThroughCache:
    """A backend whose reads of pods are answered by a watch cache."""

    def __init__(self, backend: Backend, pods: CachedResource) -> None:
        self._backend = backend
        self._pods = pods

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    async def get(self, key: str) -> Record | None:
        namespace, name = PODS.split(key)
        with _not_ready_is_unavailable():
            entry = await self._pods.get(name, namespace=namespace)
        return entry.record if entry else None

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        namespace = prefix.removeprefix(PODS.prefix).rstrip("/")
        with _not_ready_is_unavailable():
            listing = await self._pods.list(EntrySelection(namespace=namespace))
        return KeyPage([entry.record for entry in listing.entries], listing.revision)


@contextmanager
def _not_ready_is_unavailable() -> Iterator[None]:
    try:
        yield
    except NotReady as error:
        raise Unavailable(str(error)) from error


@asynccontextmanager
async def serving(backends: Sequence[Backend]) -> AsyncIterator[list[ThroughCache]]:
    async with AsyncExitStack() as stack:
        servers = []
        for backend in backends:
            cache = WatchCache(backend)
            pods = cache.register(PODS, PlainView())
            await stack.enter_async_context(cache)
            await pods.collection.filled.wait()
            servers.append(ThroughCache(backend, pods))
        yield servers


async def test_two_servers_on_one_store_are_linearizable(pair: tuple[Backend, Backend]) -> None:
    async with serving(pair) as servers:
        callers = Callers(servers, PODS.namespace_prefix("default"), seed=1)
        async with callers.working():
            await callers.progress(400)

    assert is_linearizable(callers.recorder.history)


async def test_servers_on_an_etcd_whose_leader_is_killed_are_linearizable(tmp_path: Path) -> None:
    with start_cluster(tmp_path) as cluster, excusing_divergence(cluster):
        await _rounds(cluster, Node.kill, Node.start, rounds=1)


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_servers_on_an_etcd_whose_leader_is_killed_often_are_linearizable(
    tmp_path: Path,
) -> None:
    with start_cluster(tmp_path) as cluster, excusing_divergence(cluster):
        await _rounds(cluster, Node.kill, Node.start, rounds=20)


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_servers_on_an_etcd_whose_leader_is_stopped_often_are_linearizable(
    tmp_path: Path,
) -> None:
    with start_cluster(tmp_path) as cluster:
        await _rounds(cluster, Node.pause, Node.resume, rounds=20)


async def _rounds(
    cluster: Cluster, hurt: Callable[[Node], None], heal: Callable[[Node], None], *, rounds: int
) -> None:
    url = f"etcd://{cluster.hosts}?timeout=1"
    backends = [await open_etcd(url) for _ in range(3)]
    done: list[Operation] = []
    async with serving(backends) as servers:
        for number in range(rounds):
            leader = await asyncio.to_thread(cluster.leader)
            callers = Callers(servers, PODS.namespace_prefix(str(number)), seed=number)
            async with callers.working():
                await callers.progress()
                hurt(leader)
                await callers.progress()
                heal(leader)
                await callers.progress()
            await asyncio.to_thread(cluster.wait_healthy)

            assert is_linearizable(callers.recorder.history)
            done += callers.recorder.history
    for backend in backends:
        await backend.close()
    etcd = f"etcd {etcd_binary().release}"
    suite = f"linearizability of watch caches when the leader of {etcd} is {DONE[hurt]}"
    record_history(suite, done, rounds)
