"""Growth: what a get, a page, a write and an event cost with more objects and more watchers.

A whole server in this process, on SQLite in memory. Costs are processor time, the least of some
rounds. `GROWTH_OBJECTS` and `GROWTH_WATCHERS` set the largest sizes.
"""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from time import process_time
from typing import Final

from apiserver.app import App
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver, Stream

OBJECTS: Final = int(os.environ.get("GROWTH_OBJECTS", "100_000"))
WATCHERS: Final = int(os.environ.get("GROWTH_WATCHERS", "10_000"))

MAPS: Final = "/api/v1/namespaces/default/configmaps"
KEYS: Final = "/registry/core/configmaps/default"
ROUNDS: Final = 5
OPERATIONS: Final = 200
PAGE: Final = 500

Series = dict[str, dict[int, float]]
"""Microseconds of processor time by size, by name."""


def run() -> None:
    _print("objects", asyncio.run(_by_objects()))
    _print("watchers", asyncio.run(_by_watchers()))


async def _by_objects() -> Series:
    """The costs of requests while the number of objects grows."""
    found: Series = {name: {} for name in ("get", f"page of {PAGE}", "update")}
    async with _server() as (app, client):
        value = await _seed(app, client)
        stored, size = 1, 1_000
        while size <= OBJECTS:
            await _fill(app, value, stored, size)
            stored = size
            gc.collect()
            names = [f"{size * number // OPERATIONS:07}" for number in range(OPERATIONS)]
            found["get"][size] = await _cost(client, _getting(names))
            found[f"page of {PAGE}"][size] = await _cost(client, _listing, count=20)
            found["update"][size] = await _cost(client, _patching(names))
            size *= 10
    return found


async def _by_watchers() -> Series:
    """The cost of a write while the number of watchers grows, by what they watch."""
    selections: dict[str, Callable[[int], str]] = {
        "write, watchers of other namespaces": lambda number: (
            f"/api/v1/namespaces/other-{number}/configmaps?watch=true"
        ),
        "write, watchers of other labels": lambda number: (
            f"{MAPS}?watch=true&labelSelector=app%3Dother-{number}"
        ),
        "write, watchers of other names": lambda number: (
            f"{MAPS}?watch=true&fieldSelector=metadata.name%3Dother-{number}"
        ),
        "delivery, watchers of everything": lambda number: f"{MAPS}?watch=true",
    }
    found: Series = {name: {} for name in selections}
    for name, url in selections.items():
        size = 10
        while size <= WATCHERS:
            found[name][size] = await _watched_cost(
                url, size, delivered=name.startswith("delivery")
            )
            size *= 10
    return found


async def _watched_cost(url: Callable[[int], str], watchers: int, *, delivered: bool) -> float:
    async with _server() as (app, client), AsyncExitStack() as streams:
        await _seed(app, client)
        opened: list[Stream] = []
        for number in range(watchers):
            opened.append(await streams.enter_async_context(client.stream(url(number))))
        writes = max(5, OPERATIONS * 10 // watchers) if delivered else OPERATIONS
        total = await _cost(client, _patching(["0000000"], opened if delivered else ()), writes)
        return total / watchers if delivered else total


@asynccontextmanager
async def _server() -> AsyncIterator[tuple[App, Driver]]:
    app = make_app(wait=60)
    await app.start()
    try:
        yield app, Driver(app, authorization="Bearer root")
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


async def _fill(app: App, value: bytes, stored: int, size: int) -> None:
    """Store copies of the first object beside the server, until there are *size* objects."""
    for start in range(stored, size, 500):
        names = [f"{number:07}" for number in range(start, min(start + 500, size))]
        creations = (
            app.backend.create(f"{KEYS}/{name}", value.replace(b'"0000000"', f'"{name}"'.encode()))
            for name in names
        )
        await asyncio.gather(*creations)


Step = Callable[[Driver, int], Awaitable[None]]


def _getting(names: list[str]) -> Step:
    async def get(client: Driver, number: int) -> None:
        assert (await client.get(f"{MAPS}/{names[number % len(names)]}")).code == 200

    return get


async def _listing(client: Driver, number: int) -> None:
    assert (await client.get(f"{MAPS}?limit={PAGE}")).code == 200


def _patching(names: list[str], watchers: "list[Stream] | tuple[()]" = ()) -> Step:
    """Write, and wait until every one of *watchers* has the event."""
    numbers = iter(range(1_000_000))

    async def patch(client: Driver, number: int) -> None:
        change = {"data": {"n": str(next(numbers))}}
        assert (await client.patch(f"{MAPS}/{names[number % len(names)]}", change)).code == 200
        for watcher in watchers:
            await watcher.writes.get()

    return patch


async def _cost(client: Driver, step: Step, count: int = OPERATIONS) -> float:
    """Return the microseconds of processor time of a step, the least of some rounds."""
    costs = []
    await step(client, 0)
    for _ in range(ROUNDS):
        started = process_time()
        for number in range(count):
            await step(client, number)
        costs.append((process_time() - started) / count * 1e6)
    return round(min(costs), 2)


def _print(what: str, series: Series) -> None:
    sizes = sorted({size for row in series.values() for size in row})
    print(f"{what:<40}" + "".join(f"{size:>12,}" for size in sizes))
    for name, row in series.items():
        print(f"{name:<40}" + "".join(f"{row[size]:>9,.1f} us" for size in sizes))
