"""What the tests of the watch cache share: a view of small JSON objects, a clock to turn by hand,
and a backend whose feeds can be cut.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any

import orjson

from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.entry import Entry, EntrySelection, Selectable, json_frame
from apiserver.storage.cache.entry_event import EntryEvent
from apiserver.storage.cache.event_log import OpenWatch
from apiserver.storage.cache.watch_cache import CachedResource, WatchCache
from apiserver.storage.interface import Backend, ChangeBatch, Feed, Record
from apiserver.storage.keys import ROOT, ResourceKeys

PODS = ResourceKeys("", "pods")
NODES = ResourceKeys("", "nodes", namespaced=False)
GADGETS = ResourceKeys("gadgets.example.io", "gadgets")


def value(text: str = "", *, labels: dict[str, str] | None = None, **fields: str) -> bytes:
    """The stored bytes of a small object."""
    return orjson.dumps({"text": text, "labels": labels or {}, "fields": fields})


def pod(name: str, namespace: str = "default") -> str:
    return PODS.object_key(name, namespace=namespace)


async def put(backend: Backend, key: str, content: bytes) -> int:
    """Make or replace an object, whatever it was."""
    record = await backend.get(key)
    if record is None:
        return await backend.create(key, content)
    return await backend.update(key, content, revision=record.revision)


async def remove(backend: Backend, key: str) -> int:
    record = await backend.get(key)
    assert record is not None
    return await backend.delete(key, revision=record.revision)


async def fill(backend: Backend, *names: str, namespace: str = "default") -> int:
    revision = 0
    for name in names:
        revision = await backend.create(pod(name, namespace), value(name))
    return revision


async def write(backend: Backend, name: str, text: str = "", **labels: str) -> int:
    return await put(backend, pod(name), value(text or name, labels=labels))


@dataclass
class JsonView:
    """Reads what `value` wrote, and counts how often it is asked."""

    converts: bool = False
    looked: int = 0
    encoded: int = 0
    framed: int = 0

    def source(self, entry: Entry, form: Hashable) -> Record:
        return entry.record

    def forget(self, key: str) -> None:
        pass

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        self.looked += 1
        document = orjson.loads(record.value)
        return document["labels"], document["fields"]

    def common_head(self, value: bytes) -> bytes:
        return b""

    def opening(self, key: str, head: bytes, form: Hashable) -> bytes | None:
        return None

    def encode(self, record: Record, form: Hashable) -> bytes:
        self.encoded += 1
        document = orjson.loads(record.value)
        document |= {"form": form, "key": record.key, "resourceVersion": record.revision}
        return orjson.dumps(document)

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        document = {"form": form, "resourceVersion": revision}
        if initial_events_end:
            document["initialEventsEnd"] = True
        return orjson.dumps(document)

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        self.framed += 1
        return json_frame(event_type, encoded)


def labelled(key: str, expected: str) -> EntrySelection:
    return EntrySelection(labels=lambda labels: labels.get(key) == expected)


def texts(entries: list[Any]) -> list[str]:
    """What the objects of a list say, in its order."""
    return [orjson.loads(entry.record.value)["text"] for entry in entries]


Told = tuple[str, str, int]
"""The type of an event, the text of its object, and the revision the client sees."""


def told(event: EntryEvent) -> Told:
    frame = orjson.loads(event.frame)
    document = frame["object"]
    assert frame["type"] == event.type
    assert document["resourceVersion"] == (
        event.entry.record.revision if event.entry else event.revision
    )
    return frame["type"], document.get("text", ""), document["resourceVersion"]


async def take(watcher: OpenWatch, number: int) -> list[EntryEvent]:
    """The next events, which must be exactly so many at the end of some batch."""
    events: list[EntryEvent] = []
    while len(events) < number:
        events += await anext(watcher)
    assert len(events) == number, events
    return events


async def hear(watcher: OpenWatch, number: int) -> list[Told]:
    return [told(event) for event in await take(watcher, number)]


async def is_waiting(watcher: OpenWatch) -> bool:
    """Whether there is nothing to be told."""
    hearing = asyncio.ensure_future(anext(watcher))
    await settle()
    waiting = not hearing.done()
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    return waiting


def replay(events: list[EntryEvent], state: dict[str, Record] | None = None) -> dict[str, Record]:
    """The objects a client knows after *events*, each of which must be legal in that place."""
    known = dict(state or {})
    for event in events:
        if event.entry is None:
            continue
        key = event.entry.record.key
        assert (key in known) == (event.type is not EventType.ADDED), (event, key in known)
        if event.type is EventType.DELETED:
            del known[key]
        else:
            known[key] = event.entry.record
    return known


class HandClock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self._now = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Let time pass, and whoever wakes in it do what they do."""
        end = self._now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._now, _, future = heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
            await settle()
        self._now = end


