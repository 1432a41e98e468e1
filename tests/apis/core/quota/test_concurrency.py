"""Fifty concurrent writers on two servers that share a store: never too many, and none is lost.

The servers are two applications on one store. The objects are watched, so that a moment with too
many would be seen.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.apis.core.quota.quota_server import Namespace, Server, config_map, serving
from tests.apiserver.http.driver import Stream
from tests.apiserver.storage.etcd.etcd_server import start_etcd

WRITERS = 50
HARD = 20


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture(params=["sqlite", "etcd"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}?synchronous=off"
    return f"etcd://{request.getfixturevalue('etcd')}?prefix=/test-{uuid4().hex}"


async def test_writers_on_two_servers_never_exceed_a_quota(url: str) -> None:
    async with serving(url) as one, serving(url) as two:
        places = await shared_namespace(one, two)
        await places[0].quota({"count/configmaps": str(HARD)})
        await enforced(places[1])

        async with most_objects(places[0]) as counter:
            created, refused = await write(places)
            await places[0].used({"count/configmaps": "0"})
            async with asyncio.timeout(10):
                while counter.added < created:
                    await asyncio.sleep(0.01)

    assert counter.most == HARD
    assert created == WRITERS
    assert refused > 0


async def shared_namespace(one: Server, two: Server) -> list[Namespace]:
    here = await one.namespace()
    there = Namespace(two.driver, here.name)
    async with asyncio.timeout(5):
        while (await two.driver.get(f"/api/v1/namespaces/{here.name}")).code != 200:
            await asyncio.sleep(0.01)
    return [here, there]


async def enforced(place: Namespace) -> None:
    await place.until(lambda status: bool(status.get("hard")))


async def write(places: list[Namespace]) -> tuple[int, int]:
    """Let every writer create and delete an object; return the creations, and the refused ones.

    Nobody deletes before the quota is used up.
    """
    created, refused, full = 0, 0, asyncio.Event()

    async def writer(number: int) -> None:
        nonlocal created, refused
        place, name = places[number % len(places)], f"c-{number}"
        while (answer := await place.create("configmaps", config_map(name))).code != 201:
            assert answer.code == 403, answer.body
            assert "exceeded quota: q" in answer.json["message"]
            refused += 1
            await asyncio.sleep(0.05)
        created += 1
        if created == HARD:
            full.set()
        await full.wait()
        answer = await place.driver.delete(place.path("configmaps", name))
        assert answer.code == 200, answer.body

    async with asyncio.TaskGroup() as tasks:
        for number in range(WRITERS):
            tasks.create_task(writer(number))
    return created, refused


class Counter:
    """Counts the objects that exist at the same time, in the order of their revisions."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._names: set[str] = set()
        self.added = 0
        self.most = 0

    async def run(self) -> None:
        while (event := await self._next()) is not None:
            name = event["object"]["metadata"].get("name")
            if event["type"] == "ADDED":
                self._names.add(name)
                self.added += 1
            elif event["type"] == "DELETED":
                self._names.discard(name)
            self.most = max(self.most, len(self._names))

    async def _next(self) -> Any:
        try:
            return await self._stream.event()
        except TimeoutError:
            return None


@asynccontextmanager
async def most_objects(place: Namespace) -> AsyncIterator[Counter]:
    """Watch the config maps of a namespace."""
    path = place.path("configmaps") + "?watch=true"
    async with place.driver.stream(path) as stream:
        counter = Counter(stream)
        counting = asyncio.create_task(counter.run())
        yield counter
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
