"""etcd events through a StreamWatcher: only the decoder depends on the format."""

import asyncio
from typing import Any

import orjson
import pytest

from apimachinery.errors import APIError, Expired, InternalError
from apimachinery.meta.options import ListOptions
from apimachinery.model.decoding import decode_json
from apis.gadgets import v1
from client import EventType, ObjectEvent, RetryWatcher, StreamWatcher
from client.informer import InformerOptions, SharedInformer
from client.paging import Page
from client.watches.etcd_events import EtcdEventDecoder
from client.watches.stream_watcher import EndOfStream, ListWatch, UnexpectedEndOfStream
from tests.client.fakes import FakeClock, gadget


def decode_gadget(data: bytes) -> v1.Gadget:
    return decode_json(v1.Gadget, data, find_unknown=False).object


def line(action: str, name: str, index: int, *, before: bool = False) -> bytes:
    node = {"value": orjson.dumps(gadget(name)).decode(), "modifiedIndex": index}
    event = {"action": action, "node": node, "prevNode": node if before else None}
    return orjson.dumps(event) + b"\n"


class Etcd:
    """Keeps all etcd events and sends those from a given index."""

    def __init__(self, *lines: tuple[int, bytes]) -> None:
        self.lines = list(lines)
        self.requested: list[str] = []
        self.closed = 0

    async def watch(self, options: ListOptions) -> StreamWatcher[v1.Gadget]:
        return await self.open(options.resource_version)

    async def open(self, version: str) -> StreamWatcher[v1.Gadget]:
        self.requested.append(version)
        chunks = [text for index, text in self.lines if index > int(version)]
        over = asyncio.Event()

        async def read() -> bytes:
            if chunks:
                return chunks.pop(0)
            await over.wait()
            return b""

        def close() -> None:
            self.closed += 1
            over.set()

        return StreamWatcher(EtcdEventDecoder(read, decode_gadget, close))

    async def list(self, options: ListOptions) -> Page[v1.Gadget]:
        obj = v1.Gadget.model_validate(gadget("a"))
        return Page([obj], "1")


async def test_an_informer_can_live_on_another_protocol() -> None:
    etcd = Etcd(
        (2, line("create", "b", 2)),
        (3, line("set", "a", 3, before=True)),
        (4, line("expire", "b", 4, before=True)),
    )
    source = ListWatch(etcd.list, etcd.watch)
    options = InformerOptions(use_watch_list=False)
    informer = SharedInformer(source, expected=v1.Gadget, options=options)
    running = asyncio.ensure_future(informer.run())

    await informer.wait_version("4", timeout=10)

    (only,) = informer.store.objects()
    assert (only.metadata.name, only.metadata.resource_version) == ("a", "3")
    informer.stop()
    await running
    assert etcd.closed == len(etcd.requested), "every stream was closed"


async def test_a_retry_watcher_resumes_by_the_index(clock: FakeClock) -> None:
    etcd = Etcd((7, line("create", "a", 7)), (9, line("delete", "a", 9, before=True)))
    watcher = RetryWatcher("5", etcd.open, clock=clock)

    first = await anext(watcher)
    assert watcher._stream is not None
    watcher._stream.stop()
    second = await anext(watcher)
    watcher.stop()

    assert [first.type, second.type] == ["ADDED", "DELETED"]
    assert etcd.requested == ["5", "7"]


@pytest.mark.parametrize(
    ("code", "error"), [(401, Expired), (300, InternalError)], ids=["cleared", "raft"]
)
async def test_an_error_of_etcd_is_the_error_it_tells_of(code: int, error: type[APIError]) -> None:
    """A cleared index becomes a 410 too, after which caches list again."""
    text = orjson.dumps({"errorCode": code, "message": "no", "cause": "", "index": 9}) + b"\n"
    watch = await Etcd((9, text)).open("5")

    event: ObjectEvent[Any] = await anext(watch.result())
    watch.stop()

    assert event.type is EventType.ERROR
    assert isinstance(event.error, error)
    assert "no" in str(event.error)


@pytest.mark.parametrize(
    ("rest", "end"), [(b"", EndOfStream), (b'{"action":', UnexpectedEndOfStream)]
)
async def test_its_end_is_told_from_a_break(rest: bytes, end: type[Exception]) -> None:
    chunks = [line("create", "a", 7) + rest]

    async def read() -> bytes:
        return chunks.pop(0) if chunks else b""

    decoder = EtcdEventDecoder(read, decode_gadget, lambda: None)
    await decoder.decode()

    with pytest.raises(EndOfStream) as caught:
        await decoder.decode()

    assert type(caught.value) is end
