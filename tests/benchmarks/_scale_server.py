"""One measurement of the benchmark `scale`: a whole server in a process of its own.

    python -m tests.benchmarks._scale_server objects URL SIZE
    python -m tests.benchmarks._scale_server watchers KIND SIZE

It prints one JSON object: microseconds of processor time, and bytes of memory. A process of its own
has no memory of another size, and no garbage of another measurement.
"""

import asyncio
import gc
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import process_time
from typing import Any, Final

from apis.kubernetes import KUBERNETES
from apiserver.app import App
from apiserver.process.process_memory import ProcessMemory
from apiserver.storage.backends import open_backend
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver, Stream

MAPS: Final = "/api/v1/namespaces/default/configmaps"
PODS: Final = "/api/v1/namespaces/default/pods"
KEYS: Final = "/registry/core/configmaps/default"
PAGE: Final = 500
ROUNDS: Final = 5
OPERATIONS: Final = 200
FOREIGN: Final = 2_000
"""Writes of another process that the server only follows."""

WATCHES: Final[dict[str, Callable[[int], str]]] = {
    "everything": lambda number: f"{PODS}?watch=true",
    "another node each": lambda number: (
        f"/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dnode-{number}"
    ),
    "another label each": lambda number: f"{PODS}?watch=true&labelSelector=app%3Dapp-{number}",
    "another namespace each": lambda number: f"/api/v1/namespaces/other-{number}/pods?watch=true",
}
"""What the watchers watch; the pod that changes is on no node that they select."""

Step = Callable[[int], Awaitable[object]]


async def by_objects(url: str, size: int) -> dict[str, float]:
    """The costs of requests and of following the store, with *size* objects of a kilobyte."""
    async with _server(url) as (app, client):
        value = await _seed(app, client)
    await _fill(url, value, size)
    gc.collect()
    resident, started = _resident(), process_time()
    async with _worker_memory(), _server(url) as (app, client):
        # Requests are refused if the cache is not filled in time.
        while (await client.get(f"{MAPS}/0000000")).code != 200:
            await asyncio.sleep(0.5)
        filled = process_time() - started
        gc.collect()
        grown = _resident() - resident
        names = [f"{size * number // OPERATIONS:07}" for number in range(OPERATIONS)]

        async def get(number: int) -> None:
            assert (await client.get(f"{MAPS}/{names[number]}")).code == 200

        async def page(number: int) -> None:
            assert (await client.get(f"{MAPS}?limit={PAGE}")).code == 200

        async def patch(number: int) -> None:
            await _change(client, f"{MAPS}/{names[number]}")

        found = {
            "start": filled * 1e6,
            "memory": grown,
            "get": await _cost(get, OPERATIONS),
            "page": await _cost(page, 20),
            "write": await _cost(patch, OPERATIONS),
        }
        found["follow"] = await _follow(client, url)
    return found


