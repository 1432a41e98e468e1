"""ServiceCIDRs that are deleted: they stay while services have addresses of them alone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from apimachinery.errors import APIError, NotFound
from apis.core.controllers.service_cidr_protection import (
    GRACE,
    IS_READY,
    STILL_USED,
    ServiceCIDRProtection,
)
from apis.core.v1 import Namespace, Service
from apis.kubernetes import KUBERNETES
from apis.networking.v1 import IPAddress, ServiceCIDR
from apis.networking.v1.service_cidr import SERVICE_CIDR_FINALIZER
from apiserver.admission.configuration import AdmissionConfiguration
from apiserver.config import ServerConfig
from apiserver.controlplane.standard_server import standard_groups, with_standard
from apiserver.server_parts import ServerParts
from tests.apis.controlled import ControlledServer, controlled_server
from tests.roles import standard_authorizer
from tests.servers import serving as running_server

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=1)


@pytest.fixture
async def server() -> AsyncIterator[ControlledServer]:
    """A server that runs no controllers, with one range."""
    parts = ServerParts(
        config=ServerConfig(),
        authorizer=standard_authorizer(),
        accounts=cast(Any, None),  # no token is asked for
        find_store=lambda name: running.app.groups.store(name),
        find_resource=lambda kind: "",
        check_store=no_members,
        webhooks=cast(Any, None),  # no webhook is called
        admission_configuration=AdmissionConfiguration(),
        admission_metrics=cast(Any, None),
        versions=cast(Any, None),  # and no object is shown to one
    )
    groups = [group.completed(parts) for group in with_standard(KUBERNETES, standard_groups())]
    async with controlled_server(*groups) as running:
        await running.client.of(Namespace).create({"metadata": {"name": "default"}})
        await create_range(running, "first", "10.1.0.0/24")
        yield running


async def no_members() -> list[str]:
    return []


@pytest.fixture
def protection(server: ControlledServer) -> ServiceCIDRProtection:
    return ServiceCIDRProtection(server.client)


async def create_range(server: ControlledServer, name: str, *cidrs: str) -> ServiceCIDR:
    document = {"metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}}
    return await server.client.of(ServiceCIDR).create(document)


async def create_service(server: ControlledServer, name: str, **spec: str) -> Service:
    document = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}
    return await server.client.of(Service).create(document)


async def ready(server: ControlledServer, name: str) -> tuple[str, str, str]:
    """The status, the reason and the message of the condition Ready."""
    found = await server.client.of(ServiceCIDR).get(name)
    (condition,) = found.status.conditions
    return condition.status, condition.reason, condition.message


async def is_gone(server: ControlledServer, name: str) -> bool:
    try:
        await server.client.of(ServiceCIDR).get(name)
    except NotFound:
        return True
    return False


async def test_every_range_has_a_finalizer_and_is_ready(
    server: ControlledServer, protection: ServiceCIDRProtection
) -> None:
    await protection.sync(NOW)
    first = await server.client.of(ServiceCIDR).get("first")
    await protection.sync(LATER)

    assert first.metadata.finalizers == [SERVICE_CIDR_FINALIZER]
    assert await ready(server, "first") == ("True", "", IS_READY)
    assert await server.client.of(ServiceCIDR).get("first") == first, "nothing to write again"


async def test_finalizers_of_others_stay(
    server: ControlledServer, protection: ServiceCIDRProtection
) -> None:
    ranges = server.client.of(ServiceCIDR)
    await ranges.patch("first", {"metadata": {"finalizers": ["example.io/mine"]}})
    await protection.sync(NOW)
    both = (await ranges.get("first")).metadata.finalizers

    await ranges.delete("first")
    await protection.sync(LATER)

    assert both == ["example.io/mine", SERVICE_CIDR_FINALIZER]
    assert (await ranges.get("first")).metadata.finalizers == ["example.io/mine"]


async def test_a_range_stays_until_its_last_address_is_released(
    server: ControlledServer, protection: ServiceCIDRProtection
) -> None:
    await create_service(server, "web", clusterIP="10.1.0.7")
    await protection.sync(NOW)
    await server.client.of(ServiceCIDR).delete("first")

    await protection.sync(LATER)
    used = await ready(server, "first")
    await server.client.of(Service).delete("web")
    await protection.sync(LATER)

    assert used == ("False", "Terminating", STILL_USED)
    assert await is_gone(server, "first")


async def test_no_service_gets_an_address_of_a_deleted_range(
    server: ControlledServer, protection: ServiceCIDRProtection
) -> None:
    await protection.sync(NOW)
    await server.client.of(ServiceCIDR).delete("first")

    with pytest.raises(APIError, match="the provided network does not match the current range"):
        await create_service(server, "chosen", clusterIP="10.1.0.7")
    with pytest.raises(APIError):
        await create_service(server, "any")
    assert [address async for address in server.client.of(IPAddress).list()] == []


async def test_a_deleted_range_stays_for_a_while_in_any_case(
    server: ControlledServer, protection: ServiceCIDRProtection
) -> None:
    """Another server may still allocate from it."""
    await protection.sync(NOW)
    deleted = await server.client.of(ServiceCIDR).delete("first")
    assert isinstance(deleted, ServiceCIDR)
    since = deleted.metadata.deletion_timestamp
    assert since is not None

    wait = await protection.sync(since + timedelta(seconds=4))
    stays = not await is_gone(server, "first")
    await protection.sync(since + GRACE)

    assert (wait, stays) == (timedelta(seconds=6), True)
    assert await is_gone(server, "first")


@pytest.mark.parametrize(
    ("cidr", "goes"),
    [
        ("10.1.0.0/24", True),
        ("10.1.0.0/16", True),
        ("10.1.0.0/28", True),  # it has the only address that is allocated
        ("10.1.0.128/25", False),
        ("10.1.0.7/32", False),  # the only address of which is that of the network
        ("fd00::/112", False),
    ],
)
async def test_a_range_goes_when_another_has_its_addresses(
    server: ControlledServer, protection: ServiceCIDRProtection, cidr: str, goes: bool
) -> None:
    await create_service(server, "web", clusterIP="10.1.0.7")
    await protection.sync(NOW)
    await server.client.of(ServiceCIDR).delete("first")
    await protection.sync(LATER)

    await create_range(server, "second", cidr)
    await protection.sync(LATER)

    assert await is_gone(server, "first") == goes


async def test_addresses_that_no_service_has_keep_nothing(
    server: ControlledServer, protection: ServiceCIDRProtection
) -> None:
    parent = {"resource": "things", "name": "mine"}
    document = {"metadata": {"name": "10.1.0.9"}, "spec": {"parentRef": parent}}
    await server.client.of(IPAddress).create(document)
    await protection.sync(NOW)
    await server.client.of(ServiceCIDR).delete("first")

    await protection.sync(LATER)

    assert await is_gone(server, "first")


async def until(server: ControlledServer, is_so: Callable[[ServiceCIDR], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so(await server.client.of(ServiceCIDR).get("first")):
            await asyncio.sleep(0)


async def test_the_controller_follows_ranges_and_addresses(server: ControlledServer) -> None:
    await create_service(server, "web", clusterIP="10.1.0.7")
    protection = ServiceCIDRProtection(server.controllers_client, grace=timedelta())
    async with server.running(protection), asyncio.timeout(20):
        await until(server, lambda found: bool(found.metadata.finalizers))
        await server.client.of(ServiceCIDR).delete("first")
        await until(server, lambda found: [c.status for c in found.status.conditions] == ["False"])
        await server.client.of(Service).delete("web")
        while not await is_gone(server, "first"):
            await asyncio.sleep(0)


def test_a_server_protects_the_range_of_its_configuration(tmp_path: Path) -> None:
    path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"
    with running_server(tmp_path, groups=["apis.kubernetes:KUBERNETES"]) as server:
        while not (found := server.request("GET", path).json["metadata"]).get("finalizers"):
            pass

    assert found["finalizers"] == [SERVICE_CIDR_FINALIZER]
