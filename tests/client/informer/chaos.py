"""Chaos: a server in trouble, and handlers that know which histories could have happened."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from apimachinery.errors import APIError, Expired, InternalError, Timeout, TooManyRequests
from apimachinery.watch import EventType
from client.cache.resource_versions import compare
from client.informer import DeletedObject, Handler, InformerOptions, SharedInformer, object_key
from tests.client.informer.clock import FakeClock
from tests.client.informer.server import Gadget, Server

PHASES = 10
NAMES = [(f"ns{n % 3}", f"gadget-{n}") for n in range(150)]


class Recorded(Server):
    """A server of which everything that ever happened is known, also what it has compacted."""

    def __init__(self) -> None:
        super().__init__()
        self.truth: dict[tuple[str, str], tuple[EventType, int]] = {}

    def _happened(self, kind: EventType, obj: Gadget) -> None:
        self.truth[object_key(obj), obj.metadata.resource_version] = (kind, obj.spec.size)
        super()._happened(kind, obj)


class Historian(Handler[Gadget]):
    """Keeps its own picture of the collection, and objects to a history that cannot be.

    What it is told of an object must follow on what it was told before, must never go back, and
    each state must be one that the server really had.
    """

    def __init__(self, server: Recorded) -> None:
        self._server = server
        self.known: dict[str, Gadget] = {}
        self.told = 0
        self.complaints: list[str] = []
        self._newest: dict[str, str] = {}

    def on_add(self, obj: Gadget, is_in_initial_list: bool) -> None:
        key = object_key(obj)
        self._expect(key not in self.known, f"{key} was added twice")
        self._happened(key, obj, deleted=False)
        self.known[key] = obj

    def on_update(self, old: Gadget, new: Gadget) -> None:
        key = object_key(new)
        self._expect(_same(self.known.get(key), old), f"{key} was updated from a state never told")
        self._happened(key, new, deleted=False)
        self.known[key] = new

    def on_delete(self, deleted: DeletedObject[Gadget]) -> None:
        self._expect(deleted.key in self.known, f"{deleted.key} was deleted and not there")
        last = self.known.pop(deleted.key, None)
        if deleted.final_state_unknown:
            self._expect(
                _same(last, deleted.object), f"{deleted.key}: another state in the tombstone"
            )
        elif deleted.object is not None:
            self._happened(deleted.key, deleted.object, deleted=True)

    def _happened(self, key: str, obj: Gadget, *, deleted: bool) -> None:
        version = obj.metadata.resource_version
        kind, size = self._server.truth.get((key, version), (None, None))
        self._expect(size == obj.spec.size, f"{key} never was what it is said to be at {version}")
        self._expect(deleted == (kind is EventType.DELETED), f"{key} at {version} was {kind}")
        before = self._newest.get(key, "1")
        self._expect(compare(version, before) >= 0, f"{key} went from {before} back to {version}")
        self._newest[key] = version
        self.told += 1

    def _expect(self, fine: bool, complaint: str) -> None:
        if not fine:
            self.complaints.append(complaint)


def _same(one: Gadget | None, other: Gadget | None) -> bool:
    """Whether both are one state of an object; a list brings equal objects again."""
    return (
        one is not None
        and other is not None
        and one.metadata.resource_version == other.metadata.resource_version
    )


class Slow(Historian):
    """Needs some turns of the event loop for most notifications."""

    def __init__(self, server: Recorded, luck: random.Random) -> None:
        super().__init__(server)
        self._luck = luck

    async def on_update(self, old: Gadget, new: Gadget) -> None:  # type: ignore[override]
        for _ in range(self._luck.randrange(4)):
            await asyncio.sleep(0)
        super().on_update(old, new)


class Moody(Historian):
    """Takes note and then raises, now and again."""

    def __init__(self, server: Recorded, luck: random.Random) -> None:
        super().__init__(server)
        self._luck = luck

    def on_update(self, old: Gadget, new: Gadget) -> None:
        super().on_update(old, new)
        if self._luck.random() < 0.01:
            raise RuntimeError("not in the mood")


class Chaos:
    """Changes the server, and breaks what can be broken."""

    def __init__(self, server: Recorded, clock: FakeClock, luck: random.Random) -> None:
        self._server = server
        self._clock = clock
        self._luck = luck
        self.faults = 0

    async def run(self, changes: int) -> None:
        for number in range(changes):
            self._change(number)
            if self._luck.random() < 0.05:
                await self._interlude()

    def _change(self, number: int) -> None:
        namespace, name = self._luck.choice(NAMES)
        if f"{namespace}/{name}" in self._server.objects and self._luck.random() < 0.3:
            self._server.delete(name, namespace=namespace)
        else:
            self._server.put(name, namespace=namespace, size=number)

    async def _interlude(self) -> None:
        server, luck = self._server, self._luck
        if luck.random() < 0.25:
            self.faults += 1
            luck.choice(
                (
                    server.end_streams,
                    lambda: server.end_streams(losing=True),
                    server.expire_streams,
                    server.compact,
                    self._restart,
                    self._refuse_list,
                    self._fail_streams,
                )
            )()
        if luck.random() < 0.3:
            server.bookmark()
        if luck.random() < 0.7:
            await self._clock.advance(luck.choice((0.1, 1, 10, 60)))
        else:
            for _ in range(luck.randrange(20)):
                await asyncio.sleep(0)

    def _restart(self) -> None:
        self._server.end_streams(losing=True)
        self._server.compact()
        for _ in range(self._luck.randrange(3)):
            self._server.watch_errors.append(ConnectionRefusedError("nobody listens"))
            self._server.list_errors.append(ConnectionRefusedError("nobody listens"))

    def _refuse_list(self) -> None:
        errors: tuple[Exception, ...] = (
            Expired("too old"),
            Timeout.future_revision(10**6, self._server.revision),
            InternalError.of("etcd is away"),
            TooManyRequests.of("busy"),
            ConnectionResetError("cut"),
        )
        self._server.list_errors.append(self._luck.choice(errors))
        self._server.watch_errors.append(self._luck.choice(errors))
        self._server.end_streams(losing=True)

    def _fail_streams(self) -> None:
        errors: tuple[APIError, ...] = (
            InternalError.of("it broke"),
            TooManyRequests.of("too slow"),
            APIError("strange", code=418),
        )
        for stream in self._server.open:
            stream.fail(self._luck.choice(errors))


@asynccontextmanager
async def running(informer: SharedInformer[Gadget]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(informer.run())
        yield
        informer.stop()


Sabotage: TypeAlias = Callable[[SharedInformer[Gadget], random.Random], None]


async def survive(
    changes: int,
    options: InformerOptions,
    *,
    seed: int,
    sabotage: Sabotage = lambda informer, luck: None,
) -> None:
    """Let *changes* happen to an informer among faults, and look at it now and again."""
    luck = random.Random(seed)
    random.seed(seed)  # backoffs have luck of their own; a run that failed must fail again
    server, clock = Recorded(), FakeClock()
    server.pause = lambda: luck.choice((0, 0, 0, 1, 3))
    errors: list[Exception] = []
    options = replace(options, on_error=errors.append)
    informer = SharedInformer(server, expected=Gadget, options=options, clock=clock)
    historians = [Historian(server), Slow(server, luck), Moody(server, luck)]
    registrations = [informer.add_handler(each) for each in historians]
    for namespace, name in NAMES[:50]:
        server.put(name, namespace=namespace)

    async with running(informer):
        sabotage(informer, luck)
        chaos = Chaos(server, clock, luck)
        for _ in range(PHASES):
            await chaos.run(changes // PHASES)
            # The last changes get lost on their way, and nothing after them covers that up.
            server.end_streams(losing=True)
            await calm(server, clock, lambda: informer.resource_version == str(server.revision))

            assert {object_key(obj): obj for obj in informer.store.objects()} == server.objects
            assert_indexed(informer, server)
            historians.append(Historian(server))
            registrations.append(informer.add_handler(historians[-1]))
        await calm(server, clock, lambda: not any(each.pending for each in registrations))

        for historian in historians:
            assert historian.complaints == []
            assert historian.known == server.objects
        assert chaos.faults > changes / 150
        assert historians[0].told > changes / 2, "most changes were told, not only found by lists"
        assert errors
        assert registrations[2].failures > 0


async def calm(server: Server, clock: FakeClock, reached: Callable[[], bool]) -> None:
    """Let every error that was prepared be forgotten and every backoff pass."""
    server.list_errors.clear()
    server.watch_errors.clear()
    for _ in range(1000):
        await clock.advance(1)
        if reached():
            return
    raise AssertionError("not even without faults")


def assert_indexed(informer: SharedInformer[Gadget], server: Server) -> None:
    for namespace in ("ns0", "ns1", "ns2"):
        listed = {object_key(each) for each in informer.lister.namespace(namespace).list()}
        assert listed == {key for key in server.objects if key.startswith(namespace)}
