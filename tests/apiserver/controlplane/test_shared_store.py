"""Two servers with different groups on one store: neither acts as if the other's objects were not
there."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pytest

from apimachinery.meta.types import Object, ObjectMeta, OwnerReference
from apis.core.v1 import ConfigMap, Namespace
from apis.gadgets.install import GADGETS
from apis.gadgets.v1 import Gadget, GadgetSpec
from apiserver.app import App
from apiserver.evolution.running_servers import RunningServer
from apiserver.group import Group
from client.auth.auth_info import AuthInfo
from client.client import AsyncClient
from client.config import Config
from client.interface import ResourceClient
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apiserver.storage.etcd.etcd_server import start_etcd

T = TypeVar("T", bound=Object)

HELD = "example.io/hold"


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture(params=["sqlite", "etcd"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}?synchronous=off"
    return f"etcd://{request.getfixturevalue('etcd')}?prefix=/test-{uuid4().hex}"


@dataclass
class Server:
    """A server with its controllers, and a client of it."""

    app: App
    client: AsyncClient

    @property
    def namespaces(self) -> ResourceClient[Namespace]:
        return self.client.of(Namespace)

    async def has(self, message: str) -> None:
        """Wait until the namespace says what remains in it."""

        def says(namespace: Namespace) -> bool:
            conditions = {condition.type: condition for condition in namespace.status.conditions}
            found = conditions.get("NamespaceContentRemaining")
            return found is not None and (found.status, found.message) == ("True", message)

        await until(self.namespaces, "shop", says)


@asynccontextmanager
async def serving(url: str, *groups: Group) -> AsyncIterator[Server]:
    server = InMemoryServer(groups, storage=url)
    async with ASGITransport(server.app) as transport:
        config = Config("https://apiserver", auth=AuthInfo(token=server.token), user_agent="tests")
        client = AsyncClient(config, scheme=server.app.groups.scheme, transport=transport)
        yield Server(server.app, client)


async def until(objects: ResourceClient[T], name: str, holds: Callable[[T], bool]) -> T:
    async with asyncio.timeout(20):
        while not holds(obj := await objects.get(name)):
            await asyncio.sleep(0.005)
    return obj


async def filled(server: Server, **metadata: Any) -> ResourceClient[Gadget]:
    """Create a namespace with a gadget in it."""
    await server.namespaces.create(Namespace(metadata=ObjectMeta(name="shop")))
    gadgets = server.client.of(Gadget, namespace="shop")
    meta = ObjectMeta(name="lamp", **metadata)
    await gadgets.create(Gadget(metadata=meta, spec=GadgetSpec(model="a1")))
    return gadgets


REMAINS = "Some resources are remaining: gadgets.gadgets.example.io has 1 resource instances"


async def test_each_server_empties_a_namespace_of_what_it_serves(url: str) -> None:
    async with serving(url) as plain, serving(url, GADGETS) as full:
        gadgets = await filled(full, finalizers=[HELD])
        await plain.client.of(ConfigMap, namespace="shop").create(
            ConfigMap(metadata=ObjectMeta(name="a"))
        )

        await plain.namespaces.delete("shop")
        await plain.has(REMAINS)
        await gadgets.patch("lamp", {"metadata": {"finalizers": None}})

        await plain.namespaces.wait_deleted("shop", timeout=20)
        assert [obj async for obj in gadgets.list()] == []


async def test_a_namespace_stays_while_the_server_of_its_objects_is_away(url: str) -> None:
    async with serving(url) as plain:
        async with serving(url, GADGETS) as full:
            await filled(full)

        await plain.namespaces.delete("shop")
        await plain.has(REMAINS)

        found = await plain.namespaces.get("shop")
        assert found.spec.finalizers == ["kubernetes"]
        assert found.status.phase == "Terminating"
        async with serving(url, GADGETS):
            await plain.namespaces.wait_deleted("shop", timeout=20)


async def test_a_namespace_says_that_nobody_serves_what_remains(url: str) -> None:
    async with serving(url, GADGETS) as full:
        await filled(full)
    async with serving(url) as plain:
        other = RunningServer("plain", "1", 2, {"pods": ""})
        await plain.app.groups.backend.create(other.key, other.to_bytes())

        await plain.namespaces.delete("shop")

        await plain.has(REMAINS + "; no running server serves gadgets.gadgets.example.io")


async def test_objects_of_another_server_are_orphaned_too(url: str) -> None:
    """Otherwise its garbage collector would delete them, since their owner is absent."""
    async with serving(url, GADGETS) as full:
        await full.namespaces.create(Namespace(metadata=ObjectMeta(name="shop")))
        maps = full.client.of(ConfigMap, namespace="shop")
        owner = await maps.create(ConfigMap(metadata=ObjectMeta(name="owner")))
        reference = OwnerReference(
            api_version="v1", kind="ConfigMap", name="owner", uid=owner.metadata.uid
        )
        gadgets = full.client.of(Gadget, namespace="shop")
        meta = ObjectMeta(name="lamp", owner_references=[reference])
        before = await gadgets.create(Gadget(metadata=meta, spec=GadgetSpec(model="a1")))
    async with serving(url) as plain:
        maps = plain.client.of(ConfigMap, namespace="shop")
        await maps.delete("owner", propagation="Orphan")
        await maps.wait_deleted("owner", timeout=20)

    async with serving(url, GADGETS) as full:
        after = await full.client.of(Gadget, namespace="shop").get("lamp")
        assert after.metadata.owner_references == []
        assert after.metadata.uid == before.metadata.uid
        assert after.spec == before.spec


async def test_a_start_tells_of_objects_that_nobody_serves(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    warning = "objects of unserved resources are stored: "
    with caplog.at_level(logging.WARNING):
        async with serving(url, GADGETS) as full:
            await filled(full)
        assert warning not in caplog.text

        async with serving(url):
            async with asyncio.timeout(10):
                while warning not in caplog.text:
                    await asyncio.sleep(0.005)

    (line,) = [message for message in caplog.messages if message.startswith(warning)]
    assert line == (
        f"{warning}gadgets.gadgets.example.io (1); `apiserver storage list` shows all,"
        " `apiserver storage delete` removes leftovers"
    )
