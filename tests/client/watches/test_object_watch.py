"""StreamWatcher, its decoder and its reporter."""

import asyncio
import gc
import itertools
import logging
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import Expired, Forbidden, NotFound, ServiceUnavailable
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status
from apimachinery.model.decoding import decode_json
from apimachinery.scheme import Scheme
from apis.gadgets import v1
from client import AsyncClient, Config, EventType, ObjectEvent, StreamWatcher, TransportError
from client.transport.transport import ConnectionLost, Headers, RequestTimeout
from client.watches.etcd_events import EtcdEventDecoder
from client.watches.stream_watcher import (
    EndOfStream,
    FrameDecoder,
    StatusReporter,
    UnexpectedEndOfStream,
)
from tests.client.fakes import (
    GADGETS,
    Answer,
    FakeClock,
    FakeServer,
    answer,
    frame,
    gadget,
    status,
    stream,
)


def decode_gadget(data: bytes) -> v1.Gadget:
    return decode_json(v1.Gadget, data, find_unknown=False).object


class ScriptedResponse:
    """A response that returns prepared chunks and counts the reads."""

    status = 200
    headers = Headers()

    def __init__(self, *chunks: bytes | Exception) -> None:
        self.chunks = list(chunks)
        self.reads = 0
        self.closed = 0

    async def read(self) -> bytes:
        return b""

    async def chunk(self) -> bytes:
        self.reads += 1
        chunk = self.chunks.pop(0) if self.chunks else b""
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    def close(self) -> None:
        self.closed += 1


class BlockingDecoder:
    """A decoder that waits until it is closed."""

    def __init__(self) -> None:
        self.closed = 0
        self.waiting = asyncio.Event()
        self._done = asyncio.Event()

    async def decode(self) -> ObjectEvent[Any]:
        self.waiting.set()
        await self._done.wait()
        raise ConnectionLost("closed")

    def close(self) -> None:
        self.closed += 1
        self._done.set()


class RaisingDecoder:
    def __init__(self, error: Exception) -> None:
        self.error = error
        self.closed = 0

    async def decode(self) -> ObjectEvent[Any]:
        raise self.error

    def close(self) -> None:
        self.closed += 1


def watcher(*chunks: bytes | Exception) -> tuple[StreamWatcher[v1.Gadget], ScriptedResponse]:
    response = ScriptedResponse(*chunks)
    return StreamWatcher(FrameDecoder(response, decode_gadget), StatusReporter()), response


async def events(source: StreamWatcher[v1.Gadget]) -> list[ObjectEvent[v1.Gadget | Status]]:
    return [event async for event in source.result()]


def status_of(event: ObjectEvent[Any]) -> Status:
    assert event.type is EventType.ERROR
    assert isinstance(event.object, Status)
    return event.object


async def test_the_result_is_unbuffered() -> None:
    """Backpressure reaches the decoder: nothing is read before an event is requested."""
    watch, response = watcher(frame("ADDED", gadget("a")), frame("ADDED", gadget("b")))

    assert response.reads == 0
    await anext(watch.result())

    assert response.reads == 1


async def test_stop_is_idempotent_and_closes_the_decoder_once() -> None:
    """Stop is idempotent; the decoder is closed exactly once."""
    watch, response = watcher(frame("ADDED", gadget("a")))

    watch.stop()
    watch.stop()

    assert response.closed == 1
    assert await events(watch) == []


async def test_stop_unblocks_a_receiver_that_waits() -> None:
    """Stop may race with the receiver, and unblocks it."""
    decoder = BlockingDecoder()
    watch: StreamWatcher[v1.Gadget] = StreamWatcher(decoder)
    received = asyncio.create_task(events(watch))
    await decoder.waiting.wait()

    watch.stop()

    async with asyncio.timeout(5):
        assert await received == []
    assert decoder.closed == 1


async def test_the_result_is_closed_when_receiving_ends() -> None:
    """The stream is always closed when iteration ends, and stays closed."""
    watch, response = watcher(frame("ADDED", gadget("a")))

    first = await events(watch)

    assert len(first) == 1
    assert watch.stopped
    assert response.closed == 1
    assert await events(watch) == []


