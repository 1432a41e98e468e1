"""The cache keeps up with a real etcd while it is written to as fast as one process can."""

import asyncio
from pathlib import Path
from statistics import median

from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from tests.apiserver.storage.cache.cached import PODS, JsonView, pod, value
from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.pauses import measures_time

WRITERS = 32
WRITES = 50
BOUND = 4 * WRITERS
"""A cache that keeps up is behind by the writes in flight; one that does not, by half of all.

The median counts, because etcd itself may pause the watch of a busy machine: it holds 128 replies,
and collects what is beyond them every 100 ms.
"""


@measures_time
async def test_the_lag_of_the_cache_is_bounded_by_the_writes_in_flight(tmp_path: Path) -> None:
    lags: list[int] = []

    async def write(name: str, backend: EtcdBackend, cache: WatchCache) -> None:
        revision = await backend.create(pod(name), value(name))
        for _ in range(WRITES):
            revision = await backend.update(pod(name), value(name), revision=revision)
            lags.append(revision - cache.revision)

    with start_etcd(tmp_path) as address:
        backend = await open_etcd(f"etcd://{address}")
        async with WatchCache(backend) as cache:
            pods = cache.register(PODS, JsonView())
            await pods.get("none", namespace="default")
            async with asyncio.TaskGroup() as group:
                for number in range(WRITERS):
                    group.create_task(write(f"pod-{number}", backend, cache))
        await backend.close()

    assert len(lags) == WRITERS * WRITES
    assert median(lags) <= BOUND


async def test_consistent_reads_observe_the_lag(tmp_path: Path) -> None:
    observed: list[int] = []
    with start_etcd(tmp_path) as address:
        backend = await open_etcd(f"etcd://{address}")
        async with WatchCache(backend, on_lag=observed.append) as cache:
            pods = cache.register(PODS, JsonView())
            await pods.get("none", namespace="default")
            observed.clear()
            await backend.create(pod("a"), value("a"))

            entry = await pods.get("a", namespace="default")

        await backend.close()
    assert entry is not None
    assert observed in ([0], [1])