async def by_watchers(kind: str, size: int) -> dict[str, float]:
    """The costs of one change of a pod while *size* clients watch."""
    async with _server("sqlite://:memory:", full=True) as (_, client), AsyncExitStack() as open_:
        pod = {"name": "web", "labels": {"app": "web"}}
        spec = {"nodeName": "node", "containers": [{"name": "a", "image": "b"}]}
        await client.post("/api/v1/namespaces", {"metadata": {"name": "default"}})
        assert (await client.post(PODS, {"metadata": pod, "spec": spec})).code == 201
        gc.collect()
        resident = _resident()
        streams: list[Stream] = []
        for number in range(size):
            watch = client.stream(f"{WATCHES[kind](number)}&resourceVersion=1")
            streams.append(await open_.enter_async_context(watch))
        delivered = kind == "everything"
        for stream in streams if delivered else ():
            await stream.writes.get()  # the pod itself
        gc.collect()
        grown = _resident() - resident

        async def change(number: int) -> None:
            await _change(client, f"{PODS}/web")
            for stream in streams if delivered else ():
                await stream.writes.get()

        count = max(3, min(OPERATIONS, 20_000 // size)) if delivered else OPERATIONS
        return {"event": await _cost(change, count), "memory": grown}


@asynccontextmanager
async def _worker_memory() -> AsyncIterator[None]:
    """Collect garbage as a worker does: by default, Python would scan the whole cache."""
    memory = ProcessMemory()
    memory.start()
    try:
        yield
    finally:
        memory.stop()
        gc.unfreeze()


@asynccontextmanager
async def _server(url: str, *, full: bool = False) -> AsyncIterator[tuple[App, Driver]]:
    app = make_app(*(KUBERNETES if full else ()), wait=600, storage=url)
    await app.start()
    client = Driver(app, authorization="Bearer root")
    client.seconds = 600.0
    try:
        yield app, client
    finally:
        await app.stop()


async def _seed(app: App, client: Driver) -> bytes:
    """Create the namespace and the first object; return how it is stored."""
    await client.post("/api/v1/namespaces", {"metadata": {"name": "default"}})
    seed = {"metadata": {"name": "0000000", "labels": {"app": "web"}}, "data": {"x": "y" * 600}}
    assert (await client.post(MAPS, seed)).code == 201
    record = await app.backend.get(f"{KEYS}/0000000")
    assert record is not None
    return record.value


async def _fill(url: str, value: bytes, size: int) -> None:
    """Store copies of the first object until there are *size*, into SQLite with its own tables."""

    def copy(number: int) -> tuple[str, bytes]:
        name = f"{number:07}"
        return f"{KEYS}/{name}", value.replace(b'"0000000"', f'"{name}"'.encode())

    if not url.startswith("sqlite:///"):
        backend = await open_backend(url)
        for start in range(1, size, 500):
            copies = (copy(number) for number in range(start, min(start + 500, size)))
            await asyncio.gather(*(backend.create(*each) for each in copies))
        await backend.close()
        return
    with sqlite3.connect(url.removeprefix("sqlite://")) as store:
        (revision,) = store.execute("SELECT revision FROM store").fetchone()
        for start in range(1, size, 10_000):
            copies_ = [copy(number) for number in range(start, min(start + 10_000, size))]
            revisions = range(revision + 1, revision + 1 + len(copies_))
            store.executemany(
                "INSERT INTO history VALUES (?, ?, ?, 0, ?)",
                [(at, key, at, each) for at, (key, each) in zip(revisions, copies_, strict=True)],
            )
            store.executemany(
                "INSERT INTO newest VALUES (?, ?, ?, NULL)",
                [(key, at, at) for at, (key, _) in zip(revisions, copies_, strict=True)],
            )
            revision += len(copies_)
        store.execute("UPDATE store SET revision = ?", (revision,))
    store.close()


async def _follow(client: Driver, url: str) -> float:
    """Return what a change by another process costs this one, which only follows the store."""
    command = [sys.executable, "-m", _NAME, "write", url]
    started = process_time()
    process = await asyncio.create_subprocess_exec(*command, str(FOREIGN))
    assert await process.wait() == 0
    # A read of the newest state waits until the cache has followed the store.
    assert (await client.get(f"{MAPS}/foreign-{FOREIGN - 1:06}")).code == 200
    return (process_time() - started) / FOREIGN * 1e6


_NAME: Final = "tests.benchmarks._scale_server"


async def write(url: str, count: int) -> None:
    """Create objects as another server would."""
    backend = await open_backend(url)
    first = await backend.get(f"{KEYS}/0000000")
    assert first is not None
    for start in range(0, count, 10):
        names = [f"foreign-{number:06}" for number in range(start, start + 10)]
        creations = (
            backend.create(f"{KEYS}/{n}", first.value.replace(b'"0000000"', f'"{n}"'.encode()))
            for n in names
        )
        await asyncio.gather(*creations)
    await backend.close()


async def _change(client: Driver, path: str) -> None:
    change = {"metadata": {"annotations": {"n": str(process_time())}}}
    assert (await client.patch(path, change)).code == 200


async def _cost(step: Step, count: int) -> float:
    """Return the microseconds of processor time of a step, the least of some rounds."""
    costs = []
    await step(0)
    for _ in range(ROUNDS):
        started = process_time()
        for number in range(count):
            await step(number)
        costs.append((process_time() - started) / count * 1e6)
    return min(costs)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measured(*arguments: str) -> dict[str, float]:
    """Run this module in another process and return what it prints."""
    command = [sys.executable, "-m", _NAME, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return {name: round(value, 1) for name, value in found.items()}


def main(what: str, where: str, size: str) -> None:
    if what == "write":
        asyncio.run(write(where, int(size)))
    elif what == "objects":
        print(json.dumps(asyncio.run(by_objects(where, int(size)))))
    else:
        print(json.dumps(asyncio.run(by_watchers(where, int(size)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
