"""KUBERNETES: one tuple of groups that every way to start a server takes."""

from collections.abc import Sequence
from dataclasses import replace

from apimachinery.model.class_building import unbuilt_classes
from apimachinery.scheme import Scheme
from apis.core.install import CORE
from apis.core.v1 import ServiceAccount
from apis.gadgets.install import GADGETS
from apis.gadgets.v1 import Gadget
from apis.kubernetes import KUBERNETES
from apiserver.app import App
from apiserver.controlplane.class_warming import build_stable_classes
from apiserver.controlplane.standard_server import beyond, standard_groups, with_standard
from apiserver.evolution.catalogue import SHAPES
from apiserver.group import Group
from apiserver.group_check import register_groups
from client.testing import environment
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apiserver.http.driver import Driver


def resources(groups: Sequence[Group]) -> set[str]:
    return {f"{group.name}/{resource.name}" for group in groups for resource in group.resources}


def test_the_full_core_group_describes_the_standard_resources_as_the_small_one_does() -> None:
    full = next(group for group in KUBERNETES if not group.name)

    assert [resource for resource in full.resources if resource in CORE.resources] == [
        *CORE.resources
    ]


def test_what_is_beyond_the_standard_groups() -> None:
    standard = standard_groups()

    assert beyond(standard, standard) == []
    assert beyond(standard, [GADGETS]) == [GADGETS]
    assert resources(beyond(standard, KUBERNETES)).isdisjoint(resources(standard))


def test_stable_groups_pass_the_checks_that_a_start_leaves_out() -> None:
    groups = with_standard([replace(each, stable=False) for each in KUBERNETES], standard_groups())

    assert all(group.stable for group in KUBERNETES)
    assert register_groups(groups, Scheme()) == []


async def test_shapes_are_catalogued_before_the_first_write() -> None:
    server = InMemoryServer(KUBERNETES)
    async with ASGITransport(server.app):
        driver = Driver(server.app, authorization=f"Bearer {server.token}")
        before = await catalogued(server.app)

        made = await driver.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "a"}})

        assert made.code == 201
        assert "core/secrets" not in before
        assert "core/secrets" in await catalogued(server.app)


async def catalogued(app: App) -> set[str]:
    """The resources whose shapes are in the catalogue of the store."""
    records = (await app.groups.backend.range(SHAPES)).records
    names = (record.key.removeprefix(SHAPES).split("/") for record in records)
    return {f"{group}/{resource}" for group, resource, *_ in names}


async def test_classes_are_built_while_the_server_serves() -> None:
    server = InMemoryServer(KUBERNETES)
    async with ASGITransport(server.app):
        await build_stable_classes(server.app.groups, delay=0.0)

    classes = [resource.cls for group in KUBERNETES for resource in group.resources]
    assert list(unbuilt_classes(classes)) == []


async def test_an_environment_takes_them_with_a_group_of_ones_own() -> None:
    async with environment([*KUBERNETES, GADGETS]) as env:
        await env.client.of(Gadget).create({"metadata": {"name": "a"}, "spec": {"model": "a1"}})
        accounts = env.client.of(ServiceAccount)
        await accounts.create({"metadata": {"name": "builder"}})

        token = await accounts.subresource("token").create("builder", {"spec": {}})

        assert token["status"]["token"], "the server completes the core group"
