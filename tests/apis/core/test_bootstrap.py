"""What every server has: created once, by whichever worker comes first."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from apis.core.bootstrap import NAMESPACES, bootstrap_objects, create_bootstrap_objects
from apis.core.install import CORE
from apis.core.v1 import Namespace, Service
from apis.core.v1.defaults.standard_kinds import set_service_defaults, set_service_port_defaults
from client.client import AsyncClient
from tests.apis.controlled import controlled_server

STRATEGIES = {resource.name: resource.strategy for resource in CORE.resources}


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    async with controlled_server() as server:
        yield server.client


async def test_workers_may_race(client: AsyncClient) -> None:
    await asyncio.gather(*(create_bootstrap_objects(client, port=8443) for _ in range(3)))

    namespaces = (await client.of(Namespace).list().all()).items
    assert {namespace.metadata.name for namespace in namespaces} == {*NAMESPACES}
    service = await client.of(Service, namespace="default").get("kubernetes")
    assert [(port.protocol, port.target_port) for port in service.spec.ports] == [("TCP", 8443)]


async def test_what_was_changed_is_left_alone(client: AsyncClient) -> None:
    await create_bootstrap_objects(client)
    namespaces = client.of(Namespace)
    changed = await namespaces.patch("kube-public", {"metadata": {"labels": {"a": "b"}}})

    await create_bootstrap_objects(client)

    assert await namespaces.get("kube-public") == changed


def test_the_objects_are_valid() -> None:
    for resource, obj in bootstrap_objects():
        strategy = STRATEGIES[resource.resource]
        if isinstance(obj, Service):
            set_service_defaults(obj)
            set_service_port_defaults(obj.spec.ports[0])
        strategy.prepare_for_create(obj)

        assert list(strategy.validate(obj)) == []
        assert strategy.name_errors(obj.metadata.name) == []


def test_the_service_leads_to_the_port_of_the_server() -> None:
    *_, (_, service) = bootstrap_objects(port=8443, cluster_ip="10.0.0.1")

    assert isinstance(service, Service)
    assert service.spec.cluster_ip == "10.0.0.1"
    assert service.spec.ports[0].model_dump(by_alias=True, mode="json") == {
        "name": "https",
        "protocol": "TCP",
        "port": 443,
        "targetPort": 8443,
    }


def test_every_call_makes_objects_of_its_own() -> None:
    first, second = list(bootstrap_objects()), list(bootstrap_objects())

    assert first == second
    assert first[0].object is not second[0].object