async def test_cancelling_the_receiver_closes_the_stream() -> None:
    decoder = BlockingDecoder()
    received = asyncio.create_task(events(StreamWatcher(decoder)))
    await decoder.waiting.wait()

    received.cancel()

    with pytest.raises(asyncio.CancelledError):
        await received
    assert decoder.closed == 1


async def test_leaving_a_block_closes_the_stream() -> None:
    watch, response = watcher(frame("ADDED", gadget("a")), frame("ADDED", gadget("b")))

    async with watch:
        async for _ in watch.result():
            break

    assert response.closed == 1


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (EndOfStream(), None),
        (UnexpectedEndOfStream("cut"), logging.INFO),
        (ConnectionLost("reset"), logging.DEBUG),
        (RequestTimeout("idle"), logging.DEBUG),
    ],
)
async def test_an_end_of_the_stream_is_silent(
    error: Exception, level: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    """EOF is not logged, an unexpected EOF at INFO, lost connections and timeouts at DEBUG."""
    caplog.set_level(logging.DEBUG, "apimachinery.client.watch")
    decoder = RaisingDecoder(error)

    received = await events(StreamWatcher(decoder))

    assert received == []
    assert decoder.closed == 1
    assert [record.levelno for record in caplog.records] == ([] if level is None else [level])


async def test_any_other_error_is_one_error_event_and_the_end() -> None:
    """Its object is the reporter's Status: 500 with the cause ClientWatchDecoding."""
    watch, response = watcher(b"{nonsense}\n", frame("ADDED", gadget("a")))

    received = await events(watch)

    assert len(received) == 1
    status = status_of(received[0])
    assert (status.code, status.reason) == (500, "InternalError")
    assert status.message.startswith('an error on the server ("unable to decode watch event: ')
    assert status.details is not None
    assert [cause.reason for cause in status.details.causes] == [
        "UnexpectedServerResponse",
        "ClientWatchDecoding",
    ]
    assert response.closed == 1


async def test_an_error_of_any_class_reaches_the_reporter() -> None:
    class Loud:
        def as_object(self, error: Exception) -> Status:
            return Status(message=f"loudly: {error}")

    watch: StreamWatcher[v1.Gadget] = StreamWatcher(RaisingDecoder(RuntimeError("boom")), Loud())

    received = await events(watch)

    assert status_of(received[0]).message == "loudly: boom"


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"])
async def test_the_embedded_object_is_decoded_by_the_object_decoder(kind: str) -> None:
    watch, _ = watcher(frame(kind, gadget("a", "7")))

    (event,) = await events(watch)

    assert event.type == kind
    assert isinstance(event.object, v1.Gadget)
    assert event.object.metadata.resource_version == "7"


async def test_an_error_event_carries_a_status() -> None:
    watch, _ = watcher(frame("ERROR", status(410, "Expired", "too old resource version: 5 (9)")))

    (event,) = await events(watch)

    assert isinstance(event.error, Expired)
    assert str(event.error) == "too old resource version: 5 (9)"


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"RENAMED","object":{}}\n',
        b'{"object":{}}\n',
        b'{"type":7,"object":{}}\n',
        b"[]\n",
        b'{"type":"ADDED"}\n',
        b'{"type":"ADDED","object":{"spec":{"replicas":"x"}}}\n',
        b'{"type":"ADDED","object":[]}\n',
    ],
)
async def test_what_is_no_event_is_a_decode_error(line: bytes) -> None:
    """Only ADDED, MODIFIED, DELETED, BOOKMARK and ERROR are accepted."""
    watch, _ = watcher(line)

    (event,) = await events(watch)

    assert status_of(event).code == 500


async def test_a_stream_that_breaks_off_in_an_event_is_unexpected() -> None:
    decoder = FrameDecoder(ScriptedResponse(b'{"type":"ADDED","obj'), decode_gadget)

    with pytest.raises(UnexpectedEndOfStream):
        await decoder.decode()


@pytest.mark.parametrize(
    "written",
    [
        b'{"type":"ADDED","object":%s}\r\n',
        b' { "type" : "ADDED" , "object" : %s } \n',
        b'{"object":%s,"type":"ADDED"}\n',
        b'{"type":"ADDED","object":%s,"more":1}\n',
    ],
)
async def test_an_event_may_be_written_in_any_order_and_spacing(written: bytes) -> None:
    watch, _ = watcher(written % orjson.dumps(gadget("a")))

    (event,) = await events(watch)

    assert isinstance(event.object, v1.Gadget)
    assert event.object.metadata.name == "a"


