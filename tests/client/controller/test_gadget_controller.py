"""The example controller, as a reader of the documentation would test it."""

import asyncio
from typing import Any

from apis.core.v1 import ConfigMap, Event
from apis.gadgets.controllers.gadget import GADGET, PART, run, scheme, setup
from apis.gadgets.v1 import Gadget
from client import AsyncClient, Config
from client.testing.env import Environment


def gadget(name: str = "lamp", *parts: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"model": "a1", "parts": [*parts], **spec}}


async def test_each_part_has_a_config_map(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        bulb = {"name": "bulb", "size": "2k", "port": "http"}
        await env.client.of(Gadget).create(gadget("lamp", bulb, {"name": "shade"}, replicas=3))
        await mgr.settled()

    made = await env.get(ConfigMap, "lamp-bulb")
    assert made.data == {"model": "a1", "size": "2k", "port": "http"}
    assert made.metadata.labels == {GADGET: "lamp", PART: "bulb"}
    assert (await env.get(ConfigMap, "lamp-shade")).data == {"model": "a1", "size": "1"}
    status = (await env.get(Gadget, "lamp")).status
    assert (status.ready_replicas, status.observed_generation) == (3, 1)
    assert status.conditions[0].message == "2 parts are in place"
    assert [e.reason for e in await env.list(Event)] == ["Synced"]


async def test_a_part_that_is_taken_out_takes_its_config_map_along(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        gadgets = env.client.of(Gadget)
        await gadgets.create(gadget("lamp", {"name": "bulb"}, {"name": "shade"}))
        await gadgets.create(gadget("other", {"name": "bulb"}))
        await mgr.settled()
        await gadgets.patch("lamp", {"spec": {"parts": [{"name": "bulb"}]}})
        await mgr.settled()

    assert {m.metadata.name for m in await env.list(ConfigMap)} == {"lamp-bulb", "other-bulb"}
    assert "removed lamp-shade" in [e.message for e in await env.list(Event)]


async def test_what_somebody_else_changes_is_put_right(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        maps = env.client.of(ConfigMap)
        await env.client.of(Gadget).create(gadget("lamp", {"name": "bulb"}))
        await mgr.settled()
        await maps.patch("lamp-bulb", {"data": {"model": "wrong", "note": "theirs"}})
        await mgr.settled()
        assert (await env.get(ConfigMap, "lamp-bulb")).data["model"] == "a1"
        assert (await env.get(ConfigMap, "lamp-bulb")).data["note"] == "theirs"

        await maps.delete("lamp-bulb")
        await mgr.settled()

    assert await env.find(ConfigMap, "lamp-bulb")


async def test_when_there_is_nothing_to_do_nothing_is_written(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(Gadget).create(gadget("lamp", {"name": "bulb"}))
        await mgr.settled()
        before = await env.get(ConfigMap, "lamp-bulb"), await env.get(Gadget, "lamp")
    async with env.manager(setup) as mgr:
        await mgr.settled()

    assert before == (await env.get(ConfigMap, "lamp-bulb"), await env.get(Gadget, "lamp"))


async def test_it_runs_as_a_program_over_the_network(env: Environment) -> None:
    config = Config.from_kubeconfig(await env.kubeconfig())
    async with AsyncClient(config, scheme=scheme()) as client:
        running = asyncio.create_task(run(client))
        await env.client.of(Gadget).create(gadget("lamp", {"name": "bulb"}))
        await env.observer.of(Gadget).wait("lamp", lambda g: bool(g.status.conditions), timeout=10)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert await env.find(ConfigMap, "lamp-bulb")
    lease = await env.observer.kind("Lease", "coordination.k8s.io/v1").get("gadget-controller")
    assert lease["spec"]["holderIdentity"] == ""
