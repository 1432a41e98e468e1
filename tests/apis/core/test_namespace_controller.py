"""Namespaces that are deleted get empty and go: over real stores, in one worker or several."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.codec import Codec
from apimachinery.errors import Conflict, InternalError, NotFound, ServiceUnavailable
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionResource
from apis.coordination.install import COORDINATION
from apis.core.controllers.namespace import NamespaceController
from apis.core.controllers.namespace_conditions import Findings, set_conditions
from apis.core.install import CORE
from apis.core.v1 import ConfigMap, Namespace, NamespaceStatus, Secret
from apiserver.registry.store_builder import assemble_store
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apis.core.emptying import StoredContents, StoredNamespaces, Stores, context_of
from tests.apis.groups import full_scheme

NAMESPACES = GroupResource("", "namespaces")
CONFIG_MAPS = GroupResource("", "configmaps")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = datetime(2030, 1, 2, tzinfo=UTC)


@dataclass
class Server:
    """Stores of two groups, and what happens in them."""

    stores: Stores
    namespaces: StoredNamespaces
    contents: StoredContents

    async def create(self, resource: str, obj: Object, namespace: str = "") -> Any:
        gvr = GroupVersion("", "v1").with_resource(resource)
        obj.metadata.namespace = namespace
        context = context_of("create", gvr, namespace=namespace, name=obj.metadata.name)
        return await self.stores[gvr.group_resource].create(obj, context)

    async def delete_namespace(self, name: str) -> tuple[Any, bool]:
        context = context_of("delete", NAMESPACES.with_version("v1"), name=name)
        return await self.stores[NAMESPACES].delete(name, None, context)

    async def release(self, name: str, namespace: str) -> None:
        """Take the finalizers off a ConfigMap."""

        def change(current: Any) -> Any:
            made = current.deep_copy()
            made.metadata.finalizers = []
            return made

        context = context_of(
            "update", CONFIG_MAPS.with_version("v1"), namespace=namespace, name=name
        )
        await self.stores[CONFIG_MAPS].update(name, change, context)

    def controller(self, **options: Any) -> NamespaceController:
        options = {"first_delay": 0.001, "last_delay": 0.01, **options}
        return NamespaceController(
            options.pop("namespaces", self.namespaces),
            options.pop("contents", self.contents),
            **options,
        )

    async def conditions(self, name: str) -> dict[str, tuple[str, str]]:
        found = await self.namespaces.get(name)
        assert found is not None
        return {c.type: (c.status, c.message) for c in found.status.conditions}


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    backend = await open_sqlite("sqlite://:memory:")
    codec, cache = Codec(full_scheme()), WatchCache(backend)
    stores = {
        GroupResource(group.name, resource.name): assemble_store(
            group, resource, codec=codec, backend=backend, cache=cache
        )
        for group in (CORE, COORDINATION)
        for resource in group.resources
    }
    async with cache:
        yield Server(
            stores,
            StoredNamespaces(stores[NAMESPACES]),
            StoredContents((CORE, COORDINATION), stores),
        )
    await backend.close()


@asynccontextmanager
async def running(*controllers: NamespaceController) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(controller.run()) for controller in controllers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(5):
        while not await condition():
            await asyncio.sleep(0)


async def gone(server: Server, name: str) -> None:
    async def is_gone() -> bool:
        return await server.namespaces.get(name) is None

    await until(is_gone)


def named(name: str, **meta: Any) -> ObjectMeta:
    return ObjectMeta(name=name, **meta)


async def fill(server: Server, namespace: str) -> None:
    await server.create("namespaces", Namespace(metadata=named(namespace)))
    for index in range(3):
        await server.create("configmaps", ConfigMap(metadata=named(f"c{index}")), namespace)
        await server.create("secrets", Secret(metadata=named(f"s{index}")), namespace)


async def test_deletion_only_marks(server: Server) -> None:
    await fill(server, "shop")

    marked, removed = await server.delete_namespace("shop")

    assert not removed
    assert marked.status.phase == "Terminating"
    assert marked.spec.finalizers == ["kubernetes"]


async def test_an_empty_namespace_goes_promptly(server: Server) -> None:
    await server.create("namespaces", Namespace(metadata=named("shop")))
    controller = NamespaceController(server.namespaces, server.contents)

    async with running(controller), asyncio.timeout(1):
        await server.delete_namespace("shop")
        await gone(server, "shop")


async def test_what_is_in_it_goes_first_and_nothing_else(server: Server) -> None:
    await fill(server, "shop")
    await fill(server, "office")

    async with running(server.controller()):
        await server.delete_namespace("shop")
        await gone(server, "shop")

    maps = GroupVersionResource("", "v1", "configmaps")
    assert await server.contents.remaining(maps, "shop") == []
    assert len(await server.contents.remaining(maps, "office")) == 3
    assert await server.namespaces.get("office") is not None


async def test_it_waits_for_finalizers_and_says_so(server: Server) -> None:
    await fill(server, "shop")
    held = ConfigMap(metadata=named("held", finalizers=["example.io/hold"]))
    await server.create("configmaps", held, "shop")
    await server.delete_namespace("shop")
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

    await server.release("held", "shop")

    assert await controller.sync("shop")
    assert await server.namespaces.get("shop") is None


async def test_it_comes_back_until_finalizers_are_gone(server: Server) -> None:
    await fill(server, "shop")
    held = ConfigMap(metadata=named("held", finalizers=["example.io/hold"]))
    await server.create("configmaps", held, "shop")

    async def waits() -> bool:
        conditions = await server.conditions("shop")
        return conditions.get("NamespaceContentRemaining", ("", ""))[0] == "True"

    async with running(server.controller()):
        await server.delete_namespace("shop")
        await until(waits)
        await server.release("held", "shop")
        await gone(server, "shop")


async def test_workers_do_not_get_into_each_others_way(server: Server) -> None:
    for index in range(8):
        await fill(server, f"n{index}")

    async with running(*(server.controller() for _ in range(3))):
        for index in range(8):
            await server.delete_namespace(f"n{index}")
        for index in range(8):
            await gone(server, f"n{index}")


async def test_a_restart_finds_what_was_begun(server: Server) -> None:
    await fill(server, "shop")
    await server.delete_namespace("shop")

    async with running(server.controller()):
        await gone(server, "shop")


async def test_a_namespace_may_come_again_under_its_name(server: Server) -> None:
    async with running(server.controller()):
        for _ in range(3):
            await fill(server, "shop")
            await server.delete_namespace("shop")
            await gone(server, "shop")


async def test_namespaces_that_are_not_deleted_are_left_alone(server: Server) -> None:
    await fill(server, "shop")

    assert await server.controller().sync("shop")
    assert await server.controller().sync("nowhere")

    assert await server.conditions("shop") == {}


async def test_others_may_hold_it_up_after_it_is_empty(server: Server) -> None:
    namespace = Namespace(metadata=named("shop"))
    namespace.spec.finalizers = ["example.io/mine"]
    await server.create("namespaces", namespace)
    await server.delete_namespace("shop")
    controller = server.controller()

    assert await controller.sync("shop")
    left = await server.namespaces.get("shop")
    assert left is not None
    assert left.spec.finalizers == ["example.io/mine"]

    left.spec.finalizers = []
    await server.namespaces.finalize(left)
    assert await server.namespaces.get("shop") is None


class Failing(StoredContents):
    """Fails for secrets as often as told, or cannot even say what there is."""

    def __init__(self, real: StoredContents, *, times: int, discovery: bool = False) -> None:
        self._real = real
        self._times = times
        self._discovery = discovery

    def resources(self) -> Iterable[GroupVersionResource]:
        if self._discovery and self._times:
            self._times -= 1
            raise ServiceUnavailable.of("groups are not known yet")
        return self._real.resources()

    async def delete_all(self, resource: GroupVersionResource, namespace: str) -> None:
        if resource.resource == "secrets" and self._times and not self._discovery:
            self._times -= 1
            raise InternalError.of("the disk is full")
        await self._real.delete_all(resource, namespace)

    async def remaining(
        self, resource: GroupVersionResource, namespace: str
    ) -> Sequence[ObjectMeta]:
        return await self._real.remaining(resource, namespace)


async def test_a_failure_is_shown_and_tried_again(server: Server) -> None:
    await fill(server, "shop")
    await server.delete_namespace("shop")
    controller = server.controller(contents=Failing(server.contents, times=1))

    assert not await controller.sync("shop")

    status, message = (await server.conditions("shop"))["NamespaceDeletionContentFailure"]
    assert (status, message) == (
        "True",
        "Failed to delete all resource types, 1 remaining: "
        "Internal error occurred: the disk is full",
    )
    assert await controller.sync("shop")
    assert await server.namespaces.get("shop") is None


async def test_nothing_is_let_go_while_resources_are_not_known(server: Server) -> None:
    await fill(server, "shop")
    await server.delete_namespace("shop")
    controller = server.controller(contents=Failing(server.contents, times=1, discovery=True))

    assert not await controller.sync("shop")

    found = (await server.conditions("shop"))["NamespaceDeletionDiscoveryFailure"]
    assert found == ("True", "groups are not known yet")


class Interrupted(StoredNamespaces):
    """A watch that breaks twice, and writes that somebody else beats once."""

    def __init__(self, real: StoredNamespaces) -> None:
        self._real = real
        self.broken = 2
        self.conflicts = 1

    async def get(self, name: str) -> Namespace | None:
        return await self._real.get(name)

    async def update_status(self, namespace: Namespace) -> Namespace:
        if self.conflicts:
            self.conflicts -= 1
            raise Conflict.modified(NAMESPACES, namespace.metadata.name)
        return await self._real.update_status(namespace)

    async def finalize(self, namespace: Namespace) -> Namespace:
        await self._real.finalize(namespace)
        raise NotFound.of(NAMESPACES, namespace.metadata.name)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Namespace]]:
        if self.broken:
            self.broken -= 1
            raise ConnectionError("the store went away")
        async with self._real.watch() as seen:
            yield seen


async def test_it_survives_broken_watches_and_conflicts(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(server, "shop")
    await server.delete_namespace("shop")
    flaky = Interrupted(server.namespaces)

    async with running(server.controller(namespaces=flaky)):
        await gone(server, "shop")

    assert (flaky.broken, flaky.conflicts) == (0, 0)
    assert "emptying namespace: watching failed; starting over" in caplog.text


def test_conditions_change_only_when_something_does() -> None:
    status = NamespaceStatus()
    maps = GroupVersionResource("", "v1", "configmaps")
    leases = GroupVersionResource("coordination.k8s.io", "v1", "leases")
    findings = Findings()
    findings.add(maps, [["a/b"], []])
    findings.add(leases, [["a/b", "c/d"]])

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