@given(
    names=st.lists(st.text(max_size=20), max_size=8),
    cuts=st.lists(st.integers(0, 2000), max_size=12),
)
def test_frames_may_be_cut_anywhere(names: list[str], cuts: list[int]) -> None:
    whole = b"".join(
        frame("MODIFIED", {"metadata": {"name": name}, "spec": {"model": "m"}}) for name in names
    )
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    chunks = [whole[a:b] for a, b in itertools.pairwise(places)]
    watch, _ = watcher(*chunks)

    received = asyncio.run(events(watch))

    assert [event.object.metadata.name for event in received] == names  # type: ignore[union-attr]


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_end_the_watch(data: bytes) -> None:
    watch, response = watcher(data + b"\n")

    received = asyncio.run(events(watch))

    assert all(event.type in EventType for event in received)
    assert response.closed == 1


async def test_opening_a_watch_is_not_rate_limited(server: FakeServer, clock: FakeClock) -> None:
    server.on("GET", GADGETS, stream())
    config = Config(server.url, trust_env=False, qps=1, burst=1)
    async with AsyncClient(config, clock=clock) as client:
        gadgets = client.of(
            v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1"
        ).list_watch()

        for _ in range(3):
            await events(await gadgets.watch(ListOptions()))

    assert clock.slept == []


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer(status(403, "Forbidden"), 403), Forbidden),
        (Answer(404, b"404 page not found\n", content_type="text/plain"), NotFound),
    ],
)
async def test_a_watch_that_is_refused_is_the_error_of_its_status(
    reply: Answer, error: type[Exception], server: FakeServer, client: AsyncClient
) -> None:
    """Any status but 200 raises the error of the response."""
    server.on("GET", GADGETS, reply)

    with pytest.raises(error):
        await client.of(v1.Gadget).list_watch().watch(ListOptions())


async def test_a_watch_is_opened_again_when_the_server_says_when(
    server: FakeServer, client: AsyncClient, clock: FakeClock
) -> None:
    busy = Answer(503, b"busy", {"Retry-After": "3"}, content_type="text/plain")
    server.on("GET", GADGETS, busy, stream(frame("ADDED", gadget("a"))))

    watch = await client.of(v1.Gadget).list_watch().watch(ListOptions())

    assert len(await events(watch)) == 1
    assert clock.slept == [3]


async def test_a_busy_server_is_an_error_in_the_end(
    server: FakeServer, client: AsyncClient, clock: FakeClock
) -> None:
    busy = Answer(503, b"busy", {"Retry-After": "3"}, content_type="text/plain")
    server.on("GET", GADGETS, busy)

    with pytest.raises(ServiceUnavailable):
        await client.of(v1.Gadget).list_watch().watch(ListOptions())

    assert clock.slept == [3] * 10


async def test_a_server_that_cuts_every_connection_gives_an_empty_watch(
    server: FakeServer, client: AsyncClient, clock: FakeClock
) -> None:
    """If all retries end in EOF, the watch is empty and no error is raised."""
    server.on("GET", GADGETS, Answer(cut=True))

    watch = await client.of(v1.Gadget).list_watch().watch(ListOptions())

    assert await events(watch) == []
    assert clock.slept == [1.0] * 10


async def test_a_server_that_is_not_there_is_an_error(clock: FakeClock) -> None:
    async with AsyncClient(Config("http://127.0.0.1:9", trust_env=False), clock=clock) as client:
        gadgets = client.of(v1.Gadget, resource="gadgets", api_version="x/v1").list_watch()

        with pytest.raises(TransportError):
            await gadgets.watch(ListOptions())

    assert clock.slept == []


async def test_a_silent_stream_ends_as_if_it_had_been_closed(
    server: FakeServer, clock: FakeClock
) -> None:
    """Half-open connections are detected by the idle timeout."""
    release = asyncio.Event()
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a")), hold=release))
    config = Config(server.url, trust_env=False, watch_idle_timeout=0.05)
    async with AsyncClient(config, clock=clock) as client:
        gadgets = client.of(
            v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1"
        ).list_watch()

        received = await events(await gadgets.watch(ListOptions()))

    release.set()
    assert len(received) == 1


