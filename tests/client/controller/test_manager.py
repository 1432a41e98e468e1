"""Managers: the order of starting and stopping, failures, the lead, probes and metrics."""

import asyncio
import os
import signal
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from apis.coordination.v1 import Lease
from apis.gadgets.v1 import Gadget
from client.cache.store import IndexFailed
from client.controller.context import Context
from client.controller.manager import Manager, ManagerStopped
from client.controller.reconciler import Result, Terminal
from client.controller.runnables import Function
from client.leaderelection.leader_election import LeaderElection, LeadershipLost
from client.monitoring.controller_metrics import request_observer
from client.monitoring.probes import InvalidProbeAddress
from client.monitoring.prometheus import PrometheusMetrics
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock


def gadget(name: str = "lamp") -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"model": "a1"}}


def nothing(manager: Manager) -> None: ...


class Recorder:
    """Something to run that writes down when it starts and stops."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log
        self.finish = asyncio.Event()
        self.stubborn = False

    async def run(self) -> None:
        self.log.append(f"{self.name} starts")
        try:
            await self.finish.wait()
            self.log.append(f"{self.name} ends")
        except asyncio.CancelledError:
            self.log.append(f"{self.name} is cancelled")
            raise

    def stop(self) -> None:
        self.log.append(f"{self.name} stops")
        if not self.stubborn:
            self.finish.set()


async def get(port: int, target: str, method: str = "GET") -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body.decode()


@asynccontextmanager
async def started(mgr: Manager, clock: FakeClock) -> AsyncIterator["asyncio.Task[None]"]:
    """A manager that may not have got far; it is stopped whatever the test thinks of it."""
    running = asyncio.create_task(mgr.start())
    try:
        yield running
    finally:
        mgr.stop()
        while not running.done():
            await clock.advance(1)


# Order


async def test_what_needs_no_leader_runs_before_the_election(
    env: Environment, clock: FakeClock
) -> None:
    log: list[str] = []
    await env.client.kind("Lease", "coordination.k8s.io/v1").create(
        {
            "metadata": {"name": "test"},
            "spec": {"holderIdentity": "other", "leaseDurationSeconds": 60},
        }
    )

    def setup(manager: Manager) -> None:
        manager.add(Recorder("leader", log))
        manager.add(Recorder("other", log), needs_leader=False)

    async with env.manager(setup, leader_election=True) as mgr:
        await clock.advance(30)
        assert log == ["other starts"]
        assert not mgr.is_leader

        await clock.advance(40)
        await mgr.wait_elected()
        await clock.advance(0)
        assert mgr.is_leader
        assert log == ["other starts", "leader starts"]


async def test_probes_come_first_then_caches_then_what_needs_no_leader_then_the_election(
    env: Environment, clock: FakeClock
) -> None:
    log: list[str] = []
    env.faults.watch(Gadget).latency(5, times=1)

    async def reconcile(ctx: Context[Gadget]) -> None: ...

    mgr = Manager(env.client, name="test", leader_election=True, probes="127.0.0.1:0", clock=clock)
    mgr.controller(Gadget)(reconcile)
    mgr.caches.reader(Gadget)
    mgr.add(Recorder("other", log), needs_leader=False)
    mgr.add(Recorder("leader", log))
    async with started(mgr, clock):
        await clock.advance(4)
        assert (await get(mgr.ports["probes"], "/healthz"))[0] == 200
        assert log == []

        await clock.advance(10)
        while len(log) < 2:
            await asyncio.sleep(0.001)

        assert log == ["other starts", "leader starts"]


async def test_caches_are_warm_before_the_election(env: Environment, clock: FakeClock) -> None:
    env.faults.watch(Gadget).latency(5, times=1)

    async def reconcile(ctx: Context[Gadget]) -> None: ...

    mgr = Manager(env.client, name="test", leader_election=True, clock=clock)
    mgr.controller(Gadget, warm_up=True)(reconcile)
    async with started(mgr, clock):
        await clock.advance(4)
        assert await env.find(Lease, "test") is None

        await clock.advance(10)
        await mgr.wait_elected()

        assert all(reader.informer.has_synced for reader in mgr.caches)


async def test_caches_are_kept_up_until_what_reads_them_has_stopped(
    env: Environment, clock: FakeClock
) -> None:
    last = Recorder("last", [])
    last.stubborn = True

    async with env.manager(lambda m: m.add(last)) as mgr:
        cache = (await mgr.caches.synced(Gadget)).informer
        mgr.stop()
        await clock.advance(1)
        made = await env.observer.of(Gadget).create(gadget())
        await cache.wait_version(made.metadata.resource_version)
        assert cache.running
        last.finish.set()

    assert cache.stopped


async def test_the_lease_is_released_after_everything_else_has_stopped(
    env: Environment, clock: FakeClock
) -> None:
    log: list[str] = []
    slow = Recorder("slow", log)
    slow.stubborn = True

    def setup(manager: Manager) -> None:
        manager.add(slow)

    async with env.manager(setup, leader_election=True, probes="127.0.0.1:0") as mgr:
        await mgr.wait_elected()
        port = mgr.ports["probes"]
        mgr.stop()
        await clock.advance(20)

        # It is asked to stop, has time to, and leads for as long as it takes.
        assert log == ["slow starts", "slow stops"]
        assert (await env.get(Lease, "test")).spec.holder_identity
        assert (await get(port, "/healthz"))[0] == 200
        slow.finish.set()

    assert log[-1] == "slow ends"
    assert (await env.get(Lease, "test")).spec.holder_identity == ""
    with pytest.raises(OSError):
        await get(port, "/healthz")


async def test_what_does_not_stop_in_time_is_cancelled(
    env: Environment, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    slow = Recorder("slow", log)
    slow.stubborn = True

    async with env.manager(lambda m: m.add(slow)) as mgr:
        mgr.stop()
        await clock.advance(29)
        assert log == ["slow starts", "slow stops"]
        await clock.advance(2)

    assert log[-1] == "slow is cancelled"
    assert "cancelling runnables not stopped within 30s: slow" in caplog.text


async def test_a_reconcile_under_way_is_finished_and_no_other_begun(env: Environment) -> None:
    begun: list[str] = []
    finished: list[str] = []
    hold = asyncio.Event()

    async def reconcile(ctx: Context[Gadget]) -> None:
        begun.append(ctx.name)
        await hold.wait()
        finished.append(ctx.name)

    for name in ("a", "b", "c"):
        await env.client.of(Gadget).create(gadget(name))
    async with env.manager(lambda m: m.controller(Gadget)(reconcile)) as mgr:
        while not begun:
            await asyncio.sleep(0.001)
        mgr.stop()
        while not mgr.controllers["gadget"].queue.shutting_down:
            await asyncio.sleep(0)
        hold.set()

    assert len(begun) == 1
    assert finished == begun


async def test_it_may_be_added_to_while_it_runs_and_not_after(env: Environment) -> None:
    log: list[str] = []
    async with env.manager(nothing) as mgr:
        mgr.add(Recorder("late", log))
        await asyncio.sleep(0)
        assert log == ["late starts"]

    with pytest.raises(ManagerStopped):
        mgr.add(Recorder("too late", log))
    with pytest.raises(ManagerStopped):
        await mgr.start()


async def test_a_controller_can_be_added_while_it_runs(env: Environment) -> None:
    seen: list[str] = []

    async def reconcile(ctx: Context[Gadget]) -> None:
        seen.append(ctx.name)

    await env.client.of(Gadget).create(gadget())
    async with env.manager(nothing) as mgr:
        mgr.controller(Gadget)(reconcile)
        await mgr.settled()

    assert seen == ["lamp"]


async def test_two_controllers_have_two_names(env: Environment) -> None:
    async def reconcile(ctx: Context[Gadget]) -> None: ...

    def setup(manager: Manager) -> None:
        manager.controller(Gadget)(reconcile)
        manager.controller(Gadget, name="other")(reconcile)
        with pytest.raises(ValueError, match="controller with name gadget already exists"):
            manager.controller(Gadget)(reconcile)
        with pytest.raises(ValueError, match="workers=0 must be at least 1"):
            manager.controller(Gadget, name="none", workers=0)(reconcile)

    async with env.manager(setup) as mgr:
        await mgr.settled()


# Failures


async def test_the_first_failure_stops_everything_and_is_raised(env: Environment) -> None:
    log: list[str] = []

    async def fails() -> None:
        raise LookupError("of a runnable")

    def setup(manager: Manager) -> None:
        manager.add(Recorder("other", log), needs_leader=False)
        manager.add(fails)

    with pytest.raises(LookupError, match="of a runnable"):
        async with env.manager(setup) as mgr:
            await mgr.settled()

    assert log == ["other starts", "other stops", "other ends"]


async def test_a_cache_that_would_lie_ends_the_manager(env: Environment) -> None:
    await env.client.of(Gadget).create(gadget())
    log: list[str] = []

    def wrong(obj: Gadget) -> list[str]:
        raise LookupError("of the index")

    def setup(manager: Manager) -> None:
        manager.caches.reader(Gadget).informer.add_index("wrong", wrong)
        manager.add(Recorder("other", log), needs_leader=False)

    with pytest.raises(IndexFailed, match="of the index"):
        async with env.manager(setup) as mgr:
            await mgr.settled()


async def test_a_runnable_may_end_by_itself(env: Environment) -> None:
    done: list[bool] = []

    async def once() -> None:
        done.append(True)

    async with env.manager(lambda m: m.add(once)) as mgr:
        await mgr.settled()
        assert mgr.failure is None

    assert done


async def test_a_runnable_that_was_cancelled_by_itself_is_a_failure(env: Environment) -> None:
    """Nobody asked it to end, so what it was for is not done any more."""

    async def cancelled() -> None:
        task = asyncio.ensure_future(asyncio.Event().wait())
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    with pytest.raises(asyncio.CancelledError):
        await Function(cancelled).run()
    with pytest.raises(RuntimeError, match=r"cancelled was cancelled, but not by the manager"):
        async with env.manager(lambda m: m.add(cancelled)) as mgr:
            while mgr.failure is None:
                await asyncio.sleep(0.001)


async def test_a_function_that_was_stopped_before_it_ran_does_not_run() -> None:
    ran: list[bool] = []

    async def work() -> None:
        ran.append(True)

    function = Function(work)
    function.stop()
    await function.run()

    assert not ran


async def test_losing_the_lead_cancels_the_work_at_once_and_ends_the_manager(
    env: Environment, clock: FakeClock
) -> None:
    log: list[str] = []
    slow = Recorder("slow", log)
    slow.stubborn = True

    with pytest.raises(LeadershipLost):
        async with env.manager(lambda m: m.add(slow), leader_election=True) as mgr:
            await mgr.wait_elected()
            await clock.advance(1)
            env.faults.on("").refuse(times=-1)
            await clock.advance(14)
            assert "slow is cancelled" in log
            env.faults.clear()


@pytest.mark.parametrize(
    ("variable", "given", "found"),
    [("", "", "default"), ("pods", "", "pods"), ("pods", "leases", "leases")],
)
async def test_the_lease_is_named_like_the_manager_and_is_where_its_pod_is(
    variable: str, given: str, found: str, env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_NAMESPACE", variable)
    for name in ("pods", "leases"):
        await env.client.kind("Namespace", "v1").create({"metadata": {"name": name}})
    options: dict[str, Any] = {"leader_election": True, "lease_namespace": given}

    async with env.manager(nothing, name="lamps", **options) as mgr:
        await mgr.wait_elected()
        lease = await env.get(Lease, "lamps", namespace=found)

    host, _, unique = (lease.spec.holder_identity or "").rpartition("_")
    assert host == socket.gethostname()
    assert uuid.UUID(unique)


async def test_a_manager_that_does_not_lead_has_probes_and_metrics(
    env: Environment, clock: FakeClock
) -> None:
    other = {"holderIdentity": "other", "leaseDurationSeconds": 60}
    leases = env.client.kind("Lease", "coordination.k8s.io/v1")
    await leases.create({"metadata": {"name": "test"}, "spec": other})
    addresses: dict[str, Any] = {"probes": "127.0.0.1:0", "metrics_address": "127.0.0.1:0"}

    async with env.manager(nothing, leader_election=True, **addresses) as mgr:
        assert not mgr.is_leader
        assert (await get(mgr.ports["probes"], "/readyz"))[0] == 200
        assert (await get(mgr.ports["metrics"], "/metrics"))[0] == 200


async def test_of_two_managers_one_works_and_the_other_takes_over(
    env: Environment, clock: FakeClock
) -> None:
    seen: list[tuple[str, str]] = []

    def setup_as(who: str) -> Any:
        async def reconcile(ctx: Context[Gadget]) -> None:
            seen.append((who, ctx.name))

        return lambda m: m.controller(Gadget, warm_up=True)(reconcile)

    one = LeaderElection("shared", "one")
    two = LeaderElection("shared", "two")
    await env.client.of(Gadget).create(gadget("a"))
    async with env.manager(setup_as("two"), leader_election=two) as second:
        await second.wait_elected()
        async with env.manager(setup_as("one"), leader_election=one) as first:
            await second.settled()
            await first.settled()
            assert seen == [("two", "a")]
            # The one that stands by is warm already.
            assert all(reader.informer.has_synced for reader in first.caches)
            second.stop()
            while (await env.get(Lease, "shared")).spec.holder_identity:
                await clock.advance(0.01)
            await clock.advance(5)
            await first.wait_elected()
            await first.settled()

    assert seen == [("two", "a"), ("one", "a")]


async def test_a_signal_stops_it(env: Environment) -> None:
    mgr = Manager(env.client, name="test")
    log: list[str] = []
    mgr.add(Recorder("work", log))
    running = asyncio.create_task(mgr.start(signals=True))
    while not log:
        await asyncio.sleep(0.001)

    os.kill(os.getpid(), signal.SIGTERM)
    await running

    assert log == ["work starts", "work stops", "work ends"]


@pytest.mark.parametrize("warm_up", [False, True])
async def test_it_can_be_stopped_before_its_caches_are_filled(
    warm_up: bool, env: Environment, clock: FakeClock
) -> None:
    async def reconcile(ctx: Context[Gadget]) -> None: ...

    env.faults.on("list", Gadget).forbidden(times=-1)
    env.faults.watch(Gadget).forbidden(times=-1)
    mgr = Manager(env.client, name="test", clock=clock)
    mgr.controller(Gadget, warm_up=warm_up)(reconcile)
    if not warm_up:
        mgr.caches.reader(Gadget)
    async with started(mgr, clock) as running:
        await clock.advance(5)
        assert not running.done()

        mgr.stop()
        async with asyncio.timeout(60):
            await asyncio.wait((running,))

        assert running.exception() is None


async def test_a_second_signal_does_not_wait(env: Environment) -> None:
    mgr = Manager(env.client, name="test")
    log: list[str] = []
    stubborn = Recorder("work", log)
    stubborn.stubborn = True
    mgr.add(stubborn)
    running = asyncio.create_task(mgr.start(signals=True))
    while not log:
        await asyncio.sleep(0.001)

    os.kill(os.getpid(), signal.SIGINT)
    while len(log) < 2:
        await asyncio.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(asyncio.CancelledError):
        await running

    assert log[-1] == "work is cancelled"


# Probes and metrics


async def test_probes_answer_by_the_checks(env: Environment) -> None:
    well = True

    def check() -> None:
        if not well:
            raise RuntimeError("the reason is for the log")

    async def always() -> None: ...

    def setup(manager: Manager) -> None:
        manager.add_ready_check("database", check)
        manager.add_ready_check("other", always)

    async with env.manager(setup, probes="127.0.0.1:0") as mgr:
        port = mgr.ports["probes"]
        assert await get(port, "/healthz") == (200, "ok")
        assert await get(port, "/livez?verbose") == (200, "[+]ping ok\nhealthz check passed\n")
        assert await get(port, "/readyz") == (200, "ok")
        assert await get(port, "/readyz/database") == (200, "ok")
        assert (await get(port, "/readyz/unknown"))[0] == 404

        well = False
        code, body = await get(port, "/readyz")
        assert code == 500
        assert body == ("[-]database failed: reason withheld\n[+]other ok\nreadyz check failed\n")
        assert await get(port, "/readyz?exclude=database") == (200, "ok")
        assert (await get(port, "/readyz/other"))[0] == 200


@pytest.mark.parametrize(
    ("target", "method", "code"),
    [
        ("/nowhere", "GET", 404),
        ("/healthz", "POST", 405),
        ("//[", "GET", 400),
        ("/a b", "GET", 400),
    ],
)
async def test_other_requests_are_refused(
    env: Environment, target: str, method: str, code: int
) -> None:
    async with env.manager(nothing, probes="127.0.0.1:0") as mgr:
        assert (await get(mgr.ports["probes"], target, method))[0] == code
        assert (await get(mgr.ports["probes"], "/healthz", "HEAD")) == (200, "")


@pytest.mark.parametrize("address", ["localhost", "localhost:http", ":99999", "1.2.3.4:-1"])
async def test_addresses_are_checked(env: Environment, address: str) -> None:
    with pytest.raises(InvalidProbeAddress, match=r"must be host:port"):
        Manager(env.client, name="test", probes=address)


async def test_metrics_have_the_names_that_dashboards_know(
    env: Environment, clock: FakeClock
) -> None:
    outcomes: list[Any] = [RuntimeError(), Result(requeue_after=100), Terminal()]

    async def reconcile(ctx: Context[Gadget]) -> Result | None:
        outcome = outcomes.pop(0) if outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def setup(manager: Manager) -> None:
        manager.controller(Gadget, workers=3)(reconcile)

    options: dict[str, Any] = {"metrics_address": "127.0.0.1:0", "leader_election": True}
    async with env.manager(setup, **options) as mgr:
        await mgr.wait_elected()
        for name in ("a", "b", "c"):
            await env.client.of(Gadget).create(gadget(name))
            await mgr.settled()
        code, text = await get(mgr.ports["metrics"], "/metrics")

    assert code == 200
    for line in (
        'controller_runtime_reconcile_total{controller="gadget",result="error"} 2.0',
        'controller_runtime_reconcile_total{controller="gadget",result="requeue_after"} 1.0',
        'controller_runtime_reconcile_total{controller="gadget",result="success"} 1.0',
        'controller_runtime_reconcile_errors_total{controller="gadget"} 2.0',
        'controller_runtime_terminal_reconcile_errors_total{controller="gadget"} 1.0',
        'controller_runtime_reconcile_timeouts_total{controller="gadget"} 0.0',
        'controller_runtime_reconcile_time_seconds_count{controller="gadget"} 4.0',
        'controller_runtime_max_concurrent_reconciles{controller="gadget"} 3.0',
        'controller_runtime_active_workers{controller="gadget"} 0.0',
        'workqueue_adds_total{controller="gadget",name="gadget"} 4.0',
        'workqueue_depth{controller="gadget",name="gadget",priority="0"} 0.0',
        'workqueue_retries_total{controller="gadget",name="gadget"} 2.0',
        'workqueue_queue_duration_seconds_count{controller="gadget",name="gadget"} 4.0',
        'workqueue_work_duration_seconds_count{controller="gadget",name="gadget"} 4.0',
        'workqueue_unfinished_work_seconds{controller="gadget",name="gadget"} 0.0',
        'workqueue_longest_running_processor_seconds{controller="gadget",name="gadget"} 0.0',
        'leader_election_master_status{name="test"} 1.0',
    ):
        assert line in text


async def test_what_cannot_be_shown_is_not_served(env: Environment) -> None:
    class Counting(PrometheusMetrics):
        pass

    Manager(env.client, name="test", metrics_address="127.0.0.1:0", metrics=Counting())
    from client.monitoring.controller_metrics import NoMetricsSink

    with pytest.raises(TypeError, match="needs PrometheusMetrics"):
        Manager(env.client, name="test", metrics_address="127.0.0.1:0", metrics=NoMetricsSink())


async def test_requests_of_a_client_can_be_counted(env: Environment) -> None:
    metrics = PrometheusMetrics()
    observe = request_observer(metrics, "apiserver")
    env.client.sender._observe = observe
    await env.client.of(Gadget).create(gadget())

    text = metrics.exposition().decode()
    assert 'rest_client_requests_total{code="201",host="apiserver",method="POST"} 1.0' in text
