"""Hundreds of watchers that have nothing to do cost little, and slow nobody down."""

import asyncio
import json
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path

from tests.faults.load import until
from tests.servers import serving
from tests.wire import Address, Wire, connected

IDLE = 500
BUSY = 5
EVENTS = 100

MEMORY_OF_ONE = 150 * 1024
"""Bytes that a watcher may cost, most of which are the TLS connection."""
CPU_OF_ONE = 0.01
"""Seconds of processor time that a write and its events may cost, however many watch elsewhere."""
PROMPT = 2.0


def memory(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watcher:
    """Notes the name of each object it hears of, and when."""

    def __init__(self, wire: Wire, namespace: str) -> None:
        self.heard: dict[str, float] = {}
        self._wire = wire
        self._path = f"/api/v1/namespaces/{namespace}/secrets?watch=1"

    async def begin(self) -> None:
        await self._wire.send("GET", self._path)
        assert (await self._wire.head())[0] == 200

    async def run(self) -> None:
        async for line in self._wire.lines():
            self.heard[json.loads(line)["object"]["metadata"]["name"]] = time.monotonic()


async def test_an_event_costs_nothing_to_those_who_watch_elsewhere(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        (worker,) = server.workers()
        for namespace in ("busy", "idle"):
            made = server.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
            assert made.code == 201
        address = Address.of(server)
        async with AsyncExitStack() as opened:
            before = memory(worker)
            wires = [
                await opened.enter_async_context(connected(address)) for _ in range(IDLE + BUSY)
            ]
            watchers = [Watcher(wire, "idle") for wire in wires[:IDLE]]
            watchers += [Watcher(wire, "busy") for wire in wires[IDLE:]]
            await asyncio.gather(*(watcher.begin() for watcher in watchers))
            grown = memory(worker) - before
            used = processor_time(worker)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(watcher.run()) for watcher in watchers]
                written = await write(address)
                busy = watchers[IDLE:]
                await until(lambda: all(len(watcher.heard) == EVENTS for watcher in busy))
                used = processor_time(worker) - used
                for task in tasks:
                    task.cancel()

        late = max(w.heard[name] - at for w in busy for name, at in written.items())
        assert not any(watcher.heard for watcher in watchers[:IDLE])
        assert late < PROMPT
        assert grown / len(watchers) < MEMORY_OF_ONE
        assert used / EVENTS < CPU_OF_ONE


async def write(address: Address) -> dict[str, float]:
    """When each of some objects was acknowledged."""
    written = {}
    async with connected(address) as wire:
        for number in range(EVENTS):
            body = {"metadata": {"name": f"map-{number}"}}
            answer = await wire.request("POST", "/api/v1/namespaces/busy/secrets", body)
            assert answer.code == 201
            written[f"map-{number}"] = time.monotonic()
    return written
