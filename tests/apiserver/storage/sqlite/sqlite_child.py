"""A process of its own that uses an SQLite store, started by `test_sqlite_processes`.

    load PATH NAME          write without end, and print every acknowledged write as
                            "key revision number"
    exchange PATH NAME N M  write N keys while a feed reads, and print the M changes it told
    write PATH NAME N       write N keys

Values say which key and number they belong to and have a length that depends on it, so that a
value that is not whole shows.
"""

import asyncio
import json
import os
import sys

from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.reading import take

TASKS = 20


def value_of(key: str, number: int) -> bytes:
    return f"{key} {number} ".encode() * (1 + number % 50)


async def load(path: str, name: str) -> None:
    backend = await open_sqlite(f"sqlite:///{path}")

    async def write(task: int) -> None:
        key = f"/{name}/{task}"
        revision = await backend.create(key, value_of(key, 0))
        number = 0
        while True:
            os.write(sys.stdout.fileno(), f"{key} {revision} {number}\n".encode())
            number += 1
            revision = await backend.update(key, value_of(key, number), revision=revision)

    await asyncio.gather(*(write(task) for task in range(TASKS)))


async def exchange(path: str, name: str, count: int, total: int) -> None:
    backend = await open_sqlite(f"sqlite:///{path}")
    async with backend.watch("/", after=0) as feed:
        reading = asyncio.create_task(take(feed, total))
        await _write(path, name, count)
        changes = await reading
    print(json.dumps([[change.revision, change.key] for change in changes]))
    await backend.close()


async def _write(path: str, name: str, count: int) -> None:
    backend = await open_sqlite(f"sqlite:///{path}")

    async def write(task: int) -> None:
        for number in range(task, count, TASKS):
            await backend.create(f"/{name}/{number:05}", b"x")

    await asyncio.gather(*(write(task) for task in range(TASKS)))
    await backend.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["load", path, name]:
            asyncio.run(load(path, name))
        case ["exchange", path, name, count, total]:
            asyncio.run(exchange(path, name, int(count), int(total)))
        case ["write", path, name, count]:
            asyncio.run(_write(path, name, int(count)))
