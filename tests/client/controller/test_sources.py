"""Sources: what a controller is told of the changes of a cache."""

import asyncio
from typing import cast

from client.controller.caches import Caches
from client.controller.changes import Change, CreatedObject, RemovedObject, UpdatedObject
from client.controller.reconciler import NamespacedName
from client.controller.sources import Kind
from client.informer import SharedInformer
from client.runtime.clock import Clock
from client.workqueue.workqueue import Queue, WorkQueue
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.server import Gadget, Server


class Cached:
    """The caches of a manager, of which there is one."""

    def __init__(self, server: Server, clock: FakeClock) -> None:
        self.informer: SharedInformer[Gadget] = SharedInformer(server, clock=clock)
        self.running: asyncio.Task[None] | None = None

    async def served(self, cls: object, retry: object) -> None: ...

    def reader(self, cls: object) -> "Cached":
        return self

    def start(self) -> None:
        self.running = asyncio.ensure_future(self.informer.run())


class Scope:
    """The controller of a source."""

    name = "test"

    def __init__(self, caches: Cached, clock: FakeClock) -> None:
        self.caches = cast(Caches, caches)
        self.clock: Clock = clock
        self.queue: Queue[NamespacedName] = WorkQueue(clock=clock)


class Remembers:
    """A handler that remembers the changes it was told of."""

    def __init__(self) -> None:
        self.changes: list[Change[Gadget]] = []

    async def handle(self, change: Change[Gadget], queue: Queue[NamespacedName]) -> None:
        self.changes.append(change)


async def test_changes_are_told_with_what_is_known_of_them() -> None:
    """What a later list lacks was deleted, and its last known state may not be its last one."""
    clock, server, told = FakeClock(), Server(), Remembers()
    caches = Cached(server, clock)
    server.put("old")
    synced = asyncio.Event()
    running = asyncio.ensure_future(Kind(Gadget, told).run(Scope(caches, clock), synced.set))
    await settle()
    assert synced.is_set()

    server.put("old")
    await settle()
    server.put("seen")
    await settle()
    server.delete("seen")
    await settle()
    server.end_streams()
    server.delete("old")
    server.compact()
    await clock.advance(5)

    assert told.changes == [
        CreatedObject(told.changes[0].objects[0], is_in_initial_list=True),
        UpdatedObject(*told.changes[1].objects),
        CreatedObject(told.changes[2].objects[0], is_in_initial_list=False),
        RemovedObject("default/seen", told.changes[3].objects[0], state_unknown=False),
        RemovedObject("default/old", told.changes[1].objects[1], state_unknown=True),
    ]
    caches.informer.stop()
    running.cancel()
    assert caches.running is not None
    await asyncio.gather(running, caches.running, return_exceptions=True)
