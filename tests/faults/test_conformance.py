"""The REST conformance suite over real servers: every store, alone and with several workers.

The requests of a test go over several connections in turn, each to whichever worker accepted it,
so the suite also shows that what one of them has written is seen by all.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle
from typing import Any

import pytest
import pytest_asyncio

from tests.apiserver.http import test_rest_conformance as suite
from tests.apiserver.http.test_rest_conformance import *  # noqa: F403  # the suite
from tests.apiserver.http.test_rest_conformance import Case
from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.faults.load import PATIENCE
from tests.servers import Server, serving
from tests.wire import Address, Answer, Wire, connected

pytestmark = [  # type: ignore[assignment]
    suite.pytestmark,
    pytest.mark.asyncio(loop_scope="module"),
]

KINDS = [(storage, workers) for storage in ("sqlite", "etcd") for workers in (1, 3)]
CONNECTIONS = 7
OWN = frozenset({"one", "two", "none"})


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}-{kind[1]}")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    storage, workers = request.param
    folder = tmp_path_factory.mktemp("server")
    if storage == "sqlite":
        with serving(folder, workers=workers) as running:
            yield running
        return
    with (
        start_etcd(folder / "etcd") as address,
        serving(folder, storage=f"etcd://{address}", workers=workers) as running,
    ):
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wires(server: Server) -> AsyncIterator[list[Wire]]:
    address = Address.of(server)
    async with AsyncExitStack() as opened:
        yield [await opened.enter_async_context(connected(address)) for _ in range(CONNECTIONS)]


@pytest_asyncio.fixture(loop_scope="module")  # type: ignore[no-redef]  # the suite has another
async def client(server: Server, wires: list[Wire], case: Case) -> AsyncIterator["Client"]:
    made = Client(Address.of(server), wires)
    yield made
    await made.clear(case.collection)


class Client:
    """What the suite wants of a client."""

    def __init__(self, address: Address, wires: list[Wire]) -> None:
        self._address = address
        self._wires = cycle(wires)

    async def send(
        self, method: str, url: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return await next(self._wires).request(method, url, json, headers=headers)

    async def get(self, url: str, **headers: str) -> Answer:
        return await self.send("GET", url, headers=headers)

    async def post(self, url: str, json: Any = None) -> Answer:
        return await self.send("POST", url, json=json)

    async def put(self, url: str, json: Any = None) -> Answer:
        return await self.send("PUT", url, json=json)

    async def delete(self, url: str, json: Any = None) -> Answer:
        return await self.send("DELETE", url, json=json)

    async def patch(self, url: str, json: Any) -> Answer:
        headers = {"Content-Type": "application/merge-patch+json"}
        return await self.send("PATCH", url, json=json, headers=headers)

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator["Stream"]:
        async with connected(self._address) as wire:
            await wire.send("GET", url)
            code, _ = await wire.head()
            yield Stream(wire, code)

    async def clear(self, collection: str) -> None:
        """Delete what a test has made, and wait until it is gone."""
        async with asyncio.timeout(PATIENCE):
            while names := await self._left(collection):
                for name in names:
                    url = f"{collection}/{name}"
                    await self.patch(url, {"metadata": {"finalizers": None}})
                    await self.delete(url)

    async def _left(self, collection: str) -> list[str]:
        listed = await self.get(collection)
        names = [item["metadata"]["name"] for item in listed.json["items"]]
        return [name for name in names if name in OWN or name.startswith("gen-")]


class Stream:
    """A watch of the suite."""

    def __init__(self, wire: Wire, code: int) -> None:
        self.code = code
        self._lines = wire.lines()

    async def events(self, count: int) -> list[Any]:
        async with asyncio.timeout(PATIENCE):
            return [json.loads(await anext(self._lines)) for _ in range(count)]