async def test_stopping_a_watch_over_the_network_unblocks_its_receiver(
    server: FakeServer, client: AsyncClient
) -> None:
    release = asyncio.Event()
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a")), hold=release))
    watch = await client.of(v1.Gadget).list_watch().watch(ListOptions())
    first = await anext(watch.result())
    received = asyncio.create_task(events(watch))
    await asyncio.sleep(0)

    watch.stop()

    async with asyncio.timeout(5):
        assert await received == []
    release.set()
    assert first.type is EventType.ADDED


async def test_a_connection_cut_in_the_middle_ends_the_watch_silently(
    server: FakeServer, client: AsyncClient
) -> None:
    cut = stream(frame("ADDED", gadget("a")), b'{"type":"ADDED","obj', cut=True)
    server.on("GET", GADGETS, cut)

    watch = await client.of(v1.Gadget).list_watch().watch(ListOptions())
    received = await events(watch)

    assert all(event.type is EventType.ADDED for event in received)


async def test_a_watch_asks_for_its_selection_and_says_that_it_watches(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", GADGETS, stream())

    await (
        client.of(v1.Gadget)
        .list_watch(labels="app=a")
        .watch(ListOptions(resource_version="5", allow_watch_bookmarks=True, timeout_seconds=30))
    )

    assert server.requests[-1].query == {
        "labelSelector": "app=a",
        "resourceVersion": "5",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "30",
        "watch": "true",
    }
    assert server.requests[-1].header("accept-encoding") == "identity"


@pytest.mark.parametrize(
    ("action", "previous", "kind"),
    [
        ("create", None, "ADDED"),
        ("set", None, "ADDED"),
        ("set", {"value": "{}"}, "MODIFIED"),
        ("compareAndSwap", {"value": "{}"}, "MODIFIED"),
        ("delete", {"value": orjson.dumps(gadget("old")).decode()}, "DELETED"),
    ],
)
async def test_a_decoder_of_another_protocol_serves_the_same_watcher(
    action: str, previous: dict[str, str] | None, kind: str
) -> None:
    node = {"value": orjson.dumps(gadget("a")).decode(), "modifiedIndex": 42}
    response = ScriptedResponse(
        orjson.dumps({"action": action, "node": node, "prevNode": previous}) + b"\n"
    )
    decoder = EtcdEventDecoder(response.chunk, decode_gadget, response.close)

    (event,) = await events(StreamWatcher(decoder))

    assert event.type == kind
    assert isinstance(event.object, v1.Gadget)
    assert event.object.metadata.resource_version == "42"
    assert event.object.metadata.name == ("old" if kind == "DELETED" else "a")


@pytest.mark.parametrize(
    "line", [b"{}", b"[", b'{"action":"get","node":{}}', b'{"action":"set","node":{"value":1}}']
)
async def test_what_is_no_event_of_etcd_is_an_error_event(line: bytes) -> None:
    response = ScriptedResponse(line + b"\n")
    decoder = EtcdEventDecoder(response.chunk, decode_gadget, response.close)

    (event,) = await events(StreamWatcher(decoder))

    assert status_of(event).code == 500


async def test_a_loop_that_is_left_lets_go_of_its_watch(
    server: FakeServer, client: AsyncClient
) -> None:
    """The connection is closed at once, not at the next garbage collection."""
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a", "8")), hold=asyncio.Event()))
    gc.disable()
    try:
        async for event in client.of(v1.Gadget).watch(since="7"):
            assert event.object.metadata.name == "a"
            break

        async with asyncio.timeout(5):
            await server.left.wait()
    finally:
        gc.enable()


async def test_closing_the_client_closes_a_watch_that_somebody_still_holds(
    server: FakeServer, scheme: Scheme
) -> None:
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a", "8")), hold=asyncio.Event()))
    async with AsyncClient(Config(server.url, trust_env=False), scheme=scheme) as client:
        watch = client.of(v1.Gadget).watch(since="7")
        await anext(watch)

    async with asyncio.timeout(5):
        await server.left.wait()
    del watch
    gc.collect()  # an open connection would raise a ResourceWarning
