"""The recount beside charges, other recounts and writers that have died; without the controller."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource, GroupVersionResource
from apis.core.quota.ledger import QUOTAS
from apis.core.quota.recount import Recount
from apis.core.quota.types import PendingCharge, ResourceQuota
from apiserver.context import context_for
from apiserver.controlplane import server_controllers as controllers
from tests.apis.core.quota.quota_server import WAIT, Namespace, Server, config_map, serving
from tests.apis.core.quota.scenarios import container, pod

pytestmark = pytest.mark.asyncio(loop_scope="module")

Meanwhile = Callable[[], Awaitable[object]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(controllers, "_add_quotas", lambda *_: None)
        async with serving() as running:
            yield running


class Interrupted:
    """The stores of a server; something happens between the count and the correction."""

    def __init__(self, server: Server, meanwhile: Meanwhile) -> None:
        self._server = server
        self._meanwhile: Meanwhile | None = meanwhile

    def __call__(self, resource: GroupResource) -> Any:
        store = self._server.app.groups.store(resource)
        return self if resource == QUOTAS and self._meanwhile is not None else store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server.app.groups.store(QUOTAS), name)

    async def rewrite(self, *arguments: Any) -> Any:
        meanwhile, self._meanwhile = self._meanwhile, None
        assert meanwhile is not None
        await meanwhile()
        return await self._server.app.groups.store(QUOTAS).rewrite(*arguments)


async def with_quota(server: Server, **hard: str) -> Namespace:
    here = await server.namespace()
    document = {"metadata": {"name": "q"}, "spec": {"hard": hard}}
    await here.created("resourcequotas", document)
    await here.status()  # so that the cache has it
    return here


async def enforce(server: Server, here: Namespace) -> None:
    await Recount(server.app.groups.store)(here.name)
    await here.status()  # so that the cache has it


async def rewrite(server: Server, here: Namespace, change: Callable[[ResourceQuota], None]) -> None:
    """Change the stored quota behind everybody's back, in its newest state."""
    await here.status()

    def changed(quota: ResourceQuota) -> ResourceQuota:
        change(quota)
        return quota

    context = context_for(
        "update", GroupVersionResource("", "v1", "resourcequotas"), namespace=here.name, name="q"
    )
    await server.app.groups.store(QUOTAS).rewrite("q", changed, context)
    await here.status()


async def charge(server: Server, here: Namespace, *, name: str = "x", **fields: str) -> None:
    """Leave a pending charge of one config map, as a writer that dies."""

    def add(quota: ResourceQuota) -> None:
        pending = PendingCharge(id=name, resource="configmaps", name=name, uid="u")
        quota.status.pending = [pending.model_copy(update={"used": {"configmaps": Quantity(1)}})]
        quota.status.pending[0].uid = fields.get("uid", "u")
        quota.status.pending[0].version = fields.get("version", "")
        quota.status.used = {"configmaps": quota.status.used["configmaps"] + Quantity(1)}

    await rewrite(server, here, add)


async def pending(server: Server, here: Namespace) -> list[str]:
    quota = await server.app.groups.store(QUOTAS).read("q", namespace=here.name)
    return [charge.id for charge in quota.status.pending]


async def settled(server: Server, here: Namespace) -> None:
    """Wait until the writers have reported the outcome of their charges."""
    async with asyncio.timeout(WAIT):
        while await pending(server, here):
            await asyncio.sleep(0.01)


async def test_objects_from_before_a_quota_are_counted(server: Server) -> None:
    here = await with_quota(server, configmaps="1")
    await here.created("configmaps", config_map("a"))
    await here.created("configmaps", config_map("b"))
    await here.driver.get(here.path("configmaps"))

    await Recount(server.app.groups.store)(here.name)

    assert await here.status() == {"hard": {"configmaps": "1"}, "used": {"configmaps": "2"}}


async def test_charges_during_a_recount_are_kept(server: Server) -> None:
    here = await with_quota(server, configmaps="9")
    await enforce(server, here)
    for name in ("a", "b", "c"):
        await here.created("configmaps", config_map(name))
    await here.driver.delete(here.path("configmaps", "a"))
    await settled(server, here)
    await here.driver.get(here.path("configmaps"))

    async def write() -> None:
        for name in ("d", "e", "f"):
            await here.created("configmaps", config_map(name))
        await here.driver.delete(here.path("configmaps", "d"))

    await Recount(Interrupted(server, write))(here.name)

    await settled(server, here)
    # Of the deletions only the first was counted: b, c and the three that were charged.
    assert (await here.status())["used"] == {"configmaps": "5"}
    await Recount(server.app.groups.store)(here.name)
    assert (await here.status())["used"] == {"configmaps": "4"}


