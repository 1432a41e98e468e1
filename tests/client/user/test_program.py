"""What users write, from the definition of a group to its tests, each step as short as promised.

The server is a process of its own, reached as kubectl reaches it: by a kubeconfig, over TLS.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import strategies as st

from apimachinery.errors import Invalid
from apimachinery.testing import Strategies, assert_roundtrip
from apimachinery.testing.plugin import clock, env
from apis.core.register import add_to_scheme as add_core_to_scheme
from apis.core.v1 import ConfigMap
from apiserver import Group
from client import AsyncClient, Client, Conflict, Deleted
from client.controller import Context, Manager, Result
from client.informer import DeletedObject, InformerFactory
from client.testing import Environment, FakeClock
from tests.client.user.gadgets import GADGETS, GadgetSpecV1, GadgetV1, add_to_scheme
from tests.servers import Server, serving

__all__ = ["clock", "env"]

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent.parent.parent
DEFINITION = "tests.client.user.gadgets:GADGETS"


@pytest.fixture(scope="session")
def api_groups() -> Sequence[Group]:
    return (GADGETS,)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("user"), groups=(DEFINITION,)) as started:
        yield started


@pytest.fixture
def kubeconfig(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
    yield server.kubeconfig
    with Client.from_env(add_to_scheme) as c:
        c.of(GadgetV1).delete_collection()


# Define


def test_the_definition_loses_nothing() -> None:
    seconds = st.integers(-(10**6), 10**6)
    strategies: Strategies = {
        timedelta: st.builds(timedelta, seconds=seconds),
        (GadgetSpecV1, "timeout_seconds"): seconds,
    }

    assert_roundtrip(add_to_scheme, examples=10, strategies=strategies)


# Consume


@pytest.mark.usefixtures("kubeconfig")
def test_objects_are_consumed_without_await() -> None:
    with Client.from_env(add_to_scheme) as c:
        gadgets = c.of(GadgetV1, namespace="default")
        g = gadgets.create(
            {"metadata": {"name": "a", "labels": {"app": "a"}}, "spec": {"replicas": 2}}
        )
        listed = [item.metadata.name for item in gadgets.list(labels={"app": "a"})]
        with gadgets.edit("a") as edited:
            edited.spec.replicas += 1
        gadgets.status.patch("a", {"status": {"readyReplicas": 3}})
        gadgets.apply({"metadata": {"name": "a"}, "spec": {"replicas": 3}}, field_manager="me")
        seen = []
        for event in gadgets.watch(since=g.metadata.resource_version):
            seen.append((event.object.spec.replicas, event.object.status.ready_replicas))
            if any(entry.manager == "me" for entry in event.object.metadata.managed_fields):
                break

        with pytest.raises(Conflict):
            gadgets.update(g)
        with pytest.raises(Invalid, match=r"spec\.timeoutSeconds: .*must be positive"):
            gadgets.patch("a", {"spec": {"timeoutSeconds": -1}})

    assert listed == ["a"]
    assert seen == [(3, 0), (3, 3), (3, 3)]


@pytest.mark.usefixtures("kubeconfig")
async def test_objects_are_consumed_with_await() -> None:
    async with AsyncClient.from_env(add_to_scheme) as c:
        gadgets = c.of(GadgetV1, namespace="default")
        await gadgets.create({"metadata": {"name": "b", "labels": {"app": "a"}}})
        async for event in gadgets.watch(labels="app=a"):
            assert event.object.metadata.name == "b"
            break
        await gadgets.status.patch("b", {"status": {"readyReplicas": 3}})
        found = await gadgets.wait("b", lambda g: g.status.ready_replicas == 3, timeout=60)
        looked = asyncio.Event()

        def never(g: GadgetV1) -> bool:
            looked.set()
            return False

        waiting = asyncio.ensure_future(gadgets.wait("b", never))
        await looked.wait()
        await gadgets.delete("b")
        with pytest.raises(Deleted) as gone:
            await waiting

    assert found.spec == GadgetV1().spec
    assert gone.value.object.metadata.uid == found.metadata.uid


# Informers


@pytest.mark.usefixtures("kubeconfig")
async def test_a_cache_tells_what_changes() -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    async with AsyncClient.from_env(add_to_scheme) as client, InformerFactory(client) as informers:
        gadgets = informers.of(GadgetV1)
        gadgets.add_index("node", lambda g: [g.spec.node])

        @gadgets.on_update
        def changed(old: GadgetV1, new: GadgetV1) -> None:
            told.put_nowait(f"{old.spec.replicas} to {new.spec.replicas}")

        @gadgets.on_delete
        def gone(d: DeletedObject[GadgetV1]) -> None:
            told.put_nowait(f"{d.key} with {d.object.spec.replicas if d.object else '?'}")

        await client.of(GadgetV1).create({"metadata": {"name": "c"}, "spec": {"node": "n1"}})
        await informers.wait_synced(timeout=30)
        cached = gadgets.lister.namespace("default").get("c")
        by_node = gadgets.lister.by_index("node", "n1")
        await client.of(GadgetV1).patch("c", {"spec": {"replicas": 5}})
        await client.of(GadgetV1).delete("c")

        async with asyncio.timeout(30):
            assert await told.get() == "1 to 5"
            assert await told.get() == "default/c with 5"

    assert cached.spec.node == "n1"
    assert [found.metadata.name for found in by_node] == ["c"]


# Reconcile


async def reconcile(ctx: Context[GadgetV1]) -> Result | None:
    gadget = await ctx.get()
    if gadget is None:
        return None
    await ctx.apply(
        ctx.owned(ConfigMap, name=f"{gadget.metadata.name}-0", data={"node": gadget.spec.node})
    )
    await ctx.set_condition("Ready", True, reason="Running")
    ctx.event("Normal", "Synced", "config maps are in place")
    return Result(requeue_after=timedelta(minutes=5))


def setup(mgr: Manager) -> None:
    mgr.controller(GadgetV1, owns=[ConfigMap], workers=4)(reconcile)


@pytest.mark.usefixtures("kubeconfig")
async def test_a_manager_reconciles() -> None:
    async with AsyncClient.from_env(add_to_scheme, add_core_to_scheme) as client:
        mgr = Manager(client, name="gadget-controller", leader_election=True)
        mgr.controller(GadgetV1, owns=[ConfigMap], workers=4)(reconcile)
        async with mgr:
            await client.of(GadgetV1).create({"metadata": {"name": "d"}})
            made = await client.of(ConfigMap).wait("d-0", lambda _: True, timeout=30)
            ready = await client.of(GadgetV1).wait("d", lambda g: bool(g.status.conditions))

    assert made.metadata.owner_references[0].kind == "Gadget"
    assert ready.status.conditions[0].reason == "Running"


# Test


async def test_config_map_is_made(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(GadgetV1).create({"metadata": {"name": "a"}})
        await mgr.settled()
        assert (await env.get(ConfigMap, "a-0")).metadata.owner_references


async def test_survives_faults(env: Environment, clock: FakeClock) -> None:
    env.faults.watch(GadgetV1).gone_once()
    env.faults.update(GadgetV1, "status").conflict(times=2)
    async with env.manager(setup) as mgr:
        await env.client.of(GadgetV1).create({"metadata": {"name": "a"}})
        await mgr.settled()
        assert await env.get(ConfigMap, "a-0")
    assert not env.faults.pending


def test_the_same_tests_run_in_a_cluster_by_an_option(
    server: Server, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster is a process of its own, behind TLS, and its tests find nothing of each other."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini(
        "[pytest]\n"
        "asyncio_mode = auto\n"
        "asyncio_default_fixture_loop_scope = function\n"
        f"apimachinery_groups = {DEFINITION}\n"
    )
    pytester.makepyfile(
        """
        import pytest
        from apis.core.v1 import ConfigMap
        from tests.client.user.gadgets import GadgetV1
        from tests.client.user.test_program import setup

        @pytest.mark.parametrize("faulty", [False, True])
        async def test_it(env, faulty):
            assert env.config.server.startswith("https://127.0.0.1:")
            assert not await env.list(GadgetV1)
            if faulty:
                env.faults.watch(GadgetV1).gone_once()
            async with env.manager(setup) as mgr:
                await env.client.of(GadgetV1).create({"metadata": {"name": "a"}})
                await mgr.settled()
                assert (await env.get(ConfigMap, "a-0")).metadata.owner_references
        """
    )
    options = ("-p", "no:cacheprovider", f"--kubeconfig={server.kubeconfig}")

    result = pytester.runpytest_subprocess(*options)

    result.assert_outcomes(passed=2)
    spaces = server.request("GET", "/api/v1/namespaces").json["items"]
    left = [s for s in spaces if s["metadata"]["name"].startswith("test-")]
    assert all("deletionTimestamp" in space["metadata"] for space in left)


def test_a_kubeconfig_that_pytest_would_take_for_a_test_is_refused(
    server: Server, pytester: pytest.Pytester
) -> None:
    """Given as a word of its own, pytest looks for its configuration beside the kubeconfig."""
    result = pytester.runpytest_subprocess("--kubeconfig", str(server.kubeconfig))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pass --kubeconfig=*"])
