"""What an owner's deletion means for what it owns, in a whole server in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import ObjectMeta, OwnerReference
from apimachinery.schema import GroupVersion
from apis.core.controllers.garbage import GarbageCollector, Identity, Seen
from apis.core.controllers.revisits import Revisits
from apis.core.install import CORE
from apis.core.v1 import ConfigMap, Namespace
from apis.gadgets.install import GADGETS
from apiserver.app import App
from apiserver.context import context_for
from apiserver.controlplane.all_objects import Everything
from apiserver.storage.cache.entry import EntrySelection
from apiserver.views.resource_view import Form
from tests.apiserver.http.conftest import make_app

CONFIG_MAPS = GroupVersion("", "v1").with_resource("configmaps")
NAMESPACES = GroupVersion("", "v1").with_resource("namespaces")


class World:
    """ConfigMaps in one namespace, with a collector running beside them."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.store = app.groups.store(CONFIG_MAPS.group_resource)

    async def create(self, name: str, *owners: ConfigMap, block: bool = False) -> ConfigMap:
        references = [
            OwnerReference(
                api_version="v1",
                kind="ConfigMap",
                name=owner.metadata.name,
                uid=owner.metadata.uid,
                block_owner_deletion=block,
            )
            for owner in owners
        ]
        return await self.create_with(name, references)

    async def create_with(self, name: str, references: list[OwnerReference]) -> ConfigMap:
        meta = ObjectMeta(name=name, namespace="default", owner_references=references)
        context = context_for("create", CONFIG_MAPS, namespace="default", name=name)
        made: ConfigMap = await self.store.create(ConfigMap(metadata=meta), context)
        return made

    async def delete(self, name: str, policy: str) -> None:
        context = context_for("delete", CONFIG_MAPS, namespace="default", name=name)
        await self.store.delete(name, DeleteOptions(propagation_policy=policy), context)

    async def change(self, name: str, finalizers: list[str]) -> None:
        def changed(current: Any) -> Any:
            made = current.deep_copy()
            made.metadata.finalizers = finalizers
            return made

        context = context_for("update", CONFIG_MAPS, namespace="default", name=name)
        await self.store.update(name, changed, context)

    async def metadata(self, name: str) -> ObjectMeta | None:
        try:
            found: ConfigMap = await self.store.read(name, namespace="default")
        except NotFound:
            return None
        return found.metadata

    async def until_gone(self, *names: str) -> None:
        """Wait for what is being collected; the test's own time limit is the deadline."""
        left = set(names)
        async with self.store.watch(EntrySelection(), Form(CONFIG_MAPS.group_version)) as watcher:
            left = {name for name in left if await self.metadata(name) is not None}
            while left:
                await anext(watcher)
                left = {name for name in left if await self.metadata(name) is not None}


@asynccontextmanager
async def collecting(app: App) -> AsyncIterator[None]:
    objects = Everything(app.groups, identify=Identity, see=Seen)
    collector = GarbageCollector(objects, first_delay=0.001, last_delay=0.01)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(collector.run())
        yield
        running.cancel()


@pytest.fixture
async def app() -> AsyncIterator[App]:
    made = make_app(CORE)
    await made.start()
    await made.groups.create(
        NAMESPACES.group_resource, Namespace(metadata=ObjectMeta(name="default"))
    )
    yield made
    await made.stop()


@pytest.fixture
async def world(app: App) -> AsyncIterator[World]:
    async with collecting(app):
        yield World(app)


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


async def test_work_that_was_left_undone_is_found_after_a_restart(app: App) -> None:
    world = World(app)
    owner, orphaning = await world.create("owner"), await world.create("orphaning")
    await world.create("child", owner)
    await world.create("orphan", orphaning)
    await world.delete("owner", "Background")
    await world.delete("orphaning", "Orphan")

    async with collecting(app):
        await world.until_gone("child", "orphaning")

    assert await _owners(world, "orphan") == []


async def test_several_collectors_do_not_disturb_each_other(app: App) -> None:
    world = World(app)
    async with collecting(app), collecting(app), collecting(app):
        owners = [await world.create(f"owner-{n}") for n in range(5)]
        for number, owner in enumerate(owners):
            await world.create(f"child-{number}", owner, block=True)
        policies = ("Background", "Foreground", "Orphan", "Foreground", "Background")
        for number, policy in enumerate(policies):
            await world.delete(f"owner-{number}", policy)

        await world.until_gone(*(f"owner-{n}" for n in range(5)))
        await world.until_gone("child-0", "child-1", "child-3", "child-4")

    assert await _owners(world, "child-2") == []


async def _owners(world: World, name: str) -> list[str]:
    metadata = await world.metadata(name)
    assert metadata is not None
    return [owner.uid for owner in metadata.owner_references]


@pytest.mark.parametrize("ticks", range(4))
async def test_a_stop_is_not_lost_when_a_group_comes_at_the_same_time(app: App, ticks: int) -> None:
    objects = Everything(app.groups, identify=Identity, see=Seen)

    async with asyncio.timeout(5), objects.watch():
        for _ in range(20):
            await asyncio.sleep(0)
        app.groups.install(GADGETS)
        for _ in range(ticks):
            await asyncio.sleep(0)


@pytest.mark.parametrize("ticks", range(4))
async def test_a_stop_is_not_lost_when_something_changes_at_the_same_time(ticks: int) -> None:
    async def never_done(name: str) -> bool:
        return False

    revisits = Revisits("testing", never_done, first_delay=60)

    async with asyncio.timeout(5):
        async with asyncio.TaskGroup() as tasks:
            revisits.wake("it", tasks)
            for _ in range(20):
                await asyncio.sleep(0)
            (working,) = asyncio.all_tasks() - {asyncio.current_task()}
            revisits.wake("it", tasks)
            for _ in range(ticks):
                await asyncio.sleep(0)
            working.cancel()

    assert working.cancelled()
