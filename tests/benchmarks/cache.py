"""What the watch cache saves: round trips of reads, work per watcher, and memory."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from apiserver.storage.cache.entry import Entry, Selectable, json_frame
from apiserver.storage.cache.event_log import Watcher
from apiserver.storage.cache.watch_cache import (
    CachedResource,
    EntrySelection,
    Freshness,
    WatchCache,
)
from apiserver.storage.etcd.backend import open_etcd
from apiserver.storage.interface import Backend, Record, StoredChange
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.etcd.etcd_server import start_etcd

PODS = ResourceKeys("", "pods")
EVERYTHING = EntrySelection()
MEMORY = "sqlite://:memory:"
REPEATS = 5
"""Of the short measurements the best counts: the machine has other things to do."""


def run() -> None:
    """Measure everything on SQLite in memory, reads on a real etcd too, and print it."""
    asyncio.run(_newest_reads(MEMORY))
    with TemporaryDirectory() as directory, start_etcd(Path(directory)) as address:
        asyncio.run(_newest_reads(f"etcd://{address}", rounds=30))
    asyncio.run(_deliveries())
    asyncio.run(_idle_watchers())
    asyncio.run(_long_lists())
    asyncio.run(_memory())


class PodView:
    """Serves objects of about a kilobyte, as JSON."""

    converts = False

    def source(self, entry: Entry, form: Hashable) -> Record:
        return entry.record

    def forget(self, key: str) -> None:
        pass

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        metadata = orjson.loads(record.value)["metadata"]
        fields = {"metadata.name": metadata["name"], "metadata.namespace": metadata["namespace"]}
        return metadata["labels"], fields

    def common_head(self, value: bytes) -> bytes:
        return b""

    def opening(self, key: str, head: bytes, form: Hashable) -> bytes | None:
        return None

    def encode(self, record: Record, form: Hashable) -> bytes:
        document = orjson.loads(record.value)
        document["apiVersion"] = form
        document["metadata"]["resourceVersion"] = str(record.revision)
        return orjson.dumps(document)

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        return orjson.dumps({"apiVersion": form, "metadata": {"resourceVersion": str(revision)}})

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        return json_frame(event_type, encoded)


def _value(name: str, namespace: str, *, size: int = 1024) -> bytes:
    document = {
        "apiVersion": "__internal",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"7f0d8a5e-{name:0>27}"[:36],
            "labels": {"app": f"app-{len(name) % 7}", "tier": "web", "pod-template-hash": name},
        },
        "spec": {"text": ""},
    }
    document["spec"] = {"text": "x" * max(0, size - len(orjson.dumps(document)))}
    return orjson.dumps(document)


async def _create(backend: Backend, number: int, namespace: str) -> int:
    name = f"pod-{number:06d}"
    return await backend.create(PODS.object_key(name, namespace=namespace), _value(name, namespace))


async def _open(url: str) -> Backend:
    return await (open_etcd(url) if url.startswith("etcd:") else open_sqlite(url))


@asynccontextmanager
async def _serving(
    objects: int, url: str = MEMORY
) -> AsyncIterator[tuple[Backend, CachedResource]]:
    backend = await _open(url)
    await asyncio.gather(
        *(_create(backend, number, f"ns-{number % 100:03d}") for number in range(objects))
    )
    cache = WatchCache(backend)
    pods = cache.register(PODS, PodView())
    async with cache:
        await pods.list(EVERYTHING)
        yield backend, pods
    await backend.close()


async def _newest_reads(url: str, *, readers: int = 64, rounds: int = 200) -> None:
    """Linearizable reads that share a question, and that go to the store each for itself."""
    async with _serving(1000, url) as (backend, pods):

        async def cached() -> None:
            await pods.get("pod-000007", namespace="ns-007")

        async def separately() -> None:
            await backend.current_revision()
            await pods.get("pod-000007", namespace="ns-007", at=Freshness.ANY)

        async def from_store() -> None:
            await backend.get(PODS.object_key("pod-000007", namespace="ns-007"))

        async def listed() -> None:
            await pods.list(EntrySelection(namespace="ns-007"))

        async def listed_from_store() -> None:
            await backend.range(PODS.namespace_prefix("ns-007"))

        rates = [
            await _rate(read, readers, rounds)
            for read in (cached, separately, from_store, listed, listed_from_store)
        ]
    shared, separate, store, lists, store_lists = rates
    print(f"newest get on {url.partition(':')[0]}, {readers} readers: {shared:,.0f}/s")
    print(f"  a question each:       {separate:,.0f}/s -> {shared / separate:.1f}x")
    print(f"  read from the store:   {store:,.0f}/s -> {shared / store:.1f}x")
    print(f"newest list of 10, {readers} readers: {lists:,.0f}/s")
    print(f"  read from the store:   {store_lists:,.0f}/s -> {lists / store_lists:.1f}x")


async def _rate(read: Callable[[], Awaitable[None]], readers: int, rounds: int) -> float:
    async def reader() -> None:
        for _ in range(rounds):
            await read()

    durations = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        await asyncio.gather(*(reader() for _ in range(readers)))
        durations.append(time.perf_counter() - begun)
    return readers * rounds / min(durations)


async def _deliveries(watchers: int = 1000, writes: int = 200) -> None:
    """Everybody watches everything; each event is joined into what would be sent."""
    async with _serving(0) as (backend, pods), AsyncExitStack() as stack:
        watching = [
            await stack.enter_async_context(pods.watch(EVERYTHING, "v1", after=1))
            for _ in range(watchers)
        ]
        alone = await _deliver(backend, watching, writes, together=False)
        burst = await _deliver(backend, watching, writes, together=True)
    print(f"fan-out to {watchers:,} watchers: {alone:,.0f} deliveries/s one write after another")
    print(f"  writes in bursts:      {burst:,.0f} deliveries/s")


async def _deliver(
    backend: Backend, watchers: list[Watcher], writes: int, *, together: bool
) -> float:
    async def consume(watcher: Watcher) -> None:
        heard = 0
        while heard < writes:
            batch = await anext(watcher)
            b"".join([event.frame for event in batch])
            heard += len(batch)

    first = await backend.current_revision()
    consumers = [asyncio.create_task(consume(watcher)) for watcher in watchers]
    begun = time.perf_counter()
    creations = [_create(backend, first + number, "busy") for number in range(writes)]
    if together:
        await asyncio.gather(*creations)
    else:
        for creation in creations:
            await creation
    await asyncio.gather(*consumers)
    return writes * len(watchers) / (time.perf_counter() - begun)


async def _idle_watchers(events: int = 2000) -> None:
    """The cost of applying one change when the watchers look at other namespaces."""
    costs: dict[int, float] = {}
    for watchers in (10, 1000) * REPEATS:
        async with _serving(0) as (_, pods), AsyncExitStack() as stack:
            for number in range(watchers):
                selection = EntrySelection(namespace=f"idle-{number}")
                await stack.enter_async_context(pods.watch(selection, "v1", after=1))
            cost = _apply_cost(pods, events)
            costs[watchers] = min(cost, costs.get(watchers, cost))
    print(f"one change, {10:,} idle watchers elsewhere: {costs[10]:.1f} us")
    print(f"  {1000:,} of them:         {costs[1000]:.1f} us -> {costs[1000] / costs[10]:.2f}x")


def _apply_cost(pods: CachedResource, events: int) -> float:
    changes = [
        StoredChange(
            PODS.object_key(f"pod-{number:06d}", namespace="busy"),
            _value(f"pod-{number:06d}", "busy"),
            None,
            number + 2,
            number + 2,
        )
        for number in range(events)
    ]
    begun = time.perf_counter()
    for change in changes:
        pods.collection.apply(change, 0.0)
    return (time.perf_counter() - begun) / events * 1e6


async def _long_lists(objects: int = 10_000) -> None:
    async with _serving(objects) as (backend, pods):
        labels = EntrySelection(labels=lambda labels: labels.get("app") == "app-3")
        b"".join([entry.encode("v1") for entry in (await pods.list(EVERYTHING)).entries])
        chosen = await _milliseconds(lambda: pods.list(EVERYTHING, at=Freshness.ANY))
        joined = await _milliseconds(lambda: _join(pods))
        selected = await _milliseconds(lambda: pods.list(labels, at=Freshness.ANY))
        paged = await _milliseconds(lambda: pods.list(EVERYTHING, at=Freshness.ANY, limit=500))
        store = await _milliseconds(lambda: backend.range(PODS.prefix))
    print(f"list of {objects:,}: {chosen:.2f} ms, {joined:.2f} ms with the bytes joined")
    print(f"  by a label:            {selected:.2f} ms")
    print(f"  the first 500:         {paged:.3f} ms")
    print(f"  read from the store:   {store:.2f} ms -> {store / chosen:.0f}x")


async def _join(pods: CachedResource) -> bytes:
    listing = await pods.list(EVERYTHING, at=Freshness.ANY)
    return b",".join([entry.encode("v1") for entry in listing.entries])


async def _milliseconds(work: Callable[[], Awaitable[object]], rounds: int = 20) -> float:
    begun = time.perf_counter()
    for _ in range(rounds):
        await work()
    return (time.perf_counter() - begun) / rounds * 1e3


async def _memory(objects: int = 5000) -> None:
    """All that the cache holds per object, with one encoded form, against the stored JSON."""
    backend = await _open(MEMORY)
    await asyncio.gather(
        *(_create(backend, number, f"ns-{number % 100:03d}") for number in range(objects))
    )
    size = sum(len(record.value) for record in (await backend.range(PODS.prefix)).records)
    gc.collect()
    tracemalloc.start()
    cache = WatchCache(backend)
    pods = cache.register(PODS, PodView())
    async with cache:
        listing = await pods.list(EVERYTHING)
        filled = _held()
        for entry in listing.entries:
            entry.encode("v1")
        del listing, entry
        served = _held()
    tracemalloc.stop()
    await backend.close()
    print(f"memory per object of {size / objects:.0f} bytes: {filled / objects:.0f} bytes filled")
    print(f"  with one form served:  {served / objects:.0f} bytes -> {served / size:.2f}x")


def _held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


if __name__ == "__main__":
    run()
