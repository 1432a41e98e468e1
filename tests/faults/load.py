"""Clients that keep a server busy and keep books: what was acknowledged, and what was seen.

A writer never does the same thing twice, so everything it was told can be looked for in the store
and in the watches. A follower watches as a client library does: when its stream ends it goes on
from the last resourceVersion it has seen, and only after a 410 does it list anew.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from tests.faults.figures import record_figures
from tests.servers import Server
from tests.wire import Address, Answer, Broken, Wire, connected

CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
PATIENCE: Final = 30.0
"""Seconds in which anything that a test waits for must have happened."""

Step = tuple[str, str, str, Any]
"""The name of an object, a method, a path and a body."""

_POLL: Final = 0.02
_MERGE: Final = {"Content-Type": "application/merge-patch+json"}


async def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait for *condition*; raises TimeoutError if it does not come true in time."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(_POLL)


@dataclass
class Ledger:
    """What writers were told."""

    versions: dict[int, str] = field(default_factory=dict)
    """The names of the objects that were written, by the resourceVersion of the write."""
    alive: dict[str, int] = field(default_factory=dict)
    """The resourceVersion of each object that must be there."""
    deleted: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    """Objects whose last write was not answered: it may have happened or not."""
    refused: list[Answer] = field(default_factory=list)
    """Answers that were no success."""
    broken: int = 0
    """Connections that were lost."""

    @property
    def count(self) -> int:
        """How many writes were acknowledged."""
        return len(self.versions) + len(self.deleted)

    async def grow(self, writes: int) -> None:
        """Wait until so many more were acknowledged."""
        reached = self.count + writes
        await until(lambda: self.count >= reached)


class Writer:
    """Creates, changes and deletes objects of its own names, one after the other."""

    def __init__(self, address: Address, ledger: Ledger, name: str) -> None:
        self._address = address
        self._ledger = ledger
        self._names = (f"{name}-{number}" for number in count())
        self._steps: list[Step] = []

    async def run(self) -> None:
        while True:
            try:
                async with connected(self._address) as wire:
                    await self._write(wire)
            except (Broken, TimeoutError):
                self._ledger.broken += 1
                self._steps.clear()
                # Nobody may be listening; the loop belongs to others too.
                await asyncio.sleep(_POLL)

    async def _write(self, wire: Wire) -> None:
        while not wire.closing:
            if not self._steps:
                self._steps = _life(next(self._names))
            name, method, path, body = self._steps.pop()
            if not await self._step(wire, name, method, path, body):
                self._steps.clear()

    async def _step(self, wire: Wire, name: str, method: str, path: str, body: Any) -> bool:
        ledger = self._ledger
        ledger.doubtful.add(name)
        headers = _MERGE if method == "PATCH" else None
        answer = await wire.request(method, path, body, headers=headers)
        if answer.code >= 300:
            # An answer that says "timeout" leaves open what has happened.
            ledger.refused.append(answer)
            return False
        ledger.doubtful.discard(name)
        if method == "DELETE":
            del ledger.alive[name]
            ledger.deleted.add(name)
        else:
            version = int(answer.json["metadata"]["resourceVersion"])
            ledger.versions[version] = name
            ledger.alive[name] = version
        return True


def _life(name: str) -> list[Step]:
    """What is done to one object, the last step first; every other one stays."""
    path = f"{CONFIG_MAPS}/{name}"
    created = {"metadata": {"name": name}, "data": {"n": "0"}}
    steps: list[Step] = [
        (name, "PATCH", path, {"data": {"n": "1"}}),
        (name, "POST", CONFIG_MAPS, created),
    ]
    return [(name, "DELETE", path, None), *steps] if name[-1] in "13579" else steps


@dataclass(frozen=True)
class Seen:
    """One event."""

    type: str
    name: str
    version: int


class Follower:
    """Watches a collection for as long as it runs, through whatever happens to the server."""

    def __init__(self, address: Address, path: str = CONFIG_MAPS) -> None:
        self.seen: list[Seen] = []
        self.state: dict[str, int] = {}
        """What there is, by what was listed and seen."""
        self.version = 0
        self.watching = False
        """Whether a stream is open now."""
        self.ended = 0
        """Streams that ended as they should."""
        self.broken = 0
        self.refused: list[Answer] = []
        self.listed = 0
        """How often everything had to be listed; the first time is one."""
        self._address = address
        self._path = path

    async def run(self) -> None:
        while True:
            try:
                async with connected(self._address) as wire:
                    if not self.version:
                        await self._list(wire)
                    await self._watch(wire)
            except (Broken, TimeoutError):
                self.broken += 1
                await asyncio.sleep(_POLL)
            finally:
                self.watching = False

    async def _list(self, wire: Wire) -> None:
        answer = await wire.request("GET", self._path)
        if answer.code != 200:
            self.refused.append(answer)
            raise Broken(f"no list: {answer.body!r}")
        document = answer.json
        self.state = {_name(item): _version(item) for item in document["items"]}
        self.version = _version(document)
        self.listed += 1

    async def _watch(self, wire: Wire) -> None:
        query = f"watch=1&allowWatchBookmarks=true&resourceVersion={self.version}"
        await wire.send("GET", f"{self._path}?{query}")
        code, headers = await wire.head()
        if code != 200:
            self.refused.append(Answer(code, headers, await wire.rest(headers)))
            raise Broken(f"no watch: {code}")
        self.watching = True
        async for line in wire.lines():
            event = json.loads(line)
            if event["type"] == "ERROR":
                assert event["object"]["code"] == 410, event
                self.version = 0
                return
            self._take(event["type"], event["object"])
        self.ended += 1

    def _take(self, event_type: str, obj: Any) -> None:
        version = _version(obj)
        if event_type == "BOOKMARK":
            assert version >= self.version, f"a bookmark went back to {version}"
            self.version = version
            return
        assert version > self.version, f"{version} came after {self.version}"
        self.version = version
        self.seen.append(Seen(event_type, _name(obj), version))
        if event_type == "DELETED":
            self.state.pop(_name(obj), None)
        else:
            self.state[_name(obj)] = version


@asynccontextmanager
async def running(*clients: Writer | Follower) -> AsyncIterator[None]:
    """Let clients run beside the test; what one of them finds wrong fails the test.

    Followers begin first, and see everything that writers do.
    """
    followers = [client for client in clients if isinstance(client, Follower)]
    writers = [client for client in clients if isinstance(client, Writer)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follower.run()) for follower in followers]
        try:
            await until(lambda: all(follower.watching for follower in followers))
            tasks += [group.create_task(writer.run()) for writer in writers]
            yield
        finally:
            for task in tasks:
                task.cancel()


async def settled(server: Server, followers: list[Follower]) -> list[Any]:
    """Wait until followers have seen all there is to see, and return what there is.

    One last write tells how far that is; nobody else may write any more.
    """
    body = {"metadata": {"generateName": "last-"}}
    made = await asyncio.to_thread(server.request, "POST", CONFIG_MAPS, body)
    assert made.code == 201, made.body
    async with running(*followers):
        await until(lambda: all(each.version >= _version(made.json) for each in followers))
    items: list[Any] = (await asyncio.to_thread(server.request, "GET", CONFIG_MAPS)).json["items"]
    return items


def differences(ledger: Ledger, follower: Follower) -> Iterator[str]:
    """How what a follower saw contradicts what writers were told.

    A follower that was told 410 has a gap in its events and is only held to the state.
    """
    if follower.listed == 1:
        written = {event.version: event.name for event in follower.seen if event.type != "DELETED"}
        deletions = [event.name for event in follower.seen if event.type == "DELETED"]
        for version, name in ledger.versions.items():
            if written.get(version) != name:
                yield f"the write {version} of {name} was not seen"
        for name in ledger.deleted:
            if deletions.count(name) != 1:
                yield f"the deletion of {name} was seen {deletions.count(name)} times"
    yield from _wrong_state(ledger, follower.state, "watched")


def lost(ledger: Ledger, items: list[Any]) -> Iterator[str]:
    """How a list contradicts what writers were told."""
    yield from _wrong_state(ledger, {_name(item): _version(item) for item in items}, "listed")


def record_load(suite: str, ledger: Ledger, followers: list[Follower], *, rounds: int) -> None:
    """Keep what a suite has proved, once it has."""
    events = sum(len(follower.seen) for follower in followers)
    record_figures("fault suites", suite, rounds=rounds, writes=ledger.count, events=events)


def _wrong_state(ledger: Ledger, state: dict[str, int], how: str) -> Iterator[str]:
    for name, version in ledger.alive.items():
        if name not in ledger.doubtful and state.get(name) != version:
            yield f"{name} is {how} at {state.get(name)}, not at {version}"
    for name in ledger.deleted & state.keys():
        yield f"{name} is {how} and was deleted"


def _name(obj: Any) -> str:
    name: str = obj["metadata"]["name"]
    return name


def _version(obj: Any) -> int:
    return int(obj["metadata"]["resourceVersion"])
