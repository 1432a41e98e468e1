"""The SQLite backend against SQLite itself, on this machine in this run.

"raw" is a loop over sqlite3 with the same tables, the same statements per write and as many
writes per transaction as the backend has writers, without threads and without asyncio: what a
backend could reach if it cost nothing.
"""

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.storage.sqlite.schema import open_file

SECONDS = 1.5
KEYS = 10_000
VALUE = bytes(1000)
PINGS = 300


def run() -> None:
    """Print one table."""
    print(f"{'sqlite backend':32}{'backend':>12}{'raw':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as directory:
        for writers in (1, 10, 100, 500):
            ours = asyncio.run(_writes(Path(directory, f"writes{writers}.db"), writers))
            raw = _raw_writes(Path(directory, f"raw{writers}.db"), writers)
            _row(f"durable writes/s, {writers} writers", ours, raw)
        path = Path(directory, "reads.db")
        asyncio.run(_fill(path))
        for readers in (1, 100):
            ours = asyncio.run(_reads(path, readers))
            _row(f"reads/s, {readers} readers", ours, _raw_reads(path))
        _row(f"lists of {KEYS}/s", asyncio.run(_lists(path)), _raw_lists(path))
        median, worst = asyncio.run(_latency(path))
        print(f"write to feed of another process: median {median:.1f} ms, worst {worst:.1f} ms")


def _row(name: str, ours: float, raw: float) -> None:
    print(f"{name:32}{ours:12,.0f}{raw:12,.0f}{ours / raw:8.0%}")


def _key(task: int, number: int) -> str:
    return f"/registry/things/default/{task:04}-{number:06}"


async def _writes(path: Path, writers: int) -> float:
    backend = await open_sqlite(f"sqlite:///{path}")
    numbers = [0] * writers

    async def write(task: int) -> None:
        await backend.create(_key(task, numbers[task]), VALUE)
        numbers[task] += 1

    rate = await _rate(write, writers)
    await backend.close()
    return rate


async def _rate(action: Callable[[int], Awaitable[None]], tasks: int) -> float:
    count = 0
    begin = time.perf_counter()

    async def repeat(task: int) -> None:
        nonlocal count
        while time.perf_counter() - begin < SECONDS:
            await action(task)
            count += 1

    await asyncio.gather(*(repeat(task) for task in range(tasks)))
    return count / (time.perf_counter() - begin)


def _raw_rate(action: Callable[[], int]) -> float:
    count = 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        count += action()
    return count / (time.perf_counter() - begin)


def _raw_writes(path: Path, group: int) -> float:
    connection = open_file(path)
    revision = 1

    def write_group() -> int:
        nonlocal revision
        number = revision // group
        connection.execute("BEGIN IMMEDIATE")
        for task in range(group):
            revision += 1
            key = _key(task, number)
            connection.execute("SELECT revision FROM newest WHERE key = ?", (key,)).fetchone()
            written = (revision, key, revision, VALUE)
            connection.execute("INSERT INTO history VALUES (?, ?, ?, 0, ?)", written)
            head = (key, revision, revision)
            connection.execute("INSERT INTO newest VALUES (?, ?, ?, NULL)", head)
        connection.execute("UPDATE store SET revision = ?", (revision,))
        connection.execute("COMMIT")
        return group

    rate = _raw_rate(write_group)
    connection.close()
    return rate


async def _fill(path: Path) -> None:
    backend = await open_sqlite(f"sqlite:///{path}")
    await asyncio.gather(*(backend.create(_key(0, number), VALUE) for number in range(KEYS)))
    await backend.close()


async def _reads(path: Path, readers: int) -> float:
    backend = await open_sqlite(f"sqlite:///{path}")
    number = 0

    async def read(task: int) -> None:
        nonlocal number
        number += 1
        assert await backend.get(_key(0, number * 7919 % KEYS)) is not None

    rate = await _rate(read, readers)
    await backend.close()
    return rate


_JOIN = """
    SELECT n.key, h.value, n.revision, n.created
    FROM newest n JOIN history h ON h.revision = n.revision
"""


def _raw_reads(path: Path) -> float:
    connection = sqlite3.connect(path)
    number = 0

    def read() -> int:
        nonlocal number
        number += 1
        key = _key(0, number * 7919 % KEYS)
        assert connection.execute(_JOIN + "WHERE n.key = ?", (key,)).fetchone()
        return 1

    rate = _raw_rate(read)
    connection.close()
    return rate


async def _lists(path: Path) -> float:
    backend = await open_sqlite(f"sqlite:///{path}")

    async def read(task: int) -> None:
        assert len((await backend.range("/registry/")).records) == KEYS

    rate = await _rate(read, 1)
    await backend.close()
    return rate


def _raw_lists(path: Path) -> float:
    connection = sqlite3.connect(path)
    statement = _JOIN + "WHERE n.key >= '/registry/' AND n.key < '/registry0' ORDER BY n.key"

    def read() -> int:
        assert len(connection.execute(statement).fetchall()) == KEYS
        return 1

    rate = _raw_rate(read)
    connection.close()
    return rate


async def _latency(path: Path) -> tuple[float, float]:
    """Milliseconds from the call of create in one process to the batch in another."""
    backend = await open_sqlite(f"sqlite:///{path}")
    command = [sys.executable, "-m", "tests.benchmarks.storage_sqlite", str(path)]
    child = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    delays: list[float] = []
    async with backend.watch("/ping/", after=await backend.current_revision()) as feed:
        while len(delays) < PINGS:
            batch = await anext(feed)
            now = time.monotonic_ns()
            delays += ((now - int(change.value or b"0")) / 1e6 for change in batch.changes)
    await asyncio.to_thread(child.wait)
    await backend.close()
    return statistics.median(delays), max(delays)


async def _ping(path: str) -> None:
    backend = await open_sqlite(f"sqlite:///{path}")
    for number in range(PINGS):
        # The clock is the machine's: two processes may compare it.
        await backend.create(f"/ping/{number}", str(time.monotonic_ns()).encode())
        await asyncio.sleep(0.0051)
    await backend.close()


if __name__ == "__main__":
    asyncio.run(_ping(sys.argv[1]))
