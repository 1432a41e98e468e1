"""What the controllers of the server cost: memory of the leader, emptying a namespace, a start.

The leader runs in a process of its own, over a database of many ConfigMaps that own nothing and are
owned by nothing. Its memory is compared with that of the same process while another one leads.
"""

import asyncio
import fcntl
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time

from apimachinery.meta.types import ObjectMeta
from apis.core.v1 import ConfigMap, Namespace
from apiserver import create_app
from apiserver.app import App
from apiserver.config import ServerConfig
from apiserver.controlplane.leader import LOCK_FILE
from apiserver.controlplane.local_client import local_client
from apiserver.process.data_folder import prepare
from client.client import AsyncClient
from client.interface import ResourceClient
from client.testing.env import environment

OBJECTS = 100_000
CONTENTS = 10_000
STARTS = 20
TOGETHER = 200
SETTLING = 8.0
"""Seconds after a start in which the leader lists everything."""


def run() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        config = _config(folder)
        prepare(config, now=datetime.now(UTC))
        asyncio.run(_fill(config))
        follower = _measured_start(folder, leads=False)
        leader = _measured_start(folder, leads=True)
        print(f"{OBJECTS:,} objects on SQLite")
        for name, found in (("follower", follower), ("leader", leader)):
            print(f"  {name:<10} {found['rss']:6.0f} MB {found['cpu']:6.1f} s of CPU to start")
        seconds, cpu = asyncio.run(_emptied(config))
        print(f"a namespace of {CONTENTS:,} is gone after {seconds:.1f} s ({cpu:.1f} s of CPU)")
    wall, cpu = asyncio.run(_entered())
    print(f"a test environment is entered in {wall * 1e3:.0f} ms ({cpu * 1e3:.0f} ms of CPU)")


def _config(folder: Path) -> ServerConfig:
    return ServerConfig(
        data_dir=folder / "data", storage=f"sqlite:///{folder}/store?synchronous=off"
    )


async def _fill(config: ServerConfig) -> None:
    async def write(client: AsyncClient) -> None:
        maps = _maps(client, "default")
        await _create(maps, OBJECTS)

    await _with_client(config, write)


async def _emptied(config: ServerConfig) -> tuple[float, float]:
    measured = (0.0, 0.0)

    async def empty(client: AsyncClient) -> None:
        nonlocal measured
        namespaces = client.of(Namespace, resource="namespaces", namespaced=False, api_version="v1")
        await namespaces.create(Namespace(metadata=ObjectMeta(name="full")))
        await _create(_maps(client, "full"), CONTENTS)
        start, cpu = perf_counter(), process_time()
        await namespaces.delete("full")
        await namespaces.wait_deleted("full", timeout=600)
        measured = perf_counter() - start, process_time() - cpu

    await _with_client(config, empty)
    return measured


async def _with_client(
    config: ServerConfig, work: Callable[[AsyncClient], Awaitable[None]]
) -> None:
    app = create_app(config)
    await app.start()
    async with local_client(app) as client:
        await work(client)
    await app.stop()


def _maps(client: AsyncClient, namespace: str) -> ResourceClient[ConfigMap]:
    return client.of(ConfigMap, namespace=namespace, resource="configmaps", api_version="v1")


async def _create(maps: ResourceClient[ConfigMap], count: int) -> None:
    for first in range(0, count, TOGETHER):
        async with asyncio.TaskGroup() as tasks:
            for number in range(first, min(first + TOGETHER, count)):
                metadata = ObjectMeta(name=f"config-{number}")
                obj = ConfigMap(metadata=metadata, data={"key": "value" * 20})
                tasks.create_task(maps.create(obj))


async def _entered() -> tuple[float, float]:
    walls, cpus = [], []
    for _ in range(STARTS):
        start, cpu = perf_counter(), process_time()
        async with environment():
            walls.append(perf_counter() - start)
            cpus.append(process_time() - cpu)
            await asyncio.sleep(0.2)
    return statistics.median(walls), statistics.median(cpus)


def _measured_start(folder: Path, *, leads: bool) -> dict[str, float]:
    with (folder / f"store.{LOCK_FILE}").open("w") as lock:
        if not leads:
            fcntl.flock(lock, fcntl.LOCK_EX)
        ran = subprocess.run(
            [sys.executable, "-m", __name__, str(folder)], stdout=subprocess.PIPE, check=True
        )
    found: dict[str, float] = json.loads(ran.stdout)
    return found


async def _start(folder: Path) -> None:
    app: App = create_app(_config(folder))
    await app.start()
    await asyncio.sleep(SETTLING)
    # The lines of this file are `Name:  number kB`.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    rss = float(status["VmRSS"].split()[0]) / 1024
    print(json.dumps({"rss": rss, "cpu": process_time()}))
    await app.stop()


if __name__ == "__main__":
    asyncio.run(_start(Path(sys.argv[1])))
