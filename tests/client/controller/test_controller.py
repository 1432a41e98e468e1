"""Controllers: when a reconciler is called, how often, and what its outcome leads to."""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from apimachinery.errors import NotFound, TooManyRequests
from apis.core.v1 import ConfigMap
from apis.gadgets.v1 import Gadget
from client.controller import predicates
from client.controller.context import Context
from client.controller.controller import CacheSyncTimeout
from client.controller.enqueue_handlers import Mapped
from client.controller.manager import Manager
from client.controller.reconciler import NamespacedName, Reconcile, Result, Temporary, Terminal
from client.controller.sources import Channel, Kind, Stream
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock
from client.testing.settling import NotSettled
from client.workqueue.priority_queue import LOW_PRIORITY

Setup = Callable[[Manager], None]


def gadget(name: str = "lamp", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "spec": {"model": "a1"}}


def with_controller(reconcile: Reconcile[Gadget], **options: Any) -> Setup:
    def setup(manager: Manager) -> None:
        manager.controller(Gadget, **options)(reconcile)

    return setup


class Calls:
    """A reconciler that remembers its calls and ends as it was told to."""

    def __init__(self, *outcomes: Result | Exception | None) -> None:
        self.names: list[str] = []
        self.contexts: list[Context[Gadget]] = []
        self.outcomes = [*outcomes]

    async def __call__(self, ctx: Context[Gadget]) -> Result | None:
        self.names.append(ctx.name)
        self.contexts.append(ctx)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def test_it_is_called_for_what_exists_and_for_what_changes(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    await gadgets.create(gadget("old"))
    calls = Calls()
    async with env.manager(with_controller(calls)) as mgr:
        await mgr.settled()
        assert calls.names == ["old"]
        assert calls.contexts[0].priority == LOW_PRIORITY

        await gadgets.create(gadget("new"))
        await mgr.settled()
        await gadgets.delete("old")
        await mgr.settled()

    assert calls.names == ["old", "new", "old"]
    assert calls.contexts[1].priority == 0


async def test_each_call_has_an_id_of_its_own_and_a_log_that_names_the_object(
    env: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ids = set()

    async def reconcile(ctx: Context[Gadget]) -> None:
        ids.add(ctx.reconcile_id)
        ctx.log.info("at work")

    async with env.manager(with_controller(reconcile)) as mgr:
        await mgr.settled()
        await env.client.of(Gadget).create(gadget("a"))
        await env.client.of(Gadget).create(gadget("b"))
        await mgr.settled()

    assert len(ids) == 2
    lines = [r for r in caplog.records if "at work" in r.getMessage()]
    assert lines[0].getMessage() == "gadget default/a: at work"
    about: Any = lines[0]
    assert (about.controller, about.namespace, about.object_name) == ("gadget", "default", "a")
    assert about.reconcile_id in ids


async def test_what_fails_is_tried_again_later_and_later(
    env: Environment, clock: FakeClock
) -> None:
    calls = Calls(*(RuntimeError(f"failure {n}") for n in range(4)))
    times: list[float] = []

    async def reconcile(ctx: Context[Gadget]) -> Result | None:
        times.append(clock.monotonic())
        return await calls(ctx)

    async with env.manager(with_controller(reconcile)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()

    waits = [round(after - before, 6) for before, after in pairwise(times)]
    assert waits == [0.005, 0.01, 0.02, 0.04]


async def test_success_makes_the_next_failure_a_first_one_again(
    env: Environment, clock: FakeClock
) -> None:
    calls = Calls(RuntimeError(), RuntimeError(), None, RuntimeError())
    async with env.manager(with_controller(calls)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()
        clock.slept.clear()
        await env.client.of(Gadget).patch("lamp", {"metadata": {"labels": {"a": "b"}}})
        await mgr.settled()

    assert 0.005 in [round(s, 6) for s in clock.slept]
    assert 0.02 not in [round(s, 6) for s in clock.slept]


async def test_being_called_again_later_is_a_success_too(
    env: Environment, clock: FakeClock
) -> None:
    """What failed before is forgotten, although the name comes back."""
    calls = Calls(RuntimeError(), RuntimeError(), Result(requeue_after=9), RuntimeError())
    times: list[float] = []

    async def reconcile(ctx: Context[Gadget]) -> Result | None:
        times.append(clock.monotonic())
        return await calls(ctx)

    async with env.manager(with_controller(reconcile)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()
        await clock.advance(10)
        await mgr.settled()

    waits = [round(after - before, 6) for before, after in pairwise(times)]
    assert waits == [0.005, 0.01, 9, 0.005]


async def test_a_reconcile_whose_own_task_was_cancelled_is_tried_again(
    env: Environment, clock: FakeClock
) -> None:
    """It is nobody's order to the worker, which must not end by it."""
    calls = 0

    async def reconcile(ctx: Context[Gadget]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            task = asyncio.ensure_future(asyncio.Event().wait())
            asyncio.get_running_loop().call_soon(task.cancel)
            await task

    async with env.manager(with_controller(reconcile)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()

    assert calls == 2


async def test_a_terminal_error_is_not_tried_again(env: Environment, clock: FakeClock) -> None:
    calls = Calls(Terminal("never"))
    async with env.manager(with_controller(calls)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()
        await clock.advance(2000)
        assert len(calls.names) == 1

        await env.client.of(Gadget).patch("lamp", {"metadata": {"labels": {"a": "b"}}})
        await mgr.settled()

    assert len(calls.names) == 2


async def test_a_reconciler_can_ask_to_be_called_again(env: Environment, clock: FakeClock) -> None:
    calls = Calls(Result(requeue_after=timedelta(minutes=5)), Result(requeue_after=7))
    async with env.manager(with_controller(calls)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()  # does not wait for that
        assert len(calls.names) == 1

        await clock.advance(299)
        assert len(calls.names) == 1
        await clock.advance(1.1)
        assert len(calls.names) == 2
        await clock.advance(7)
        assert len(calls.names) == 3
        await clock.advance(100)
        assert len(calls.names) == 3


async def test_the_priority_is_kept_when_something_comes_back(
    env: Environment, clock: FakeClock
) -> None:
    await env.client.of(Gadget).create(gadget())
    calls = Calls(RuntimeError(), Result(requeue_after=1), Result(requeue_after=1, priority=7))
    async with env.manager(with_controller(calls)) as mgr:
        await mgr.settled()
        await clock.advance(3)

    assert [ctx.priority for ctx in calls.contexts] == [LOW_PRIORITY] * 3 + [7]


async def test_a_server_that_asks_for_a_retry_leaves_no_traceback(
    env: Environment, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    calls = Calls(TooManyRequests.of("busy"), ValueError("bug"))
    async with env.manager(with_controller(calls)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()
        await clock.advance(3)

    errors = [record for record in caplog.records if "reconciler error" in record.getMessage()]
    assert [record.exc_info is None for record in errors] == [True, False]


async def test_anything_but_a_result_is_an_error(
    env: Environment, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def reconcile(ctx: Context[Gadget]) -> Any:
        return True

    async with env.manager(with_controller(reconcile)) as mgr:
        await env.client.of(Gadget).create(gadget())
        with pytest.raises(NotSettled, match="controller gadget: is failing for default/lamp"):
            await mgr.settled(timeout=0.3)

    assert "a reconciler must return a Result or None, not True" in caplog.text


async def test_a_reconcile_that_takes_too_long_is_cancelled_and_tried_again(
    env: Environment, clock: FakeClock
) -> None:
    calls = 0

    async def reconcile(ctx: Context[Gadget]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await asyncio.Event().wait()

    async with env.manager(with_controller(reconcile, reconcile_timeout=30)) as mgr:
        await env.client.of(Gadget).create(gadget())
        while not calls:
            await asyncio.sleep(0.001)
        await clock.advance(31)
        await mgr.settled()

    assert calls == 2


async def test_one_name_is_never_reconciled_twice_at_once_and_no_change_is_missed(
    env: Environment,
) -> None:
    running = 0
    seen: list[str] = []
    hold = asyncio.Event()

    async def reconcile(ctx: Context[Gadget]) -> None:
        nonlocal running
        running += 1
        assert running == 1
        found = await ctx.get()
        assert found is not None
        seen.append(found.metadata.labels.get("n", ""))
        await hold.wait()
        running -= 1

    async with env.manager(with_controller(reconcile, workers=4)) as mgr:
        gadgets = env.client.of(Gadget)
        await gadgets.create(gadget())
        while not seen:
            await asyncio.sleep(0.001)
        for number in range(5):
            await gadgets.patch("lamp", {"metadata": {"labels": {"n": str(number)}}})
        hold.set()
        await mgr.settled()

    assert seen[-1] == "4"


async def test_several_workers_work_at_the_same_time(env: Environment) -> None:
    together = asyncio.Barrier(3)

    async def reconcile(ctx: Context[Gadget]) -> None:
        await together.wait()

    async with env.manager(with_controller(reconcile, workers=3)) as mgr:
        for name in "abc":
            await env.client.of(Gadget).create(gadget(name))
        await mgr.settled()


async def test_workers_start_when_every_source_has_told_what_was_there(env: Environment) -> None:
    for number in range(20):
        await env.client.of(ConfigMap).create(
            {"metadata": {"name": f"m{number}"}, "data": {"for": "lamp"}}
        )
    told: list[str] = []
    known: list[int] = []

    def gadgets_of(config_map: ConfigMap) -> list[NamespacedName]:
        told.append(config_map.metadata.name)
        return []

    async def reconcile(ctx: Context[Gadget]) -> None:
        known.append(len([name for name in told if name.startswith("m")]))

    await env.client.of(Gadget).create(gadget())
    watching = Kind(ConfigMap, Mapped(gadgets_of))
    async with env.manager(with_controller(reconcile, watches=[watching])) as mgr:
        await mgr.settled()

    assert known == [20]


async def test_a_cache_that_is_not_filled_in_time_fails_the_controller(
    env: Environment, clock: FakeClock
) -> None:
    env.faults.on("list", Gadget).forbidden(times=-1)
    env.faults.watch(Gadget).forbidden(times=-1)
    with pytest.raises(CacheSyncTimeout, match="failed to wait for gadget caches to sync kind"):
        async with env.manager(with_controller(Calls())) as mgr:
            await clock.advance(119)
            assert mgr.failure is None
            await clock.advance(2)


async def test_a_kind_that_the_server_does_not_have_is_looked_for_every_ten_seconds(
    env: Environment, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Missing(Gadget, kind="Missing"):
        api_version: str = "absent.example.io/v1"

    calls = Calls()

    def setup(manager: Manager) -> None:
        manager.controller(Missing)(calls)  # type: ignore[arg-type]

    with pytest.raises(CacheSyncTimeout):
        async with env.manager(setup):
            await clock.advance(25)
            found = [
                r for r in caplog.records if "CustomResourceDefinition first" in r.getMessage()
            ]
            assert len(found) == 3
            assert 'no matches for kind "Missing"' in found[0].getMessage()
            await clock.advance(100)


# Sources


async def test_what_is_owned_leads_to_its_owner(env: Environment) -> None:
    calls = Calls()
    owner = await env.client.of(Gadget).create(gadget())
    async with env.manager(with_controller(calls, owns=[ConfigMap])) as mgr:
        await mgr.settled()
        calls.names.clear()
        reference = {
            "apiVersion": "gadgets.example.io/v1beta1",
            "kind": "Gadget",
            "name": "lamp",
            "uid": owner.metadata.uid,
        }
        for name, controller in (("child", True), ("friend", False)):
            await env.client.of(ConfigMap).create(
                {
                    "metadata": {
                        "name": name,
                        "ownerReferences": [{**reference, "controller": controller}],
                    }
                }
            )
        await mgr.settled()
        assert calls.names == ["lamp"]

        await env.client.of(ConfigMap).delete("child")
        await mgr.settled()

    assert calls.names == ["lamp", "lamp"]


async def test_predicates_keep_changes_from_the_queue(env: Environment) -> None:
    calls = Calls()
    setup = with_controller(calls, predicates=[predicates.generation_changed])
    async with env.manager(setup) as mgr:
        gadgets = env.client.of(Gadget)
        await gadgets.create(gadget())
        await mgr.settled()
        await gadgets.patch("lamp", {"metadata": {"labels": {"a": "b"}}})
        await mgr.settled()
        assert len(calls.names) == 1
        await gadgets.patch("lamp", {"spec": {"replicas": 3}})
        await mgr.settled()

    assert len(calls.names) == 2


async def test_a_channel_tells_of_what_happens_outside(env: Environment) -> None:
    calls = Calls()
    channel: Channel[Gadget] = Channel()
    lamp = await env.client.of(Gadget).create(gadget())
    async with env.manager(with_controller(calls, watches=[channel])) as mgr:
        await mgr.settled()
        await channel.send(lamp)
        await mgr.settled()

    assert calls.names == ["lamp", "lamp"]


async def test_names_may_come_from_anywhere(env: Environment) -> None:
    async def names() -> Any:
        for name in ("x", "y"):
            yield NamespacedName("default", name)

    calls = Calls()
    async with env.manager(with_controller(calls, watches=[Stream(names)])) as mgr:
        await mgr.settled()

    assert calls.names == ["x", "y"]


async def test_a_source_that_fails_ends_the_manager_with_its_error(env: Environment) -> None:
    async def names() -> Any:
        yield NamespacedName("default", "x")
        raise NotFound("the queue is gone")

    with pytest.raises(NotFound, match="the queue is gone"):
        async with env.manager(with_controller(Calls(), watches=[Stream(names)])) as mgr:
            await mgr.settled()


async def test_a_source_that_is_cancelled_by_itself_ends_the_manager(env: Environment) -> None:
    async def names() -> Any:
        yield NamespacedName("default", "x")
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="gadget: stream cancelled itself"):
        async with env.manager(with_controller(Calls(), watches=[Stream(names)])) as mgr:
            while mgr.failure is None:
                await asyncio.sleep(0.001)


async def test_everything_is_looked_at_again_after_ten_hours(
    env: Environment, clock: FakeClock
) -> None:
    calls = Calls()
    await env.client.of(Gadget).create(gadget())
    async with env.manager(with_controller(calls)) as mgr:
        await mgr.settled()
        await clock.advance(9.9 * 3600)
        assert len(calls.names) == 1
        await clock.advance(0.2 * 3600)
        await mgr.settled()

    assert calls.names == ["lamp", "lamp"]


async def test_everything_is_looked_at_again_after_the_resync_period(
    env: Environment, clock: FakeClock
) -> None:
    calls = Calls()
    await env.client.of(Gadget).create(gadget())
    async with env.manager(with_controller(calls), resync=3600) as mgr:
        await mgr.settled()
        await clock.advance(3601)
        await mgr.settled()

    assert calls.names == ["lamp", "lamp"]
    assert calls.contexts[1].priority == LOW_PRIORITY


async def test_an_error_that_is_expected_is_retried_without_a_traceback(
    env: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    calls = 0

    async def reconcile(ctx: Context[Gadget]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise Temporary("the quota is used up")

    async with env.manager(with_controller(reconcile)) as mgr:
        await env.client.of(Gadget).create(gadget())
        await mgr.settled()

    (record,) = [record for record in caplog.records if "the quota is used up" in record.message]
    assert record.exc_info is None
    assert calls == 2
