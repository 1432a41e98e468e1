"""StreamWatcher: backpressure, closing of connections, and which ends are errors."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Literal

import pytest

from apimachinery.errors import APIError
from apimachinery.meta.options import ListOptions
from apimachinery.model.decoding import DecodeError
from apis.gadgets import v1
from client import ASGITransport, AsyncClient, Config, EventType, ObjectEvent, StreamWatcher
from client.transport.request import Request
from client.transport.tls import ClientCertificate
from client.transport.transport import Headers, RequestTimeout, Response, TransportError
from client.watches.stream_watcher import EndOfStream, decode_event
from tests.client.fakes import GADGETS, Answer, FakeClock, FakeServer, frame, gadget, stream

EVENT: ObjectEvent[Any] = ObjectEvent(EventType.ADDED, v1.Gadget.model_validate(gadget("a")))


class Decoder:
    """Returns prepared events, and counts the calls of decode and close."""

    def __init__(self, *script: ObjectEvent[Any] | Exception) -> None:
        self.script = list(script)
        self.calls = 0
        self.closed = 0

    async def decode(self) -> ObjectEvent[Any]:
        self.calls += 1
        given = self.script.pop(0) if self.script else EndOfStream()
        if isinstance(given, Exception):
            raise given
        return given

    def close(self) -> None:
        self.closed += 1


class Frames:
    """An application that sends events for as long as a client reads them."""

    def __init__(self, *, crash_after: int = 10**6) -> None:
        self.sent = 0
        self._crash_after = crash_after

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while self.sent < self._crash_after:
            body = frame("ADDED", gadget("a", str(self.sent + 1)))
            await send({"type": "http.response.body", "body": body, "more_body": True})
            self.sent += 1
        raise RuntimeError("boom")


def gadgets_of(client: AsyncClient) -> Any:
    return client.of(v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1")


async def opened(app: Any) -> AsyncIterator[StreamWatcher[v1.Gadget]]:
    """A watch of an application in this process."""
    transport = ASGITransport(app, grace=0)
    async with AsyncClient(Config("https://apiserver"), transport=transport) as client:
        yield await gadgets_of(client).list_watch().watch(ListOptions())


async def test_a_slow_reader_holds_up_the_server() -> None:
    """No layer reads more than one event ahead."""
    app = Frames()
    async for watch in opened(app):
        for read in range(1, 6):
            await anext(watch.result())
            for _ in range(20):
                await asyncio.sleep(0)
            assert app.sent <= read + 1
        watch.stop()


async def test_an_event_that_comes_after_stop_is_given_to_nobody() -> None:
    closed = asyncio.Event()

    class Late(Decoder):
        async def decode(self) -> ObjectEvent[Any]:
            await closed.wait()
            return EVENT

        def close(self) -> None:
            super().close()
            closed.set()

    watch: StreamWatcher[v1.Gadget] = StreamWatcher(Late())
    receiving = asyncio.ensure_future(anext(watch.result()))
    await asyncio.sleep(0)

    watch.stop()

    with pytest.raises(StopAsyncIteration):
        await receiving


@pytest.mark.parametrize(
    "ending", [EndOfStream(), DecodeError("nonsense"), RequestTimeout("silent")], ids=repr
)
async def test_the_decoder_is_closed_once_however_the_stream_ends(ending: Exception) -> None:
    decoder = Decoder(EVENT, ending)
    watch: StreamWatcher[v1.Gadget] = StreamWatcher(decoder)

    async with watch:
        async for _ in watch.result():
            pass
        watch.stop()
    await watch.aclose()

    assert decoder.closed == 1
    assert decoder.calls == 2


async def test_a_reader_may_stop_its_own_watch() -> None:
    decoder = Decoder(EVENT, EVENT, EVENT)
    watch: StreamWatcher[v1.Gadget] = StreamWatcher(decoder)
    count = 0

    async for _ in watch.result():
        count += 1
        watch.stop()

    assert (count, decoder.calls, decoder.closed) == (1, 1, 1)


async def test_a_watch_can_be_closed_and_entered_like_any_resource() -> None:
    """An abandoned watch keeps its connection, so there are three ways to close it."""
    closed = []
    for how in ("stop", "aclose", "with"):
        decoder = Decoder(EVENT, EVENT)
        watch: StreamWatcher[v1.Gadget] = StreamWatcher(decoder)
        if how == "stop":
            watch.stop()
        elif how == "aclose":
            await watch.aclose()
        else:
            async with watch as entered:
                assert await anext(entered.result()) is EVENT
        closed.append(decoder.closed)

    assert closed == [1, 1, 1]


async def test_a_failure_that_is_no_end_is_an_error_event() -> None:
    """A lost connection and an idle timeout end the watch; other errors are reported."""
    decoder = Decoder(EVENT, TransportError("certificate has expired"), EVENT)
    watch: StreamWatcher[v1.Gadget] = StreamWatcher(decoder)

    added, failed = [event async for event in watch.result()]

    assert (added.type, failed.type) == ("ADDED", "ERROR")
    assert "certificate has expired" in str(failed.error)
    assert failed.error.has_cause("ClientWatchDecoding")


async def test_an_application_that_crashes_in_a_watch_is_an_error_event() -> None:
    async for watch in opened(Frames(crash_after=1)):
        added, failed = [event async for event in watch.result()]

    assert (added.type, failed.type) == ("ADDED", "ERROR")
    assert "boom" in str(failed.error)


def test_the_type_of_an_event_is_looked_at_before_its_object() -> None:
    decoded: list[bytes] = []

    with pytest.raises(DecodeError, match="got invalid watch event type: RENAMED"):
        decode_event(b'{"type":"RENAMED","object":{"a":1}}', decoded.append)

    assert decoded == []


@pytest.mark.parametrize("written", [b"[]", b"7", b"null", b'"ADDED"'])
def test_an_event_is_an_object(written: bytes) -> None:
    with pytest.raises(DecodeError, match="unable to decode watch event: not an object"):
        decode_event(written, bytes)


@pytest.mark.parametrize("code", [204, 301, 404, 500])
async def test_a_watch_is_answered_with_200_or_refused(
    code: int, server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", GADGETS, Answer(code, b""))

    with pytest.raises(APIError) as caught:
        await client.of(v1.Gadget).list_watch().watch(ListOptions())

    assert caught.value.code == code


class Held(asyncio.Event):
    """The server waits after its last event until the client disconnects."""

    def __init__(self) -> None:
        super().__init__()
        self.left = asyncio.Event()

    async def wait(self) -> Literal[True]:
        try:
            return await super().wait()
        finally:
            self.left.set()


@pytest.mark.parametrize("how", ["block", "stop", "aclose", "cancel"])
async def test_a_server_sees_that_a_watch_was_left(
    how: str, server: FakeServer, client: AsyncClient
) -> None:
    """The connection is closed at once, not at the next garbage collection."""
    held = Held()
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a", "8")), hold=held))
    watch = client.of(v1.Gadget).watch(since="7")
    await anext(watch)
    assert not held.left.is_set()

    if how == "block":
        async with watch:
            pass
    elif how == "stop":
        watch.stop()
    elif how == "aclose":
        await watch.aclose()
    else:
        reading = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        reading.cancel()

    async with asyncio.timeout(5):
        await held.left.wait()
    assert [event async for event in watch] == []


class Silent:
    """A server that accepts connections and never responds in time."""

    def __init__(self) -> None:
        self.calls = 0

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        self.calls += 1
        raise RequestTimeout("no answer")

    async def aclose(self) -> None:
        return None


async def test_a_server_that_stays_silent_gives_an_empty_watch(clock: FakeClock) -> None:
    """Timeouts are retried ten times; then the watch is empty and no error is raised."""
    transport = Silent()
    async with AsyncClient(Config("https://x"), transport=transport, clock=clock) as client:
        watch = await gadgets_of(client).list_watch().watch(ListOptions())

        assert [event async for event in watch.result()] == []

    assert transport.calls == 11


class Busy:
    """A server that responds with Retry-After once, and then succeeds."""

    def __init__(self, app: Any) -> None:
        self._answering = ASGITransport(app, grace=0)
        self.calls = 0

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        self.calls += 1
        if self.calls % 2:
            return _Busy()
        return await self._answering.open(request)

    async def aclose(self) -> None:
        await self._answering.aclose()


class _Busy:
    status = 429
    headers = Headers([("Retry-After", "1")])

    async def read(self) -> bytes:
        return b"busy"

    async def chunk(self) -> bytes:
        return b""

    def close(self) -> None:
        return None


async def test_only_the_second_attempt_at_a_watch_is_rate_limited(clock: FakeClock) -> None:
    """Opening a watch is not rate limited, but its retries are."""
    transport = Busy(Frames())
    config = Config("https://x", qps=0.1, burst=1)
    async with AsyncClient(config, transport=transport, clock=clock) as client:
        for _ in range(2):
            (await gadgets_of(client).list_watch().watch(ListOptions())).stop()

    waits = [seconds for seconds in clock.slept if seconds != 1]
    assert transport.calls == 4
    assert len(waits) == 1, "the first retry had the burst"
    assert waits[0] == pytest.approx(9)
