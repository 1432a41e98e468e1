"""The endpoints of the service `kubernetes`: they have the servers that run, and no others."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from apis.core.v1 import Endpoints
from apis.discovery.v1 import EndpointSlice
from apiserver.config import ServerConfig
from apiserver.controlplane.server_addresses import LEASES, AddressLease, ServerEndpoints
from apiserver.controlplane.server_addresses import advertised as advertising
from apiserver.storage.etcd.backend import open_etcd
from apiserver.storage.interface import Backend
from apiserver.storage.sqlite.backend import open_sqlite
from client.client import AsyncClient
from tests.apis.core.test_service_allocation import Server, serving
from tests.apiserver.storage.conftest import SettableClock
from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.apiserver.storage.reading import take

ONE, OTHER, GONE = "192.0.2.1", "192.0.2.2", "192.0.2.3"


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture(params=["sqlite", "etcd"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}?synchronous=off"
    return f"etcd://{request.getfixturevalue('etcd')}?prefix=/test-{uuid4().hex}"


@asynccontextmanager
async def opened(url: str, clock: SettableClock) -> AsyncIterator[Backend]:
    """A store whose keys expire by a clock of ours, if it lets us."""
    is_etcd = url.startswith("etcd")
    backend = await (open_etcd(url) if is_etcd else open_sqlite(url, clock=clock))
    yield backend
    await backend.close()


async def advertised(client: AsyncClient) -> list[str]:
    """The addresses of the Endpoints, which those of the EndpointSlice must be as well."""
    addresses, in_slice = await in_both(client)
    assert in_slice == addresses
    return addresses


async def in_both(client: AsyncClient) -> tuple[list[str], list[str]]:
    endpoints = await client.of(Endpoints).get("kubernetes")
    slice_ = await client.of(EndpointSlice).get("kubernetes")
    addresses = [item.ip for subset in endpoints.subsets for item in subset.addresses]
    return addresses, [address for item in slice_.endpoints for address in item.addresses]


def endpoints_of(server: Server, address: str) -> ServerEndpoints:
    return ServerEndpoints(server.client, AddressLease(server.app.backend, address), 6443)


async def test_the_address_of_a_server_that_was_killed_expires(url: str) -> None:
    clock = SettableClock()
    async with opened(url, clock) as backend:
        killed, running = AddressLease(backend, GONE, ttl=1), AddressLease(backend, ONE)
        await killed.renew()
        await running.renew()
        both = await running.addresses()
        async with backend.watch(LEASES, after=await backend.current_revision()) as feed:
            clock.advance(1)
            (expired,) = await take(feed, 1)

        assert both == [ONE, GONE]
        assert expired.value is None
        assert await running.addresses() == [ONE]


async def test_a_lease_that_is_renewed_does_not_expire(url: str) -> None:
    clock = SettableClock()
    async with opened(url, clock) as backend:
        renewed, first = AddressLease(backend, ONE, ttl=3), AddressLease(backend, GONE, ttl=1)
        await renewed.renew()
        clock.advance(2.5)
        await renewed.renew()
        await first.renew()
        async with backend.watch(LEASES, after=await backend.current_revision()) as feed:
            clock.advance(1)
            await take(feed, 1)

        assert await renewed.addresses() == [ONE]


async def test_servers_that_come_and_go_are_in_the_endpoints_while_they_run(url: str) -> None:
    async with serving(url, advertise_address=ONE) as first:
        alone = await advertised(first.client)
        async with serving(url, advertise_address=OTHER) as second:
            both = await advertised(second.client)

        assert (alone, both) == ([ONE], [ONE, OTHER])
        assert await advertised(first.client) == [ONE]


async def test_what_was_written_without_a_lease_is_removed(url: str) -> None:
    """Such as the address of a server that was killed, once its lease has expired."""
    async with serving(url, advertise_address=ONE) as server:
        endpoints = await server.client.of(Endpoints).get("kubernetes")
        endpoints.subsets[0].addresses[0].ip = GONE
        await server.client.of(Endpoints).update(endpoints)

        await endpoints_of(server, ONE).reconcile()

        assert await advertised(server.client) == [ONE]


async def test_the_endpoints_are_reconciled_again_and_again(url: str) -> None:
    async with serving(url, advertise_address=ONE) as server:
        config = ServerConfig(advertise_address=ONE)
        lease = AddressLease(server.app.backend, OTHER)
        await lease.renew()
        async with advertising(server.app, server.client, config, interval=0.01):
            while await in_both(server.client) != ([ONE, OTHER], [ONE, OTHER]):
                await asyncio.sleep(0)
            await lease.release()
            while await in_both(server.client) != ([ONE], [ONE]):
                await asyncio.sleep(0)


async def test_a_worker_that_stops_leaves_the_address_to_the_others(url: str) -> None:
    async with serving(url, advertise_address=ONE) as server:
        worker = endpoints_of(server, ONE)
        await worker.reconcile()
        await worker.remove()

        assert await advertised(server.client) == [ONE]


async def test_the_last_server_removes_its_address(url: str) -> None:
    async with serving(url, advertise_address=ONE):
        pass
    clock = SettableClock()
    async with opened(url, clock) as backend:
        leases = (await backend.range(LEASES)).records
        stored = await backend.get("/registry/core/endpoints/default/kubernetes")

    assert leases == []
    assert stored is not None
    assert b"192.0.2.1" not in stored.value