async def settle() -> None:
    """Let every task that can go on without waiting for a thread do so."""
    for _ in range(10):
        await asyncio.sleep(0)


@dataclass
class Switchboard:
    """A backend whose feeds can be cut and whose answers can be held back; the rest is real."""

    backend: Backend
    cuts: list[Exception | None] = field(default_factory=list)
    """What ends the running feed before its next batch: an error, or None for a plain end."""
    silent: bool = False
    """Whether feeds bring nothing and do not answer when asked for progress."""
    questions: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """`current_revision` answers while this is set."""
    held: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once an answer is there, whether or not it is given."""
    failure: Exception | None = None
    """What `current_revision` answers instead."""
    rewind: int = 0
    """How many revisions too early feeds begin."""
    opened: list[int] = field(default_factory=list)
    """The revisions after which feeds were opened."""
    _nudge: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)

    async def current_revision(self) -> int:
        self.questions += 1
        answer = await self.backend.current_revision()
        self.held.set()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return answer

    def cut(self, error: Exception | None) -> None:
        self.cuts.append(error)
        self._nudge.set()

    @asynccontextmanager
    async def watch(self, prefix: str, *, after: int) -> AsyncIterator["CutFeed"]:
        self.opened.append(after)
        async with self.backend.watch(prefix, after=after - self.rewind) as feed:
            yield CutFeed(self, feed)


class CutFeed:
    def __init__(self, board: Switchboard, feed: Feed) -> None:
        self._board = board
        self._feed = feed

    def __aiter__(self) -> "CutFeed":
        return self

    async def __anext__(self) -> ChangeBatch:
        board = self._board
        batch = asyncio.ensure_future(anext(self._feed))
        while True:
            nudged = asyncio.ensure_future(board._nudge.wait())
            try:
                await asyncio.wait({batch, nudged}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                nudged.cancel()
                if not batch.done():
                    batch.cancel()
            if board.cuts:
                board._nudge.clear()
                error = board.cuts.pop(0)
                await asyncio.gather(batch, return_exceptions=True)
                raise error or StopAsyncIteration
            if not board.silent:
                return await batch
            batch = asyncio.ensure_future(anext(self._feed))

    async def request_progress(self) -> bool:
        return not self._board.silent and await self._feed.request_progress()


async def synced(cache: WatchCache, backend: Backend) -> int:
    """Wait until the cache has applied what is in its prefix, and say how far it is."""
    page = await backend.range(ROOT)
    newest = max((record.revision for record in page.records), default=0)
    assert await cache.wait(newest, seconds=10)
    return cache.revision


@asynccontextmanager
async def caching(
    backend: Backend,
    keys: ResourceKeys = PODS,
    *,
    view: JsonView | None = None,
    limits: CacheLimits | None = None,
    clock: HandClock | None = None,
) -> AsyncIterator[tuple[WatchCache, CachedResource]]:
    """A running cache with one filled resource."""
    cache = WatchCache(backend, limits=limits, clock=clock)
    resource = cache.register(keys, view or JsonView())
    async with cache:
        # A test that is impatient with reads is not impatient with the machine.
        await resource.collection.filled.wait()
        await resource.list(EntrySelection())
        yield cache, resource
