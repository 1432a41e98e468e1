"""What a reconciler does through its context: read its own writes, own, apply, report."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from apimachinery.errors import NotFound
from apimachinery.meta.unstructured import Unstructured
from apis.core.v1 import ConfigMap, Event
from apis.gadgets.v1 import Gadget
from client.controller.conditions import NoConditions
from client.controller.context import Context, NoObject
from client.controller.finalizers import Finalizers, InvalidFinalizer
from client.controller.manager import Manager
from client.controller.reconciler import Terminal
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock
from client.transport.request import ALL_NAMESPACES

Once = Callable[[Callable[[Context[Gadget]], Awaitable[None]]], Awaitable[None]]


def gadget(name: str = "lamp", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "spec": {"model": "a1"}}


@pytest.fixture
def once(env: Environment) -> Once:
    """Runs something as the reconciler of a gadget "lamp"; what it raises fails the test."""

    async def run(body: Callable[[Context[Gadget]], Awaitable[None]]) -> None:
        raised: list[BaseException] = []

        async def reconcile(ctx: Context[Gadget]) -> None:
            if ctx.name != "lamp" or ran:
                return
            ran.append(True)
            try:
                await body(ctx)
            except BaseException as error:
                raised.append(error)
                raise Terminal("the test has failed") from error

        def setup(manager: Manager) -> None:
            manager.controller(Gadget, owns=[ConfigMap])(reconcile)

        ran: list[bool] = []
        if await env.find(Gadget, "lamp") is None:
            await env.client.of(Gadget).create(gadget())
        async with env.manager(setup, name="gadget-controller") as mgr:
            await mgr.settled()
        if raised:
            raise raised[0]
        assert ran

    return run


async def test_own_writes_are_read_at_once(env: Environment, once: Once) -> None:
    """However far the cache is behind: here it hears of nothing at all."""

    async def body(ctx: Context[Gadget]) -> None:
        env.faults.watch(Gadget).cut(times=-1)
        env.faults.watch(ConfigMap).cut(times=-1)
        env.faults.on("watch").unavailable(times=-1)
        env.faults.on("list").unavailable(times=-1)
        await ctx.get()
        for number in range(3):
            await ctx.objects.patch("lamp", {"spec": {"replicas": number + 5}})
            found = await ctx.get()
            assert found is not None
            assert found.spec.replicas == number + 5
        await ctx.apply(ctx.owned(ConfigMap, name="child", data={"a": "1"}, labels={"x": "y"}))
        child = await ctx.find(ConfigMap, "child")
        assert child is not None
        assert child.data == {"a": "1"}
        assert [c.metadata.name for c in await ctx.children(ConfigMap)] == ["child"]
        assert [c.metadata.name for c in await ctx.list(ConfigMap, labels="x=y")] == ["child"]
        await ctx.delete(child)
        assert await ctx.find(ConfigMap, "child") is None
        assert not await ctx.children(ConfigMap)
        assert not await ctx.list(ConfigMap)
        env.faults.clear()

    await once(body)


async def test_every_way_of_writing_is_noticed(env: Environment, once: Once) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        env.faults.watch(ConfigMap).cut(times=-1)
        env.faults.on("watch").unavailable(times=-1)
        env.faults.on("list").unavailable(times=-1)
        maps = ctx.client.of(ConfigMap, namespace="default")

        async def data() -> dict[str, str]:
            found = await ctx.find(ConfigMap, "m")
            return found.data if found is not None else {}

        made = await maps.create({"metadata": {"name": "m"}, "data": {"by": "create"}})
        assert await data() == {"by": "create"}
        made.data = {"by": "update"}
        await maps.update(made)
        assert await data() == {"by": "update"}
        async with maps.edit("m") as editing:
            editing.data["by"] = "edit"
        assert await data() == {"by": "edit"}
        await maps.modify("m", lambda m: m.data.update(by="modify"))
        assert await data() == {"by": "modify"}
        await maps.dry_run().patch("m", {"data": {"by": "dry run"}})
        assert await data() == {"by": "modify"}
        await maps.patch("m", {"metadata": {"finalizers": ["x/y"]}})
        await maps.delete("m")
        found = await ctx.find(ConfigMap, "m")
        assert found is not None
        assert found.metadata.deletion_timestamp is not None
        await maps.patch("m", {"metadata": {"finalizers": None}})
        env.faults.clear()

    await once(body)


async def test_writes_of_parts_and_dry_runs_leave_the_cache_alone(
    env: Environment, once: Once
) -> None:
    """Answers that are not the whole stored object must not be read in its place."""

    async def body(ctx: Context[Gadget]) -> None:
        env.faults.watch(Gadget).cut(times=-1)
        env.faults.on("watch").unavailable(times=-1)
        env.faults.on("list").unavailable(times=-1)
        before = await ctx.get()
        assert before is not None
        await ctx.objects.metadata.patch("lamp", {"metadata": {"labels": {"a": "b"}}})
        await ctx.objects.scale.patch("lamp", {"spec": {"replicas": 7}})
        await ctx.objects.dry_run().delete("lamp")
        await ctx.objects.delete("lamp", dry_run=True)
        assert await ctx.get() == before
        await ctx.objects.status.patch("lamp", {"status": {"readyReplicas": 2}})
        after = await ctx.get()
        assert after is not None
        assert (after.spec.replicas, after.status.ready_replicas) == (7, 2)
        env.faults.clear()

    await once(body)


async def test_an_edit_that_changes_nothing_shows_the_state_it_has_read(
    env: Environment, once: Once
) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        env.faults.watch(Gadget).cut(times=-1)
        env.faults.on("watch").unavailable(times=-1)
        env.faults.on("list").unavailable(times=-1)
        await env.observer.of(Gadget).patch("lamp", {"metadata": {"labels": {"by": "others"}}})
        await ctx.objects.modify("lamp", lambda g: None)
        newest = await ctx.get()
        assert newest is not None
        assert newest.metadata.labels == {"by": "others"}
        env.faults.clear()

    await once(body)


async def test_what_is_read_may_be_changed(env: Environment, once: Once) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        first = await ctx.get()
        assert first is not None
        first.spec.replicas = 99
        again = await ctx.get()
        assert again is not None
        assert again.spec.replicas == 1

    await once(body)


async def test_an_object_that_does_not_exist_is_none(env: Environment) -> None:
    found: list[object] = []

    async def reconcile(ctx: Context[Gadget]) -> None:
        found.append(await ctx.get())

    def setup(manager: Manager) -> None:
        manager.controller(Gadget)(reconcile)

    async with env.manager(setup) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()
        await env.client.of(Gadget).delete("lamp")
        await mgr.settled()

    assert found[-1] is None


async def test_other_namespaces_are_read_by_name(env: Environment, once: Once) -> None:
    await env.client.of(ConfigMap, namespace="kube-system").create({"metadata": {"name": "far"}})

    async def body(ctx: Context[Gadget]) -> None:
        assert await ctx.find(ConfigMap, "far") is None
        assert await ctx.find(ConfigMap, "far", namespace="kube-system") is not None
        assert not await ctx.list(ConfigMap)
        assert len(await ctx.list(ConfigMap, namespace=ALL_NAMESPACES)) == 1

    await once(body)


async def test_what_is_owned_names_its_owner_and_is_applied_as_the_controller(
    env: Environment, once: Once
) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        await ctx.get()
        await ctx.apply(ctx.owned(ConfigMap, name="child", annotations={"n": "1"}, data={"a": "1"}))

    await once(body)

    owner = await env.get(Gadget, "lamp")
    child = await env.get(ConfigMap, "child")
    (reference,) = child.metadata.owner_references
    assert (reference.api_version, reference.kind) == ("gadgets.example.io/v1", "Gadget")
    assert (reference.uid, reference.controller) == (owner.metadata.uid, True)
    managers = [(m.manager, m.operation) for m in child.metadata.managed_fields]
    assert managers == [("gadget-controller/gadget", "Apply")]


async def test_applying_takes_over_what_others_set(env: Environment, once: Once) -> None:
    await env.client.of(ConfigMap).create(
        {"metadata": {"name": "child"}, "data": {"a": "theirs", "b": "theirs"}}
    )

    async def body(ctx: Context[Gadget]) -> None:
        await ctx.get()
        await ctx.apply(ctx.owned(ConfigMap, name="child", data={"a": "ours"}))

    await once(body)

    assert (await env.get(ConfigMap, "child")).data == {"a": "ours", "b": "theirs"}


async def test_owning_and_telling_need_an_object(env: Environment, once: Once) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        with pytest.raises(NoObject, match=r"default/lamp: get\(\) the owner"):
            ctx.owned(ConfigMap, name="child")
        with pytest.raises(NoObject, match=r"default/lamp: get\(\) the object"):
            ctx.event("Normal", "Odd", "nothing")

    await once(body)


# Status and conditions


async def test_a_condition_is_written_once(env: Environment, once: Once, clock: FakeClock) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        assert await ctx.set_condition("Ready", True, reason="Running", message="all well")
        before = env.requests
        assert not await ctx.set_condition("Ready", True, reason="Running", message="all well")
        assert env.requests == before

    await once(body)

    found = await env.get(Gadget, "lamp")
    (condition,) = found.status.conditions
    assert (condition.type, condition.status, condition.reason) == ("Ready", "True", "Running")
    assert condition.observed_generation == 1
    assert condition.last_transition_time <= clock.now()
    assert found.metadata.generation == 1


async def test_the_time_of_a_condition_is_that_of_its_last_change_of_status(
    env: Environment, once: Once, clock: FakeClock
) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        await ctx.set_condition("Ready", None, reason="Starting")
        started = clock.monotonic()
        clock._now += 60
        await ctx.set_condition("Ready", "Unknown", reason="StillStarting")
        found = await ctx.get()
        assert found is not None
        unknown = found.status.conditions[0]
        assert (unknown.status, unknown.reason) == ("Unknown", "StillStarting")
        await ctx.set_condition("Ready", False, reason="Broken")
        found = await ctx.get()
        assert found is not None
        passed = found.status.conditions[0].last_transition_time - unknown.last_transition_time
        assert passed.total_seconds() == clock.monotonic() - started

    await once(body)


async def test_a_condition_is_about_the_generation_that_was_read(
    env: Environment, once: Once
) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        await ctx.get()
        await ctx.objects.patch("lamp", {"spec": {"replicas": 4}})
        await ctx.set_condition("Ready", True, reason="Running")

    await once(body)

    found = await env.get(Gadget, "lamp")
    assert found.metadata.generation == 2
    assert found.status.conditions[0].observed_generation == 1


async def test_a_status_is_written_in_spite_of_conflicts(env: Environment, once: Once) -> None:
    env.faults.update(Gadget, "status").conflict(times=2)

    async def body(ctx: Context[Gadget]) -> None:
        await ctx.get()
        await env.observer.of(Gadget).patch("lamp", {"metadata": {"labels": {"by": "others"}}})
        await ctx.set_condition("Ready", True, reason="Running")
        await ctx.modify_status(lambda g: setattr(g.status, "ready_replicas", 3))
        await ctx.patch_status({"observedGeneration": 7})

    await once(body)

    found = await env.get(Gadget, "lamp")
    assert found.metadata.labels == {"by": "others"}
    assert found.status.conditions[0].status == "True"
    assert (found.status.ready_replicas, found.status.observed_generation) == (3, 7)
    assert not env.faults.pending


async def test_changing_an_object_that_is_gone_is_not_found(env: Environment, once: Once) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        await ctx.get()
        await ctx.objects.delete("lamp")
        with pytest.raises(NotFound, match=r'gadgets.gadgets.example.io "lamp" not found'):
            await ctx.modify(lambda g: g.metadata.labels.update(a="b"))
        await ctx.remove_finalizer("x/y")

    await once(body)


async def test_objects_without_a_class_have_conditions_too(env: Environment) -> None:
    class AnyGadget(Unstructured, kind="Gadget"):
        api_version: str = "gadgets.example.io/v1"

    async def reconcile(ctx: Context[AnyGadget]) -> None:
        found = await ctx.get()
        assert found is not None
        assert found["spec"]["model"] == "a1"
        await ctx.set_condition("Ready", True, reason="Running")

    def setup(manager: Manager) -> None:
        manager.controller(AnyGadget)(reconcile)

    async with env.manager(setup) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()

    assert (await env.get(Gadget, "lamp")).status.conditions[0].reason == "Running"


async def test_a_class_without_conditions_says_so(env: Environment) -> None:
    raised: list[Exception] = []

    async def reconcile(ctx: Context[ConfigMap]) -> None:
        with pytest.raises(
            NoConditions, match=r"ConfigMap has no list status.conditions"
        ) as caught:
            await ctx.set_condition("Ready", True, reason="Running")
        raised.append(caught.value)

    def setup(manager: Manager) -> None:
        manager.controller(ConfigMap)(reconcile)

    async with env.manager(setup) as mgr:
        await env.client.of(ConfigMap).create({"metadata": {"name": "m"}})
        await mgr.settled()

    assert raised


async def test_events_are_about_the_object(env: Environment, once: Once) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        found = await ctx.get()
        ctx.event("Normal", "Synced", "all parts are in place")
        ctx.event("Warning", "Odd", "of another", about=found)

    await once(body)

    events = await env.list(Event)
    assert {(e.reason, e.involved_object.name) for e in events} == {
        ("Synced", "lamp"),
        ("Odd", "lamp"),
    }
    assert {e.source.component for e in events} == {"gadget-controller"}


# Finalizers


async def test_finalizers_are_added_then_worked_off_and_taken_off_in_order(
    env: Environment,
) -> None:
    finalizers: Finalizers[Gadget] = Finalizers()
    done: list[str] = []
    lives: list[bool] = []

    @finalizers.register("example.io/archive")
    async def archive(ctx: Context[Gadget]) -> None:
        done.append("archive")

    @finalizers.register("example.io/notify")
    async def notify(ctx: Context[Gadget]) -> None:
        if done.count("failed") < 1:
            done.append("failed")
            raise RuntimeError("cannot notify yet")
        done.append("notify")

    async def reconcile(ctx: Context[Gadget]) -> None:
        lives.append(await finalizers.run(ctx))

    def setup(manager: Manager) -> None:
        manager.controller(Gadget)(reconcile)

    async with env.manager(setup) as mgr:
        await env.client.of(Gadget).create(gadget(finalizers=["others.io/x"]))
        await mgr.settled()
        found = await env.get(Gadget, "lamp")
        assert found.metadata.finalizers == [
            "others.io/x",
            "example.io/archive",
            "example.io/notify",
        ]
        assert not done

        await env.client.of(Gadget).delete("lamp")
        await mgr.settled()

    assert done == ["archive", "failed", "notify"]
    assert (await env.get(Gadget, "lamp")).metadata.finalizers == ["others.io/x"]
    assert lives[0] is True
    assert lives[-1] is False


def test_finalizers_have_names_of_their_own() -> None:
    finalizers: Finalizers[Gadget] = Finalizers()

    async def nothing(ctx: Context[Gadget]) -> None: ...

    finalizers.register("example.io/a")(nothing)
    with pytest.raises(InvalidFinalizer, match="already registered"):
        finalizers.register("example.io/a")
    with pytest.raises(InvalidFinalizer, match=r"must be qualified like example.io/name"):
        finalizers.register("plain")


async def test_single_finalizers_are_added_and_removed(env: Environment, once: Once) -> None:
    async def body(ctx: Context[Gadget]) -> None:
        await ctx.add_finalizer("example.io/a")
        await ctx.add_finalizer("example.io/a")
        await ctx.add_finalizer("example.io/b")
        await ctx.remove_finalizer("example.io/a")

    await once(body)

    assert (await env.get(Gadget, "lamp")).metadata.finalizers == ["example.io/b"]
