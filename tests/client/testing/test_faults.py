"""Faults: each strikes what it is for, as often as it should, and controllers survive them all."""

import asyncio
import random
from typing import Any

import pytest

from apimachinery.errors import (
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    Invalid,
    ServiceUnavailable,
    TooManyRequests,
)
from apis.core.v1 import ConfigMap
from apis.gadgets.controllers.gadget import setup
from apis.gadgets.v1 import Gadget
from client import TransportError
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock
from client.transport.transport import ConnectionLost, ConnectionRefused


def gadget(name: str = "lamp", *parts: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"model": "a1", "parts": [{"name": part} for part in parts]},
    }


# What strikes


async def test_a_conflict_is_what_the_server_would_say(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    lamp = await gadgets.create(gadget())
    env.faults.update(Gadget).conflict()

    with pytest.raises(Conflict, match=r'gadgets.example.io "lamp": the object has been mod'):
        await gadgets.update(lamp)
    assert not env.faults.pending
    await gadgets.update(lamp)


async def test_a_fault_is_for_its_verb_its_class_and_its_subresource_only(
    env: Environment,
) -> None:
    env.faults.update(Gadget, "status").conflict()
    env.faults.create(ConfigMap).internal_error()
    env.faults.get(Gadget).forbidden()
    gadgets = env.client.of(Gadget)
    lamp = await gadgets.create(gadget())
    lamp = await gadgets.update(lamp)

    assert env.faults.pending
    with pytest.raises(Conflict):
        await gadgets.status.update(lamp)
    with pytest.raises(InternalError):
        await env.client.of(ConfigMap).create({"metadata": {"name": "m"}})
    with pytest.raises(Forbidden):
        await gadgets.get("lamp")
    assert not env.faults.pending


@pytest.mark.parametrize("name", ["status", "gadgets"])
async def test_an_object_may_be_called_like_a_subresource(env: Environment, name: str) -> None:
    gadgets = env.client.of(Gadget)
    await gadgets.create(gadget(name))
    env.faults.get(Gadget).forbidden()

    await gadgets.status.get(name)
    with pytest.raises(Forbidden):
        await gadgets.get(name)


async def test_what_the_test_itself_looks_at_is_true(env: Environment) -> None:
    await env.client.of(Gadget).create(gadget())
    env.faults.on("").unavailable(times=-1)

    assert (await env.get(Gadget, "lamp")).metadata.name == "lamp"
    assert len(await env.list(Gadget)) == 1


async def test_errors_of_the_server(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    env.faults.get(Gadget).unavailable().gone_once().error(Invalid("no"))
    for expected in (ServiceUnavailable, Expired, Invalid):
        with pytest.raises(expected):
            await gadgets.get("lamp")


async def test_a_client_comes_back_when_it_was_told_when(
    env: Environment, clock: FakeClock
) -> None:
    await env.client.of(Gadget).create(gadget())
    env.faults.get(Gadget).too_many_requests(retry_after=7).unavailable(retry_after=3)
    asking = asyncio.create_task(env.client.of(Gadget).get("lamp"))

    await clock.advance(9)
    assert not asking.done()
    await clock.advance(2)

    assert asking.done()
    assert clock.slept == [7.0, 3.0]


async def test_without_being_told_it_does_not(env: Environment, clock: FakeClock) -> None:
    env.faults.create(Gadget).error(TooManyRequests("busy"))

    with pytest.raises(TooManyRequests):
        await env.client.of(Gadget).create(gadget())
    assert not clock.slept


async def test_latency_passes_by_the_clock_of_the_test(env: Environment, clock: FakeClock) -> None:
    env.faults.create(Gadget).latency(30)
    creating = asyncio.create_task(env.client.of(Gadget).create(gadget()))

    await clock.advance(29)
    assert await env.find(Gadget, "lamp") is None
    await clock.advance(1)

    assert creating.done()
    assert await env.find(Gadget, "lamp")


async def test_a_refused_request_is_not_carried_out_and_a_lost_answer_is(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    env.faults.create(Gadget).refuse()
    with pytest.raises(ConnectionRefused):
        await gadgets.create(gadget("a"))
    env.faults.create(Gadget).lose()
    with pytest.raises(ConnectionLost):
        await gadgets.create(gadget("b"))

    assert [g.metadata.name for g in await env.list(Gadget)] == ["b"]


async def test_an_open_watch_is_struck_at_once(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    lamp = await gadgets.create(gadget())
    watch = gadgets.watch(since=lamp.metadata.resource_version)
    next_one = asyncio.ensure_future(watch.__anext__())
    await gadgets.patch("lamp", {"spec": {"replicas": 2}})
    await next_one

    waiting = asyncio.ensure_future(watch.__anext__())
    await asyncio.sleep(0)
    env.faults.watch(Gadget).gone_once()
    with pytest.raises(Expired, match="too old resource version"):
        await waiting


async def test_a_watch_goes_on_after_it_was_ended(env: Environment, clock: FakeClock) -> None:
    gadgets = env.client.of(Gadget)
    env.faults.watch(Gadget).end(after=2).cut(after=1)
    seen: list[int] = []

    async def follow() -> None:
        async with gadgets.watch() as watch:
            async for event in watch:
                seen.append(event.object.spec.replicas)
                if len(seen) == 6:
                    return

    following = asyncio.create_task(follow())
    await gadgets.create(gadget())
    for number in range(5):
        await gadgets.patch("lamp", {"spec": {"replicas": number + 2}})
        await asyncio.sleep(0.01)
        await clock.advance(2)
    for _ in range(100):
        if following.done():
            break
        await asyncio.sleep(0.01)
        await clock.advance(2)

    assert following.done()
    assert seen == [1, 2, 3, 4, 5, 6]
    assert not env.faults.pending


def test_only_a_watch_is_a_stream(env: Environment) -> None:
    with pytest.raises(ValueError, match="only a watch has a stream"):
        env.faults.get(Gadget).cut()


async def test_faults_can_be_taken_back(env: Environment) -> None:
    env.faults.on("").unavailable(times=-1)
    with pytest.raises(ServiceUnavailable):
        await env.client.of(Gadget).create(gadget())
    env.faults.clear()

    await env.client.of(Gadget).create(gadget())


# Surviving


async def test_a_controller_survives_a_watch_that_expires_and_conflicts(
    env: Environment, clock: FakeClock
) -> None:
    env.faults.watch(Gadget).gone_once()
    env.faults.update(Gadget, "status").conflict(times=2)
    async with env.manager(setup) as mgr:
        await env.client.of(Gadget).create(gadget("lamp", "bulb"))
        await mgr.settled()

        assert not env.faults.pending
        assert await env.find(ConfigMap, "lamp-bulb")
        assert (await env.get(Gadget, "lamp")).status.conditions


@pytest.mark.parametrize("seed", range(4))
async def test_a_controller_gets_there_whatever_goes_wrong(
    env: Environment, clock: FakeClock, seed: int
) -> None:
    chance = random.Random(seed)
    observer = env.observer.of(Gadget)
    wanted: dict[str, set[str]] = {}
    async with env.manager(setup) as mgr:
        for _ in range(25):
            _plan_something(env, chance)
            name = chance.choice("abc")
            parts = {p for p in ("x", "y", "z") if chance.random() < 0.5}
            if name not in wanted:
                await observer.create(gadget(name, *parts))
            else:
                change = {"spec": {"parts": [{"name": p} for p in parts]}}
                await observer.patch(name, change)
            wanted[name] = parts
            if chance.random() < 0.3:
                await mgr.settled()
        env.faults.clear()
        await mgr.settled()

    made = {m.metadata.name for m in await env.list(ConfigMap)}
    assert made == {f"{name}-{part}" for name, parts in wanted.items() for part in parts}
    for one in await env.list(Gadget):
        assert one.status.observed_generation == one.metadata.generation


def _plan_something(env: Environment, chance: random.Random) -> None:
    faults = env.faults
    plans = [
        lambda: faults.watch(Gadget).gone_once(),
        lambda: faults.watch(ConfigMap).cut(),
        lambda: faults.watch(Gadget).end(),
        lambda: faults.watch(Gadget).unavailable(),
        lambda: faults.list(Gadget).internal_error(),
        lambda: faults.update(Gadget, "status").conflict(times=2),
        lambda: faults.update(Gadget, "status").lose(),
        lambda: faults.patch(ConfigMap).internal_error(),
        lambda: faults.patch(ConfigMap).lose(),
        lambda: faults.delete(ConfigMap).refuse(),
        lambda: faults.delete(ConfigMap).lose(),
        lambda: faults.patch(ConfigMap).latency(1.5, times=2),
    ]
    chance.choice(plans)()


async def test_transport_errors_are_what_clients_know(env: Environment) -> None:
    env.faults.create(Gadget).refuse().lose()
    for _ in range(2):
        with pytest.raises(TransportError):
            await env.client.of(Gadget).create(gadget())
