"""Fifty writers use up a quota on two servers, one of which is killed: none too many, none lost."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.faults.load import until
from tests.servers import Server, serving
from tests.wire import Address, Broken, Wire, connected

GROUPS = "tests.faults.impatient_quotas:GROUPS"
SECRETS = "/api/v1/namespaces/default/secrets"
QUOTA = "/api/v1/namespaces/default/resourcequotas/q"
NAME = "count/secrets"
HARD = 20
WRITERS = 50
ENOUGH = 60
"""Objects that are created before and after the server is killed."""


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


async def test_a_server_is_killed_among_writers_on_sqlite(tmp_path: Path) -> None:
    await kill_one_of_two(tmp_path, f"sqlite:///{tmp_path / 'store.sqlite'}", rounds=1)


@pytest.mark.torture
async def test_servers_are_killed_over_and_over_on_sqlite(tmp_path: Path) -> None:
    await kill_one_of_two(tmp_path, f"sqlite:///{tmp_path / 'store.sqlite'}", rounds=10)


@pytest.mark.torture
async def test_servers_are_killed_over_and_over_on_etcd(tmp_path: Path, etcd: str) -> None:
    url = f"etcd://{etcd}?prefix=/test-{uuid4().hex}"
    await kill_one_of_two(tmp_path, url, rounds=10)


async def kill_one_of_two(folder: Path, storage: str, *, rounds: int) -> None:
    with (
        serving(folder / "one", groups=[GROUPS], storage=storage) as one,
        serving(folder / "two", groups=[GROUPS], storage=storage) as two,
    ):
        two.request("POST", QUOTA.removesuffix("/q"), quota())
        await until(lambda: "hard" in status(one) and "hard" in status(two))
        books, watcher = Books(), Watcher(Address.of(two))
        writers = [Writer([Address.of(one), Address.of(two)], books, n) for n in range(WRITERS)]
        async with running(watcher, *writers):
            for number in range(rounds):
                await until(lambda: books.created >= (2 * number + 1) * ENOUGH)  # noqa: B023
                one.kill()
                await until(lambda: books.created >= (2 * number + 2) * ENOUGH)  # noqa: B023
                if number + 1 < rounds:
                    await asyncio.to_thread(one.start)
        assert two.request("DELETE", SECRETS).code == 200

        await until(lambda: status(two)["used"] == {NAME: "0"})
    assert books.refused > 0
    assert 0 < watcher.most <= HARD


def quota() -> dict[str, object]:
    return {"metadata": {"name": "q"}, "spec": {"hard": {NAME: str(HARD)}}}


def status(server: Server) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = server.request("GET", QUOTA).json["status"]
    return found


@asynccontextmanager
async def running(*clients: "Writer | Watcher") -> AsyncIterator[None]:
    """Let clients run beside the test; what one of them finds wrong fails the test."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.run()) for client in clients]
        yield
        for task in tasks:
            task.cancel()


class Books:
    """What the writers were told."""

    def __init__(self) -> None:
        self.created = 0
        self.refused = 0


class Writer:
    """Creates an object, keeps it for a moment and deletes it; over and over."""

    def __init__(self, addresses: list[Address], books: Books, number: int) -> None:
        self._addresses = addresses
        self._books = books
        self._number = number

    async def run(self) -> None:
        attempt = self._number
        while True:
            address = self._addresses[attempt % len(self._addresses)]
            try:
                async with connected(address) as wire:
                    await self._write(wire)
            except (Broken, TimeoutError):
                # What was being written may be stored or not.
                attempt += 1
                await asyncio.sleep(0.02)

    async def _write(self, wire: Wire) -> None:
        while True:
            name = f"s-{uuid4().hex}"
            answer = await wire.request("POST", SECRETS, {"metadata": {"name": name}})
            if answer.code == 201:
                self._books.created += 1
                await asyncio.sleep(0.1)
                answer = await wire.request("DELETE", f"{SECRETS}/{name}")
                assert answer.code == 200, answer.body
            else:
                assert answer.code == 403, answer.body
                self._books.refused += 1
                await asyncio.sleep(0.1)


class Watcher:
    """Counts the objects that exist at the same time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._names: set[str] = set()
        self.most = 0

    async def run(self) -> None:
        async with connected(self._address) as wire:
            await wire.send("GET", f"{SECRETS}?watch=true")
            await wire.head()
            async for line in wire.lines():
                event = json.loads(line)
                name = event["object"]["metadata"]["name"]
                if event["type"] == "DELETED":
                    self._names.discard(name)
                else:
                    self._names.add(name)
                self.most = max(self.most, len(self._names))
