"""The informer on the real server and the real client: only the faults between them are made up."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import pytest

from apimachinery.meta.options import ListOptions
from apis.gadgets.install import GADGETS
from apis.gadgets.v1 import Gadget
from client.informer import DeletedObject, Handler, SharedInformer, object_key
from client.testing.env import Environment, environment
from client.testing.fake_clock import FakeClock
from client.testing.faults import FaultTarget
from client.watches.stream_watcher import ListWatch, StreamWatcher

CHANGES = 400
SEED = 20_240_101
NAMES = [f"gadget-{number}" for number in range(20)]

Fault: TypeAlias = Callable[[FaultTarget], object]


class Picture(Handler[Gadget]):
    """The collection as a handler sees it, and how many different states it has seen."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.told = 0

    def on_add(self, obj: Gadget, is_in_initial_list: bool) -> None:
        assert object_key(obj) not in self.known
        self._note(obj)

    def on_update(self, old: Gadget, new: Gadget) -> None:
        assert self.known[object_key(old)] == old.metadata.resource_version
        self._note(new)

    def on_delete(self, deleted: DeletedObject[Gadget]) -> None:
        del self.known[deleted.key]
        self.told += 1

    def _note(self, obj: Gadget) -> None:
        self.known[object_key(obj)] = obj.metadata.resource_version
        self.told += 1


@pytest.fixture
async def env() -> AsyncIterator[Environment]:
    async with environment((GADGETS,), clock=FakeClock()) as made:
        yield made


async def change(env: Environment, luck: random.Random, number: int) -> None:
    gadgets = env.observer.of(Gadget, namespace="default")
    name = luck.choice(NAMES)
    found = await env.find(Gadget, name, namespace="default")
    if found is None:
        await gadgets.create({"metadata": {"name": name}, "spec": {"model": "a1"}})
    elif luck.random() < 0.3:
        await gadgets.delete(name)
    else:
        await gadgets.patch(name, {"spec": {"replicas": number % 7}})


@pytest.mark.parametrize("websocket", [False, True], ids=["chunked", "websocket"])
async def test_an_informer_survives_faults_on_the_way_to_the_real_server(
    websocket: bool, env: Environment
) -> None:
    luck = random.Random(SEED)
    gadgets: Any = env.client.of(Gadget, namespace="default")
    source: ListWatch[Gadget] = (gadgets.over_websocket() if websocket else gadgets).list_watch()
    watches = 0

    async def watch(options: ListOptions) -> StreamWatcher[Gadget]:
        nonlocal watches
        watches += 1
        return await source.watch(options)

    informer = SharedInformer(ListWatch(source.list, watch), expected=Gadget, clock=env.clock)
    picture = Picture()
    registration = informer.add_handler(picture)
    running = asyncio.ensure_future(informer.run())
    clock = env.clock
    assert isinstance(clock, FakeClock)
    faults: tuple[Fault, ...] = (
        FaultTarget.cut,
        FaultTarget.end,
        FaultTarget.gone,
        FaultTarget.refuse,
        FaultTarget.internal_error,
        lambda target: target.too_many_requests(retry_after=1),
    )

    for number in range(CHANGES):
        await change(env, luck, number)
        if luck.random() < 0.1:
            luck.choice(faults)(env.faults.watch(Gadget))
        if luck.random() < 0.05:
            luck.choice((FaultTarget.lose, FaultTarget.gone))(env.faults.list(Gadget))
        if luck.random() < 0.3:
            await clock.advance(luck.choice((0.1, 5, 60)))
    env.faults.clear()
    newest = (await env.observer.of(Gadget, namespace="default").page()).resource_version
    reached = asyncio.ensure_future(informer.wait_version(newest))
    for _ in range(300):
        await clock.advance(1)
        if reached.done():
            break

    expected = {object_key(obj): obj for obj in await env.list(Gadget, namespace="default")}
    assert {object_key(obj): obj for obj in informer.store.objects()} == expected
    await clock.advance(5)
    assert picture.known == {k: obj.metadata.resource_version for k, obj in expected.items()}
    assert registration.failures == 0, "no history that could not be"
    assert picture.told > CHANGES / 3
    assert watches > CHANGES / 20, "the faults have struck"
    informer.stop()
    await running
