"""What every server has: created once, by whichever worker comes first."""

import asyncio

from apimachinery.errors import AlreadyExists
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apis.core.bootstrap import bootstrap_objects, create_bootstrap_objects
from apis.core.install import CORE
from apis.core.v1 import Service

STRATEGIES = {resource.name: resource.strategy for resource in CORE.resources}


class Shelf:
    """Keeps objects by name, as a registry would, and lets others in between."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.refused = 0

    async def create(self, resource: GroupResource, obj: Object) -> Object:
        await asyncio.sleep(0)
        key = (resource.resource, obj.metadata.namespace, obj.metadata.name)
        if key in self.objects:
            self.refused += 1
            raise AlreadyExists.of(resource, obj.metadata.name)
        self.objects[key] = obj
        return obj


async def test_namespaces_come_before_what_is_in_them() -> None:
    shelf = Shelf()

    await create_bootstrap_objects(shelf)

    assert list(shelf.objects) == [
        ("namespaces", "", "default"),
        ("namespaces", "", "kube-system"),
        ("namespaces", "", "kube-public"),
        ("namespaces", "", "kube-node-lease"),
        ("services", "default", "kubernetes"),
    ]


async def test_workers_may_race() -> None:
    shelf = Shelf()

    await asyncio.gather(*(create_bootstrap_objects(shelf) for _ in range(3)))

    assert len(shelf.objects) == 5
    assert shelf.refused == 10


def test_the_objects_are_valid() -> None:
    for resource, obj in bootstrap_objects():
        strategy = STRATEGIES[resource.resource]
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
