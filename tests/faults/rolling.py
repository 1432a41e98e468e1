"""Servers that are rolled through releases, and clients that keep books of every field.

Each field has one writer, which reads an object, changes its field and puts all of it back, as
people and controllers do; so whatever else is in the object belongs to others and must survive. A
reader watches one server, and resumes when that is back.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from random import Random
from typing import Any, Protocol

import orjson

from client.transport.transport import TransportError
from tests.apiserver.evolution.releases import LAMPS, Api, lamp, serving_alone
from tests.faults.load import until
from tests.faults.rolling_releases import RELEASES, SINCE
from tests.servers import Server
from tests.wire import Address, Broken, connected

_PAUSE = 0.005


@dataclass(frozen=True)
class Reply:
    """What a server answered to one request."""

    code: int
    retry_after: str
    json: Any


class Place(Protocol):
    """Where one server runs, in one release after the other."""

    release: int

    async def request(self, method: str, path: str, body: Any = None) -> Reply:
        """Make a request. Raises Broken if the server does not run, or ends meanwhile."""

    def events(self, version: str) -> AsyncGenerator[Any, None]:
        """Watch the lamps until the stream ends. Raises Broken."""

    async def restart(self, release: int) -> None:
        """Stop the server, and start it with the code of a release."""

    async def stop(self) -> None: ...


class InProcess:
    """A server in this process."""

    def __init__(self, storage: str) -> None:
        self.release = 0
        self._storage = storage
        self._api: Api | None = None
        self._running = AsyncExitStack()
        self._requests = 0

    async def request(self, method: str, path: str, body: Any = None) -> Reply:
        api = self._serving()
        self._requests += 1
        try:
            path, _, query = path.partition("?")
            given = dict(pair.split("=") for pair in query.split("&") if pair)
            answer = await api(method, path, body, query=given)
        except TransportError as error:
            raise Broken(str(error)) from error
        finally:
            self._requests -= 1
        return Reply(answer.code, answer.retry_after, answer.json)

    async def events(self, version: str) -> AsyncGenerator[Any, None]:
        query = {"resourceVersion": version, "allowWatchBookmarks": "true"}
        try:
            async with aclosing(self._serving().events(**query)) as events:
                async for event in events:
                    yield event
        except TransportError as error:
            raise Broken(str(error)) from error

    async def restart(self, release: int) -> None:
        await self.stop()
        self.release = release
        serving = serving_alone(RELEASES[release], storage=self._storage)
        self._api = await self._running.enter_async_context(serving)

    async def stop(self) -> None:
        api, self._api = self._api, None
        if api is not None:
            api.app.drain()
            await until(lambda: not self._requests)
        await self._running.aclose()

    def _serving(self) -> Api:
        if self._api is None:
            raise Broken("the server does not run")
        return self._api


class Process:
    """A server in a process of its own."""

    def __init__(self, folder: Path, storage: str) -> None:
        self.release = 0
        self._server = Server(folder, [])
        self._storage = storage

    async def request(self, method: str, path: str, body: Any = None) -> Reply:
        try:
            async with connected(Address.of(self._server)) as wire:
                answer = await wire.request(method, path, body)
        except (OSError, TimeoutError) as error:
            raise Broken(str(error)) from error
        return Reply(answer.code, answer.headers.get("retry-after", ""), answer.json)

    async def events(self, version: str) -> AsyncGenerator[Any, None]:
        async with connected(Address.of(self._server)) as wire:
            query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}"
            await wire.send("GET", f"{LAMPS}?{query}")
            code, headers = await wire.head()
            if code != 200:
                raise Broken(f"no watch: {code} {await wire.rest(headers)!r}")
            async for line in wire.lines():
                yield orjson.loads(line)

    async def restart(self, release: int) -> None:
        await self.stop()
        name = {1: "FIRST", 2: "SECOND", 3: "THIRD"}[release]
        group = f"tests.faults.rolling_releases:{name}"
        self._server.arguments = [group, "--workers", "1", "--storage", self._storage]
        self.release = release
        await asyncio.to_thread(self._server.start)

    async def stop(self) -> None:
        await asyncio.to_thread(self._server.stop)


@dataclass
class FieldBooks:
    """What was acknowledged: the values that each field of each lamp can have now."""

    possible: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    """Several if a write was not answered."""
    acknowledged: int = 0
    refused: int = 0
    """Writes that an older server left to a newer one."""
    conflicts: int = 0
    are_closed: bool = False
    """Whether no further write may begin."""

    def expect(self, name: str, spec: Mapping[str, Any], *, release: int) -> None:
        """Compare what a server of a release shows with what was acknowledged."""
        for (owner, key), values in self.possible.items():
            if owner == name and SINCE[key] <= release:
                shown = spec.get(key, _EMPTY[key])
                assert shown in values, f"{name} has {key}={shown!r} in {release}, not {values!r}"

    async def grow(self, writes: int) -> None:
        reached = self.acknowledged + writes
        await until(lambda: self.acknowledged >= reached)


_EMPTY: Mapping[str, Any] = {"color": "", "watts": 0, "note": "", "socket": "E27", "maker": ""}
"""What a field is that nobody has set; only `socket` is always shown."""


class FieldWriter:
    """Sets one field of some lamps to one value after the other."""

    def __init__(
        self, places: list[Place], books: FieldBooks, key: str, names: list[str], seed: int
    ) -> None:
        self._places = places
        self._books = books
        self._key = key
        self._names = names
        self._random = Random(seed)
        for name in names:
            books.possible.setdefault((name, key), [_EMPTY[key]])

    async def run(self) -> None:
        for number in takewhile(lambda _: not self._books.are_closed, count(1)):
            value: Any = number % 400 if self._key == "watts" else f"{self._key}-{number}"
            name = self._random.choice(self._names)
            while not (await self._set(name, value) or self._books.are_closed):
                await asyncio.sleep(_PAUSE)

    async def _set(self, name: str, value: Any) -> bool:
        """Read, change and write once; return whether that was acknowledged."""
        place, possible = self._random.choice(self._places), self._books.possible[name, self._key]
        release = place.release
        if release < SINCE[self._key]:
            return False
        try:
            got = await place.request("GET", f"{LAMPS}/{name}")
            if got.code != 200:
                _assert_passing(got)
                return False
            spec = got.json["spec"]
            shown = spec.get(self._key, _EMPTY[self._key])
            assert shown in possible, f"{name}: {self._key} is {shown!r}, not one of {possible!r}"
            spec[self._key] = value
            possible.append(value)
            put = await place.request("PUT", f"{LAMPS}/{name}?fieldValidation=Strict", got.json)
        except Broken:
            return False
        if put.code == 200:
            possible[:] = [value]
            self._books.acknowledged += 1
            return True
        possible.pop()
        self._note(put)
        return False

    def _note(self, refused: Reply) -> None:
        if refused.code == 409:
            self._books.conflicts += 1
        elif refused.code == 503 and "newer release" in refused.json["message"]:
            assert int(refused.retry_after) > 0
            self._books.refused += 1
        else:
            _assert_passing(refused)


class Creator:
    """Creates lamps that nobody changes, with all fields that a server knows."""

    def __init__(self, places: list[Place], books: FieldBooks, seed: int) -> None:
        self._places = places
        self._books = books
        self._random = Random(seed)

    async def run(self) -> None:
        for number in takewhile(lambda _: not self._books.are_closed, count()):
            await self._create(f"made-{number}")
            await asyncio.sleep(_PAUSE)

    async def _create(self, name: str) -> None:
        place = self._random.choice(self._places)
        known = [key for key, since in SINCE.items() if since <= place.release]
        spec = {key: 7 if key == "watts" else f"{key} of {name}" for key in known}
        try:
            answer = await place.request("POST", LAMPS, lamp(name, **spec))
        except Broken:
            return
        if answer.code == 201:
            self._books.acknowledged += 1
            for key, value in spec.items():
                self._books.possible[name, key] = [value]
        else:
            _assert_passing(answer)


class PlaceReader:
    """Lists and watches the lamps of one place, and keeps what it has seen."""

    def __init__(self, place: Place) -> None:
        self.specs: dict[str, Any] = {}
        self.listed = 0
        self._place = place
        self._version = ""

    async def run(self) -> None:
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except Broken:
                await asyncio.sleep(_PAUSE)

    async def _list(self) -> None:
        answer = await self._place.request("GET", LAMPS)
        if answer.code != 200:
            raise Broken(f"no list: {answer}")
        self.specs = specs_of(answer)
        self._version = answer.json["metadata"]["resourceVersion"]
        self.listed += 1

    async def _watch(self) -> None:
        async with aclosing(self._place.events(self._version)) as events:
            async for event in events:
                if event["type"] == "ERROR":
                    assert event["object"]["code"] == 410, event
                    self._version = ""
                    return
                meta = event["object"]["metadata"]
                self._version = meta["resourceVersion"]
                if event["type"] == "DELETED":
                    self.specs.pop(meta["name"], None)
                elif event["type"] != "BOOKMARK":
                    self.specs[meta["name"]] = event["object"]["spec"]


def specs_of(answer: Reply) -> dict[str, Any]:
    """Return the specs of a list by name."""
    assert answer.code == 200, answer
    return {item["metadata"]["name"]: item["spec"] for item in answer.json["items"]}


@asynccontextmanager
async def running(*readers: PlaceReader) -> AsyncIterator[None]:
    """Let readers run beside the test; what one of them finds wrong fails the test."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(reader.run()) for reader in readers]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


@asynccontextmanager
async def writing(books: FieldBooks, *writers: FieldWriter | Creator) -> AsyncIterator[None]:
    """Let writers run beside the test, and wait for their last answers at the end."""
    async with asyncio.TaskGroup() as group:
        for writer in writers:
            group.create_task(writer.run())
        try:
            yield
        finally:
            books.are_closed = True


def _assert_passing(answer: Reply) -> None:
    """Fail unless the answer of a server that is stopping or starting says that it may pass."""
    assert answer.code in (429, 500, 503, 504) and answer.retry_after, answer
