"""Addresses and node ports of services: allocated once, released, and repaired."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from apimachinery.errors import APIError
from apimachinery.ip_addresses import parse_cidr
from apimachinery.schema import GroupResource
from apis.core.allocation.address_range import AddressRange
from apis.core.allocation.node_ports import RECORD_KEY, PortRange
from apis.core.allocation.service_allocation import ServiceAllocation
from apis.core.allocation.where_served import AllocationWhereServed
from apis.core.api_service import ensure_api_service
from apis.core.bootstrap import new_api_service
from apis.core.controllers.service_allocation_repair import ServiceAllocationRepair
from apis.core.v1 import Endpoints, Service
from apis.discovery.v1 import EndpointSlice
from apis.kubernetes import KUBERNETES
from apis.networking.v1 import IPAddress, ServiceCIDR
from apiserver.app import App
from apiserver.config import ServerConfig
from apiserver.group import Group
from client import PatchType
from client.auth.auth_info import AuthInfo
from client.client import AsyncClient
from client.config import Config
from client.testing.app_server import MEMORY, InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apiserver.storage.etcd.etcd_server import start_etcd

DUAL = ("10.0.0.0/24", "fd00::/112")
PORTS = [{"port": 80}]
LATER = datetime.now(UTC) + timedelta(minutes=5)


@dataclass
class Server:
    """A server and a client of it."""

    app: App
    client: AsyncClient

    async def create(self, name: str, **spec: Any) -> Service:
        document = {"metadata": {"name": name}, "spec": {"ports": PORTS, **spec}}
        return await self.client.of(Service).create(document)

    async def patch(self, name: str, **spec: Any) -> Service:
        return await self.client.of(Service).patch(name, {"spec": spec}, PatchType.MERGE)

    async def addresses(self) -> dict[str, str]:
        """Allocated address -> name of its service."""
        found = [address async for address in self.client.of(IPAddress).list()]
        return {
            address.metadata.name: address.spec.parent_ref.name
            for address in found
            if address.spec.parent_ref is not None
        }

    @property
    def allocation(self) -> ServiceAllocation:
        allocation = self.app.groups.store(GroupResource("", "services")).rules.allocation
        assert isinstance(allocation, AllocationWhereServed)
        found = allocation.find()
        assert found is not None
        return found

    async def allocated_ports(self) -> set[int]:
        return await self.allocation.ports.change(lambda plan: set(plan.allocated), dry_run=True)


@asynccontextmanager
async def serving(
    url: str = MEMORY, groups: tuple[Group, ...] = KUBERNETES, **settings: Any
) -> AsyncIterator[Server]:
    config = ServerConfig(**{"advertise_address": "192.0.2.7", **settings})
    server = InMemoryServer(groups, storage=url, config=config)
    async with ASGITransport(server.app) as transport:
        access = Config("https://apiserver", auth=AuthInfo(token=server.token), user_agent="tests")
        client = AsyncClient(access, scheme=server.app.groups.scheme, transport=transport)
        yield Server(server.app, client)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture(params=["sqlite", "etcd"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}?synchronous=off"
    return f"etcd://{request.getfixturevalue('etcd')}?prefix=/test-{uuid4().hex}"


async def test_a_service_has_an_address_and_ports_until_it_is_deleted(server: Server) -> None:
    created = await server.create("web", type="NodePort")

    address, (port,) = created.spec.cluster_ip, created.spec.ports
    assert created.spec.cluster_ips == [address]
    found = await server.client.of(IPAddress).get(address)
    assert found.metadata.labels == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    assert found.spec.parent_ref is not None
    assert found.spec.parent_ref.model_dump(by_alias=True) == {
        "resource": "services",
        "namespace": "default",
        "name": "web",
    }
    assert await server.allocated_ports() == {port.node_port}

    await server.client.of(Service).delete("web")

    assert address not in await server.addresses()
    assert await server.allocated_ports() == set()


async def test_the_api_service_has_the_first_address_and_endpoints(server: Server) -> None:
    service = await server.client.of(Service).get("kubernetes")
    cidr = await server.client.of(ServiceCIDR).get("kubernetes")
    endpoints = await server.client.of(Endpoints).get("kubernetes")
    slice_ = await server.client.of(EndpointSlice).get("kubernetes")

    assert (service.spec.cluster_ip, cidr.spec.cidrs) == ("10.0.0.1", ["10.0.0.0/24"])
    assert [(found.type, found.status) for found in cidr.status.conditions] == [("Ready", "True")]
    assert [address.ip for address in endpoints.subsets[0].addresses] == ["192.0.2.7"]
    assert [item.addresses for item in slice_.endpoints] == [["192.0.2.7"]]
    assert slice_.metadata.labels["kubernetes.io/service-name"] == "kubernetes"


async def test_servers_that_start_together_give_the_api_service_one_address(
    server: Server,
) -> None:
    await server.client.of(Service).delete("kubernetes")

    await asyncio.gather(*(ensure(server, now=datetime.now(UTC)) for _ in range(4)))

    assert await server.addresses() == {"10.0.0.1": "kubernetes"}
    assert (await server.client.of(Service).get("kubernetes")).spec.cluster_ip == "10.0.0.1"


async def test_an_address_without_its_api_service_is_released(server: Server) -> None:
    """A server stopped between the allocation and the write of the service."""
    await server.client.of(Service).delete("kubernetes")
    await server.allocation.ips.allocate("10.0.0.1", new_api_service(6443), dry_run=False)

    await ensure(server, now=LATER)

    assert (await server.client.of(Service).get("kubernetes")).spec.cluster_ip == "10.0.0.1"


async def ensure(server: Server, now: datetime) -> None:
    cidrs = ["10.0.0.0/24"]
    await ensure_api_service(
        server.client, new_api_service(6443), cidrs, now=lambda: now, delay=0.01
    )


MISMATCH = "the provided network does not match the current range"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"clusterIP": "10.0.0.1"},
            'spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1:'
            " provided IP is already allocated",
        ),
        (
            {"clusterIP": "1.2.3.4"},
            'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: '
            + MISMATCH,
        ),
        (
            {"clusterIP": "10.0.0.255"},
            'spec.clusterIPs: Invalid value: ["10.0.0.255"]: failed to allocate IP 10.0.0.255: '
            + MISMATCH,
        ),
        (
            {"clusterIP": "fd00::1"},
            'spec.clusterIPs[0]: Invalid value: ["fd00::1"]:'
            " IPv6 is not configured on this cluster",
        ),
        (
            {"ipFamilies": ["IPv6"]},
            'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack":'
            " this cluster is not configured for dual-stack services",
        ),
        (
            {"ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv4", "IPv6"]},
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or"
            " 'PreferDualStack' when multiple IP families are specified",
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range."
            " The range of valid ports is 30000-32767",
        ),
    ],
)
async def test_what_cannot_be_allocated(
    server: Server, spec: dict[str, Any], expected: str
) -> None:
    before = await server.addresses()

    with pytest.raises(APIError) as raised:
        await server.create("web", **spec)

    assert raised.value.message == f'Service "web" is invalid: {expected}'
    assert await server.addresses() == before


async def test_what_an_invalid_service_reserved_is_released(server: Server) -> None:
    before = await server.addresses()

    with pytest.raises(APIError, match=r"spec\.selector"):
        await server.create("web", type="NodePort", selector={"a b": "c"})

    assert await server.addresses() == before
    assert await server.allocated_ports() == set()


async def test_a_port_that_is_taken_leaves_no_address(server: Server) -> None:
    wanted = {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}
    await server.create("first", **wanted)
    before = await server.addresses()

    with pytest.raises(APIError) as raised:
        await server.create("second", **wanted)

    assert raised.value.message.endswith("30080: provided port is already allocated")
    assert await server.addresses() == before


async def test_a_dry_run_allocates_nothing(server: Server) -> None:
    document = {"metadata": {"name": "web"}, "spec": {"ports": PORTS, "type": "NodePort"}}

    tried = await server.client.of(Service).create(document, dry_run=True)

    assert tried.spec.cluster_ip and tried.spec.ports[0].node_port
    assert await server.addresses() == {"10.0.0.1": "kubernetes"}
    assert await server.allocated_ports() == set()


async def test_a_full_range_is_an_error_of_the_server() -> None:
    async with serving(
        service_cluster_ip_range=("10.0.0.0/30",), service_node_port_range="30000-30000"
    ) as server:
        await server.create("last", type="NodePort")

        with pytest.raises(APIError) as no_address:
            await server.create("web")
        with pytest.raises(APIError) as no_port:
            await server.patch("kubernetes", type="NodePort")

        assert (no_address.value.code, no_address.value.message) == (
            500,
            "Internal error occurred: failed to allocate a serviceIP for Service"
            ' "web": range is full',
        )
        assert no_port.value.message == (
            "Internal error occurred: failed to allocate a nodePort: range is full"
        )

        another = {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.1.0.0/24"]}}
        await server.client.of(ServiceCIDR).create(another)
        assert (await server.create("web")).spec.cluster_ip.startswith("10.1.0.")


async def test_protocols_of_a_port_share_its_node_port(server: Server) -> None:
    ports = [
        {"name": "a", "port": 53, "protocol": "TCP"},
        {"name": "b", "port": 53, "protocol": "UDP"},
    ]

    first, second = (await server.create("dns", type="NodePort", ports=ports)).spec.ports

    assert first.node_port == second.node_port


async def test_a_change_of_the_type_releases_what_is_not_needed(server: Server) -> None:
    await server.create("web", type="NodePort", clusterIP="10.0.0.50")

    changed = await server.patch("web", type="ExternalName", externalName="a.example.com")

    assert (changed.spec.cluster_ips, changed.spec.ports[0].node_port) == ([], 0)
    assert "10.0.0.50" not in await server.addresses()
    assert await server.allocated_ports() == set()

    again = await server.patch("web", type="ClusterIP", externalName=None)
    assert (await server.addresses())[again.spec.cluster_ip] == "web"


async def test_headless_services_have_no_address(server: Server) -> None:
    headless = await server.create("web", clusterIP="None")

    assert headless.spec.ip_families == ["IPv4", "IPv6"]
    assert headless.spec.ip_family_policy == "RequireDualStack"
    assert await server.addresses() == {"10.0.0.1": "kubernetes"}


async def test_health_checks_have_a_node_port_while_they_are_needed(server: Server) -> None:
    created = await server.create("web", type="LoadBalancer", externalTrafficPolicy="Local")
    port = created.spec.health_check_node_port
    assert port in await server.allocated_ports()

    changed = await server.patch("web", externalTrafficPolicy="Cluster")

    assert changed.spec.health_check_node_port == 0
    assert await server.allocated_ports() == {changed.spec.ports[0].node_port}


async def test_a_balancer_may_go_without_node_ports(server: Server) -> None:
    created = await server.create("web", type="LoadBalancer", allocateLoadBalancerNodePorts=False)

    assert created.spec.ports[0].node_port == 0


async def test_an_update_keeps_what_it_leaves_out(server: Server) -> None:
    created = await server.create("web", type="NodePort")

    document = {"metadata": {"name": "web"}, "spec": {"ports": PORTS, "type": "NodePort"}}
    replaced = await server.client.of(Service).update(document)

    assert replaced.spec == created.spec
    assert len(await server.allocated_ports()) == 1


async def test_dual_stack_services_gain_and_lose_their_second_address() -> None:
    async with serving(service_cluster_ip_range=DUAL) as server:
        single = await server.create("web")
        assert (single.spec.ip_families, len(single.spec.cluster_ips)) == (["IPv4"], 1)

        dual = await server.patch("web", ipFamilyPolicy="PreferDualStack")
        assert dual.spec.ip_families == ["IPv4", "IPv6"]
        first, second = dual.spec.cluster_ips
        assert first == single.spec.cluster_ip and second.startswith("fd00::")
        assert (await server.addresses())[second] == "web"

        again = await server.patch("web", ipFamilyPolicy="SingleStack")
        assert (again.spec.cluster_ips, again.spec.ip_families) == ([first], ["IPv4"])
        assert second not in await server.addresses()

        with pytest.raises(APIError, match="may not change once set"):
            await server.patch("web", clusterIP="10.0.0.77", clusterIPs=["10.0.0.77"])


async def test_servers_on_one_store_never_allocate_twice(url: str) -> None:
    async with serving(url) as one, serving(url) as other:
        made = await asyncio.gather(
            *(
                server.create(f"{place}-{number}", type="NodePort")
                for place, server in (("one", one), ("other", other))
                for number in range(12)
            )
        )

        addresses = {service.spec.cluster_ip for service in made}
        ports = {service.spec.ports[0].node_port for service in made}
        assert (len(addresses), len(ports)) == (24, 24)
        assert set(await one.addresses()) == {"10.0.0.1", *addresses}
        assert await other.allocated_ports() == ports


async def test_the_same_address_is_given_to_one_of_two(url: str) -> None:
    async with serving(url) as one, serving(url) as other:
        results = await asyncio.gather(
            one.create("a", clusterIP="10.0.0.50"),
            other.create("b", clusterIP="10.0.0.50"),
            return_exceptions=True,
        )

        assert sorted(type(result).__name__ for result in results) == ["Invalid", "Service"]


async def test_what_a_crash_left_is_released(server: Server) -> None:
    repair = ServiceAllocationRepair(server.client, server.allocation.ports)
    orphan = Service.model_validate({"metadata": {"name": "gone", "namespace": "default"}})
    address = await server.allocation.ips.allocate_next("IPv4", orphan, dry_run=False)
    await server.allocation.ports.change(lambda plan: plan.allocate(30080))

    await repair.repair(datetime.now(UTC))
    assert address in await server.addresses(), "its service may still be written"
    for _ in range(2):
        await repair.repair(LATER)

    assert await server.addresses() == {"10.0.0.1": "kubernetes"}
    assert await server.allocated_ports() == set()


async def test_lost_allocations_are_restored(server: Server) -> None:
    created = await server.create("web", type="NodePort")
    backend = server.app.groups.store(GroupResource("", "services")).backend
    await server.client.of(IPAddress).delete(created.spec.cluster_ip)
    record = await backend.get(RECORD_KEY)
    assert record is not None
    await backend.delete(RECORD_KEY, revision=record.revision)

    await ServiceAllocationRepair(server.client, server.allocation.ports).repair(LATER)

    assert (await server.addresses())[created.spec.cluster_ip] == "web"
    assert await server.allocated_ports() == {created.spec.ports[0].node_port}


async def test_services_of_the_small_set_get_what_they_lack(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}?synchronous=off"
    async with serving(url, groups=()) as small:
        before = await small.create("web", type="NodePort")
        assert (before.spec.cluster_ips, before.spec.ports[0].node_port) == ([], 0)

    async with serving(url) as server:
        await ServiceAllocationRepair(server.client, server.allocation.ports).repair(LATER)

        after = await server.client.of(Service).get("web")
        assert (await server.addresses())[after.spec.cluster_ip] == "web"
        assert await server.allocated_ports() == {after.spec.ports[0].node_port}
        api = await server.client.of(Service).get("kubernetes")
        assert api.spec.cluster_ip == "10.0.0.1"


@pytest.mark.parametrize(
    ("cidr", "lower", "size"),
    [("10.0.0.0/24", 16, 254), ("10.0.0.0/29", 0, 6), ("fd00::/112", 256, 65535)],
)
def test_the_upper_part_of_a_range_is_used_first(cidr: str, lower: int, size: int) -> None:
    parsed = parse_cidr(cidr)
    assert parsed is not None
    first = int(parsed.network.network_address) + 1

    candidates = [int(found) for found in AddressRange(parsed.network).candidates(Random(1))]

    assert len(candidates) == len(set(candidates)) == size
    assert all(number - first >= lower for number in candidates[: size - lower])


@pytest.mark.parametrize(
    ("text", "expected"), [("30000-32767", (30000, 32767)), ("1+2", (1, 3)), ("7", (7, 7))]
)
def test_port_ranges(text: str, expected: tuple[int, int]) -> None:
    found = PortRange.parse(text)

    assert (found.first, found.last) == expected


@pytest.mark.parametrize("text", ["", "a-b", "5-4", "0-4", "1-70000"])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        PortRange.parse(text)
