"""What an owner's deletion means for what it owns, on a real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest

from apimachinery.errors import NotFound
from apimachinery.meta.types import ObjectMeta, OwnerReference
from apimachinery.resources import ServedResource
from apimachinery.schema import GroupVersionKind
from apis.core.controllers.garbage_collection import GarbageCollector, OwnerGraph
from apis.core.v1 import ConfigMap, Namespace
from apis.gadgets.install import GADGETS
from apis.gadgets.v1 import Gadget
from client.controller.metadata_source import MetadataChange
from tests.apis.controlled import ControlledServer, controlled_server

Policy = Literal["Foreground", "Background", "Orphan"]


class World:
    """ConfigMaps in one namespace, with a collector running beside them."""

    def __init__(self, server: ControlledServer) -> None:
        self.server = server
        self.maps = server.client.of(ConfigMap, namespace="default")

    async def create(self, name: str, *owners: ConfigMap, block: bool = False) -> ConfigMap:
        return await self.create_with(name, [reference_to(owner, block) for owner in owners])

    async def create_with(self, name: str, references: list[OwnerReference]) -> ConfigMap:
        meta = ObjectMeta(name=name, owner_references=references)
        return await self.maps.create(ConfigMap(metadata=meta))

    async def delete(self, name: str, policy: Policy) -> None:
        await self.maps.delete(name, propagation=policy)

    async def change(self, name: str, finalizers: list[str]) -> None:
        await self.maps.patch(name, {"metadata": {"finalizers": finalizers}})

    async def metadata(self, name: str) -> ObjectMeta | None:
        try:
            return (await self.maps.get(name)).metadata
        except NotFound:
            return None

    async def until_gone(self, *names: str) -> None:
        for name in names:
            await self.maps.wait_deleted(name, timeout=10)


def reference_to(owner: ConfigMap, block: bool = False) -> OwnerReference:
    return OwnerReference(
        api_version="v1",
        kind="ConfigMap",
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        block_owner_deletion=block,
    )


def collector(server: ControlledServer) -> GarbageCollector:
    resources = server.resources
    return GarbageCollector(
        server.controllers_client, resources, resources.changed, server.stored.disown_unserved
    )


@asynccontextmanager
async def collecting(server: ControlledServer, count: int = 1) -> AsyncIterator[None]:
    async with server.running(*(collector(server) for _ in range(count))):
        yield


@pytest.fixture
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server() as server:
        await server.client.of(Namespace).create(Namespace(metadata=ObjectMeta(name="default")))
        yield server


@pytest.fixture
async def world(server: ControlledServer) -> AsyncIterator[World]:
    async with collecting(server):
        yield World(server)


async def test_what_a_deleted_owner_owned_is_deleted(world: World) -> None:
    owner = await world.create("owner")
    child = await world.create("child", owner)
    await world.create("grandchild", child)
    await world.create("stranger")

    await world.delete("owner", "Background")

    await world.until_gone("owner", "child", "grandchild")
    assert await world.metadata("stranger") is not None


async def test_what_another_owner_owns_too_stays_with_it(world: World) -> None:
    owner, other = await world.create("owner"), await world.create("other")
    await world.create("child", owner, other)
    await world.create("only", owner)

    await world.delete("owner", "Background")

    await world.until_gone("owner", "only")
    async with asyncio.timeout(10):
        while len(found := (await _owners(world, "child"))) > 1:
            await asyncio.sleep(0)
    assert found == [other.metadata.uid]


async def test_a_foreground_deletion_waits_for_what_blocks_it(world: World) -> None:
    owner = await world.create("owner")
    await world.create("child", owner, block=True)
    await world.change("child", ["example.io/hold"])

    await world.delete("owner", "Foreground")
    async with asyncio.timeout(10):
        while (child := await world.metadata("child")) is None or child.deletion_timestamp is None:
            await asyncio.sleep(0)
    waiting = await world.metadata("owner")
    await world.change("child", [])

    assert waiting is not None
    assert waiting.finalizers == ["foregroundDeletion"]
    await world.until_gone("child", "owner")


async def test_orphans_stay_and_forget_their_owner(world: World) -> None:
    owner = await world.create("owner")
    await world.create("child", owner)

    await world.delete("owner", "Orphan")

    await world.until_gone("owner")
    child = await world.metadata("child")
    assert child is not None
    assert child.owner_references == []
    assert child.deletion_timestamp is None


async def test_an_owner_of_the_same_name_is_not_the_same_owner(world: World) -> None:
    owner = await world.create("owner")
    stale = OwnerReference(api_version="v1", kind="ConfigMap", name="owner", uid="another")

    await world.create_with("child", [stale])

    await world.until_gone("child")
    assert await world.metadata("owner") == owner.metadata


async def test_nothing_is_judged_by_a_kind_that_is_not_served(world: World) -> None:
    unknown = OwnerReference(api_version="x.io/v1", kind="Unknown", name="a", uid="u")
    await world.create_with("kept", [unknown])
    owner = await world.create("owner")
    await world.create("child", owner)

    await world.delete("owner", "Background")

    await world.until_gone("child")
    assert await world.metadata("kept") is not None


async def test_an_owner_whose_name_cannot_exist_is_none(world: World) -> None:
    impossible = OwnerReference(api_version="v1", kind="ConfigMap", name="a/b", uid="u")

    await world.create_with("child", [impossible])

    await world.until_gone("child")


async def test_an_object_without_namespace_outlives_owners_with_one(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    owner = await world.create("owner")
    meta = ObjectMeta(name="kept", owner_references=[reference_to(owner)])
    namespaces = world.server.client.of(Namespace)
    await namespaces.create(Namespace(metadata=meta))
    await world.create("child", owner)

    await world.delete("owner", "Background")
    await world.until_gone("child")

    assert (await namespaces.get("kept")).metadata.deletion_timestamp is None
    assert caplog.text == ""


async def test_work_that_was_left_undone_is_found_after_a_restart(server: ControlledServer) -> None:
    world = World(server)
    owner, orphaning = await world.create("owner"), await world.create("orphaning")
    await world.create("child", owner)
    await world.create("orphan", orphaning)
    await world.delete("owner", "Background")
    await world.delete("orphaning", "Orphan")

    async with collecting(server):
        await world.until_gone("child", "orphaning")

    assert await _owners(world, "orphan") == []


async def test_overlapping_leaders_do_not_disturb_each_other(server: ControlledServer) -> None:
    world = World(server)
    async with collecting(server, 3):
        owners = [await world.create(f"owner-{n}") for n in range(5)]
        for number, owner in enumerate(owners):
            await world.create(f"child-{number}", owner, block=True)
        policies: tuple[Policy, ...] = (
            "Background",
            "Foreground",
            "Orphan",
            "Foreground",
            "Background",
        )
        for number, policy in enumerate(policies):
            await world.delete(f"owner-{number}", policy)

        await world.until_gone(*(f"owner-{n}" for n in range(5)))
        await world.until_gone("child-0", "child-1", "child-3", "child-4")

    assert await _owners(world, "child-2") == []


async def _owners(world: World, name: str) -> list[str]:
    metadata = await world.metadata(name)
    assert metadata is not None
    return [owner.uid for owner in metadata.owner_references]


async def test_resources_that_come_later_are_collected_too(world: World) -> None:
    owner = await world.create("owner")
    world.server.app.groups.install(GADGETS)
    gadgets = world.server.client.of(Gadget, namespace="default")
    meta = ObjectMeta(name="child", owner_references=[reference_to(owner)])
    await gadgets.create(gadget(meta))

    await world.delete("owner", "Background")

    await gadgets.wait_deleted("child", timeout=10)


async def test_an_owner_of_another_namespace_is_none(world: World) -> None:
    """And it says nothing about the objects that the owner has in its own namespace."""
    namespaces = world.server.client.of(Namespace)
    await namespaces.create(Namespace(metadata=ObjectMeta(name="other")))
    owner = await world.create("owner")
    stray = ConfigMap(metadata=ObjectMeta(name="a", owner_references=[reference_to(owner)]))
    elsewhere = world.server.client.of(ConfigMap, namespace="other")

    await elsewhere.create(stray)
    await elsewhere.wait_deleted("a", timeout=10)
    await world.create("child", owner)
    await world.create("last", await world.create("first"))
    await world.delete("first", "Background")
    await world.until_gone("last")

    assert await world.metadata("child") is not None


async def test_what_happens_while_a_watch_is_broken_is_not_missed(world: World) -> None:
    owner = await world.create("owner")
    await world.create("child", owner)
    world.server.faults.watch(ConfigMap).gone()
    world.server.faults.list(ConfigMap).unavailable()

    await world.delete("owner", "Background")

    await world.until_gone("child")


async def test_only_owned_and_terminating_objects_are_remembered(
    server: ControlledServer,
) -> None:
    world, collecting = World(server), collector(server)
    async with server.running(collecting):
        owner = await world.create("owner")
        for number in range(20):
            await world.create(f"stranger-{number}")
        child = await world.create("child", owner)
        async with asyncio.timeout(10):
            while child.metadata.uid not in collecting.graph.identities:
                await asyncio.sleep(0.001)

        assert [*collecting.graph.identities] == [child.metadata.uid]


def gadget(meta: ObjectMeta) -> Any:
    return {"metadata": meta, "spec": {"model": "a1"}}


def test_references_with_one_uid_are_one_edge() -> None:
    """Anyone who may create an object can write such references; they must not stop the leader."""
    kind = GroupVersionKind("", "v1", "ConfigMap")
    graph, resource = OwnerGraph(), ServedResource(kind, "configmaps", "configmap")
    references = [
        OwnerReference(api_version="v1", kind="ConfigMap", name=name, uid="a") for name in "xy"
    ]
    references[0].block_owner_deletion = True
    owned = ObjectMeta(uid="b", owner_references=references)

    graph.note(resource, MetadataChange(owned, deleted=False))
    assert graph.is_blocked("a")
    graph.note(resource, MetadataChange(owned, deleted=True))

    assert not graph.dependents