async def test_two_recounts_of_one_state_correct_it_once(server: Server) -> None:
    """A leader that was blocked overlaps with its successor."""
    here = await with_quota(server, configmaps="9")
    await enforce(server, here)
    await here.created("configmaps", config_map("a"))
    await here.driver.delete(here.path("configmaps", "a"))
    await settled(server, here)
    await here.driver.get(here.path("configmaps"))

    async def other() -> None:
        await Recount(server.app.groups.store)(here.name)
        await here.created("configmaps", config_map("b"))
        await here.status()

    await Recount(Interrupted(server, other))(here.name)

    assert (await here.create("configmaps", config_map("b"))).code == 409
    assert (await here.status())["used"] == {"configmaps": "1"}


async def test_the_charge_of_a_dead_writer_counts_until_it_is_given_up(server: Server) -> None:
    here = await with_quota(server, configmaps="9")
    time = [100.0]
    recount = Recount(server.app.groups.store, clock=lambda: time[0], abandoned=30)
    await recount(here.name)
    await charge(server, here)

    delay = await recount(here.name)
    while_waiting = await here.status()
    time[0] += 31
    await recount(here.name)

    assert delay == pytest.approx(30.1)
    assert while_waiting["used"] == {"configmaps": "1"}
    assert (await here.status())["used"] == {"configmaps": "0"}
    assert await pending(server, here) == []


async def test_the_charge_of_a_dead_writer_is_closed_if_its_object_is_stored(
    server: Server,
) -> None:
    here = await with_quota(server, configmaps="9")
    recount = Recount(server.app.groups.store)
    created = await here.created("configmaps", config_map("x"))
    await here.driver.get(here.path("configmaps"))
    await recount(here.name)
    await charge(server, here, uid=created["metadata"]["uid"])

    await recount(here.name)

    assert (await here.status())["used"] == {"configmaps": "1"}
    assert await pending(server, here) == []


async def test_the_charge_of_an_update_ends_with_the_next_version(server: Server) -> None:
    here = await with_quota(server, configmaps="9")
    recount = Recount(server.app.groups.store)
    created = await here.created("configmaps", config_map("x"))
    meta = created["metadata"]
    await recount(here.name)
    await charge(server, here, uid=meta["uid"], version=meta["resourceVersion"])

    await recount(here.name)
    before = await pending(server, here)
    await here.driver.patch(here.path("configmaps", "x"), {"data": {"n": "m"}})
    await here.driver.get(here.path("configmaps"))
    await recount(here.name)

    assert before == ["x"]
    assert await pending(server, here) == []
    assert (await here.status())["used"] == {"configmaps": "1"}


async def test_an_update_that_is_withdrawn_during_a_recount_is_not_given_back_twice(
    server: Server,
) -> None:
    here = await with_quota(server, configmaps="9")
    recount = Recount(server.app.groups.store)
    created = await here.created("configmaps", config_map("x"))
    meta = created["metadata"]
    await recount(here.name)
    await charge(server, here, uid=meta["uid"], version=meta["resourceVersion"])
    await here.driver.patch(here.path("configmaps", "x"), {"data": {"n": "m"}})
    await here.driver.get(here.path("configmaps"))

    def withdraw(quota: ResourceQuota) -> None:
        quota.status.pending = []
        quota.status.used = {"configmaps": quota.status.used["configmaps"] - Quantity(1)}

    await Recount(Interrupted(server, lambda: rewrite(server, here, withdraw)))(here.name)

    assert (await here.status())["used"] == {"configmaps": "1"}


async def test_a_pod_whose_node_is_lost_stops_counting(server: Server) -> None:
    here = await with_quota(server, pods="9")
    await here.created("pods", {**pod(container()), "metadata": {"name": "p"}})
    path = here.path("pods", "p")
    await here.driver.post(
        f"{path}/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    )
    await here.driver.delete(path + "?gracePeriodSeconds=10")
    await here.driver.get(here.path("pods"))
    later = datetime.now(UTC) + timedelta(seconds=60)

    soon = await Recount(server.app.groups.store)(here.name)
    at_first = await here.status()
    await Recount(server.app.groups.store, now=lambda: later)(here.name)

    assert soon is not None
    assert soon < 30
    assert at_first["used"] == {"pods": "1"}
    assert (await here.status())["used"] == {"pods": "0"}


async def test_a_namespace_without_quotas_is_not_counted(server: Server) -> None:
    here = await server.namespace()

    assert await Recount(server.app.groups.store)(here.name) is None
