"""Namespaces that are deleted get empty and go: on a real server, by one controller or several."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.errors import NotFound, ServiceUnavailable
from apimachinery.meta.types import ObjectMeta
from apimachinery.resources import ServedResource
from apimachinery.schema import GroupResource
from apis.core.controllers.namespace import NamespaceController
from apis.core.controllers.namespace_conditions import Findings, Remaining, set_conditions
from apis.core.v1 import ConfigMap, Namespace, NamespaceStatus, Secret
from client.interface import ResourceClient
from tests.apis.controlled import ControlledServer, controlled_server

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = datetime(2030, 1, 2, tzinfo=UTC)


class Server:
    """A server, and what happens to namespaces in it."""

    def __init__(self, real: ControlledServer) -> None:
        self.faults = real.faults
        self.running = real.running
        self.backend = real.app.groups.backend
        self.namespaces = real.client.of(Namespace)
        self._real = real

    def controller(self, resources: Any = None, stored: Any = None) -> NamespaceController:
        real = self._real
        return NamespaceController(
            real.controllers_client,
            resources or real.resources,
            stored or real.stored.in_namespace,
            real.resources.delete_unreachable,
        )

    def maps(self, namespace: str) -> ResourceClient[ConfigMap]:
        return self._real.client.of(ConfigMap, namespace=namespace)

    async def fill(self, namespace: str) -> None:
        await self.namespaces.create(Namespace(metadata=named(namespace)))
        secrets = self._real.client.of(Secret, namespace=namespace)
        for index in range(3):
            await self.maps(namespace).create(ConfigMap(metadata=named(f"c{index}")))
            await secrets.create(Secret(metadata=named(f"s{index}")))

    async def hold(self, namespace: str) -> None:
        """Put an object into a namespace that stays until it is released."""
        held = ConfigMap(metadata=named("held", finalizers=["example.io/hold"]))
        await self.maps(namespace).create(held)

    async def release(self, namespace: str) -> None:
        await self.maps(namespace).patch("held", {"metadata": {"finalizers": None}})

    async def is_gone(self, name: str) -> bool:
        try:
            await self.namespaces.get(name)
        except NotFound:
            return True
        return False

    async def gone(self, name: str) -> None:
        await self.namespaces.wait_deleted(name, timeout=10)

    async def conditions(self, name: str) -> dict[str, tuple[str, str]]:
        found = await self.namespaces.get(name)
        return {c.type: (c.status, c.message) for c in found.status.conditions}


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with controlled_server() as real:
        yield Server(real)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await condition():
            await asyncio.sleep(0.001)


def named(name: str, **meta: Any) -> ObjectMeta:
    return ObjectMeta(name=name, **meta)


async def test_deletion_only_marks(server: Server) -> None:
    await server.fill("shop")

    await server.namespaces.delete("shop")

    marked = await server.namespaces.get("shop")
    assert marked.status.phase == "Terminating"
    assert marked.spec.finalizers == ["kubernetes"]


async def test_an_empty_namespace_goes_promptly(server: Server) -> None:
    await server.namespaces.create(Namespace(metadata=named("shop")))

    async with server.running(server.controller()):
        await server.namespaces.delete("shop")
        await server.gone("shop")


async def test_what_is_in_it_goes_first_and_nothing_else(server: Server) -> None:
    await server.fill("shop")
    await server.fill("office")

    async with server.running(server.controller()):
        await server.namespaces.delete("shop")
        await server.gone("shop")

    assert (await server.maps("shop").list().all()).items == []
    assert len((await server.maps("office").list().all()).items) == 3
    assert not await server.is_gone("office")


async def test_it_waits_for_finalizers_and_says_so(server: Server) -> None:
    await server.fill("shop")
    await server.hold("shop")
    await server.namespaces.delete("shop")
    controller = server.controller()

    assert not await controller.sync("shop")

    assert await server.conditions("shop") == {
        "NamespaceDeletionDiscoveryFailure": ("False", "All resources successfully discovered"),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": (
            "True",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "True",
            "Some content in the namespace has finalizers remaining: "
            "example.io/hold in 1 resource instances",
        ),
    }

    await server.release("shop")

    assert await controller.sync("shop")
    assert await server.is_gone("shop")


async def test_it_comes_back_until_finalizers_are_gone(server: Server) -> None:
    await server.fill("shop")
    await server.hold("shop")

    async def waits() -> bool:
        conditions = await server.conditions("shop")
        return conditions.get("NamespaceContentRemaining", ("", ""))[0] == "True"

    async with server.running(server.controller()):
        await server.namespaces.delete("shop")
        await until(waits)
        await server.release("shop")
        await server.gone("shop")


async def test_overlapping_leaders_do_not_get_into_each_others_way(server: Server) -> None:
    for index in range(8):
        await server.fill(f"n{index}")

    async with server.running(*(server.controller() for _ in range(3))):
        for index in range(8):
            await server.namespaces.delete(f"n{index}")
        for index in range(8):
            await server.gone(f"n{index}")


async def test_a_restart_finds_what_was_begun(server: Server) -> None:
    await server.fill("shop")
    await server.namespaces.delete("shop")

    async with server.running(server.controller()):
        await server.gone("shop")


async def test_a_namespace_may_come_again_under_its_name(server: Server) -> None:
    async with server.running(server.controller()):
        for _ in range(3):
            await server.fill("shop")
            await server.namespaces.delete("shop")
            await server.gone("shop")


async def test_namespaces_that_are_not_deleted_are_left_alone(server: Server) -> None:
    await server.fill("shop")

    assert await server.controller().sync("shop")
    assert await server.controller().sync("nowhere")

    assert await server.conditions("shop") == {}


async def test_others_may_hold_it_up_after_it_is_empty(server: Server) -> None:
    namespace = Namespace(metadata=named("shop"))
    namespace.spec.finalizers = ["example.io/mine", "kubernetes"]
    await server.namespaces.create(namespace)
    await server.namespaces.delete("shop")
    controller = server.controller()

    assert await controller.sync("shop")
    left = await server.namespaces.get("shop")
    assert left.spec.finalizers == ["example.io/mine"]
    assert await controller.sync("shop")

    left.spec.finalizers = []
    await server.namespaces.subresource("finalize", Namespace).update(left)
    assert await server.is_gone("shop")


async def test_a_failure_is_shown_and_tried_again(server: Server) -> None:
    await server.fill("shop")
    await server.namespaces.delete("shop")
    server.faults.on("deletecollection", Secret).internal_error()
    controller = server.controller()

    assert not await controller.sync("shop")

    status, message = (await server.conditions("shop"))["NamespaceDeletionContentFailure"]
    assert (status, message) == (
        "True",
        "Failed to delete all resource types, 1 remaining: "
        "Internal error occurred: a fault of the test",
    )
    assert await controller.sync("shop")
    assert await server.is_gone("shop")


async def test_nothing_is_let_go_while_resources_are_not_known(server: Server) -> None:
    async def unknown() -> Sequence[ServedResource]:
        raise ServiceUnavailable.of("groups are not known yet")

    await server.fill("shop")
    await server.namespaces.delete("shop")

    assert not await server.controller(unknown).sync("shop")

    found = (await server.conditions("shop"))["NamespaceDeletionDiscoveryFailure"]
    assert found == ("True", "groups are not known yet")


async def test_it_survives_broken_watches_and_conflicts(server: Server) -> None:
    await server.fill("shop")
    await server.namespaces.delete("shop")
    server.faults.list(Namespace).gone()
    server.faults.watch(Namespace).refuse()
    server.faults.update(Namespace, "status").conflict()

    async with server.running(server.controller()):
        await server.gone("shop")


async def test_nothing_is_let_go_while_the_store_has_objects_in_it(server: Server) -> None:
    """Objects of a group that nobody serves any more are seen only in the store."""
    await server.fill("shop")
    await server.namespaces.delete("shop")
    key = "/registry/example.io/widgets/shop/{}".format
    for name in ("a", "b"):
        await server.backend.create(key(name), b'{"metadata":{"finalizers":["example.io/hold"]}}')
    await server.backend.create(key("c"), b"neither JSON nor an object")
    await server.backend.create("/registry/example.io/widgets/shopping/a", b"{}")
    await server.backend.create("/registry/example.io/places/shop", b"{}")
    controller = server.controller()

    assert not await controller.sync("shop")

    conditions = await server.conditions("shop")
    assert conditions["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: widgets.example.io has 3 resource instances",
    )
    assert conditions["NamespaceFinalizersRemaining"] == (
        "True",
        "Some content in the namespace has finalizers remaining: "
        "example.io/hold in 2 resource instances",
    )
    for name in ("a", "b", "c"):
        record = await server.backend.get(key(name))
        assert record is not None
        await server.backend.delete(key(name), revision=record.revision)
    assert await controller.sync("shop")
    assert await server.is_gone("shop")


async def test_a_store_that_does_not_answer_lets_nothing_go(server: Server) -> None:
    async def unavailable(namespace: str) -> Sequence[Remaining]:
        raise ServiceUnavailable.of("the store is away")

    await server.namespaces.create(Namespace(metadata=named("shop")))
    await server.namespaces.delete("shop")

    assert not await server.controller(stored=unavailable).sync("shop")

    status, message = (await server.conditions("shop"))["NamespaceDeletionContentFailure"]
    assert status == "True"
    assert message.endswith("1 remaining: the store is away")


async def test_the_conditions_that_another_server_writes_are_no_reason_to_hurry(
    server: Server,
) -> None:
    """Two servers that disagree would otherwise take turns without end."""
    await server.namespaces.create(Namespace(metadata=named("shop")))
    attempts: list[float] = []
    clock = asyncio.get_running_loop().time

    async def differing(namespace: str) -> Sequence[Remaining]:
        attempts.append(clock())
        return [Remaining(GroupResource("", "configmaps"), [[f"example.io/{len(attempts)}"]])]

    async def fourth() -> bool:
        return len(attempts) == 4

    async with server.running(server.controller(stored=differing)):
        await server.namespaces.delete("shop")
        await until(fourth)

    # Retries come after 0.1, 0.2 and 0.4 seconds.
    assert attempts[-1] - attempts[0] > 0.6


def test_conditions_change_only_when_something_does() -> None:
    status = NamespaceStatus()
    maps = Remaining(GroupResource("", "configmaps"), [["a/b"], []])
    leases = Remaining(GroupResource("coordination.k8s.io", "leases"), [["a/b", "c/d"]])
    findings = Findings(remaining=[maps, leases])

    assert set_conditions(status, findings, NOW)
    assert not set_conditions(status, findings, LATER)
    assert [c.message for c in status.conditions][-2:] == [
        "Some resources are remaining: configmaps. has 2 resource instances, "
        "leases.coordination.k8s.io has 1 resource instances",
        "Some content in the namespace has finalizers remaining: "
        "a/b in 2 resource instances, c/d in 1 resource instances",
    ]

    assert set_conditions(status, Findings(), LATER)
    times = {c.type: c.last_transition_time for c in status.conditions}
    assert times["NamespaceContentRemaining"] == LATER
    assert times["NamespaceDeletionContentFailure"] == NOW
