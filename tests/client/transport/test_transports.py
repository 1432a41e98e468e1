"""Both transports: streams and WebSockets over the network, and an application in this process."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from apimachinery.errors import Forbidden
from apis.gadgets import v1
from client import ASGITransport, AsyncClient, Config, ObjectEvent, TransportError
from client.transport.network import NetworkTransport
from client.transport.request import Request
from client.transport.transport import ConnectionLost, ConnectionRefused
from tests.client.fakes import GADGETS, Answer, FakeServer, frame, gadget

GET = Request("get", "GET", "/a")


@pytest.fixture
async def network(server: FakeServer) -> AsyncIterator[NetworkTransport]:
    transport = NetworkTransport(Config(server.url, trust_env=False))
    yield transport
    await transport.aclose()


async def test_a_compressed_body_is_read_as_what_it_is(
    server: FakeServer, network: NetworkTransport
) -> None:
    server.on(
        "GET", "/a", Answer(body=gzip.compress(b"text"), headers={"Content-Encoding": "gzip"})
    )

    response = await network.open(GET)

    assert await response.read() == b"text"


@pytest.mark.parametrize(
    ("verb", "disabled", "encoding"),
    [("get", False, "gzip"), ("get", True, "identity"), ("watch", False, "identity")],
)
async def test_answers_are_compressed_and_streams_are_not(
    verb: str, disabled: bool, encoding: str, server: FakeServer
) -> None:
    """Compression would delay events until a block is full."""
    server.on("GET", "/a", Answer())
    transport = NetworkTransport(Config(server.url, trust_env=False, disable_compression=disabled))

    await (await transport.open(Request(verb, "GET", "/a"))).read()

    assert server.requests[-1].all("accept-encoding") == [encoding]
    await transport.aclose()


async def test_connections_are_asked_whether_they_live(
    server: FakeServer, network: NetworkTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets: list[socket.socket] = []

    class Remembered(socket.socket):
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            sockets.append(self)

    monkeypatch.setattr(socket, "socket", Remembered)
    server.on("GET", "/a", Answer(chunks=[b"x"], hold=asyncio.Event()))
    response = await network.open(GET)

    (connection,) = [sock for sock in sockets if sock.fileno() >= 0 and _goes_to(sock, server)]
    assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    if hasattr(socket, "TCP_KEEPIDLE"):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 30
    response.close()


def _goes_to(connection: socket.socket, server: FakeServer) -> bool:
    try:
        return server.url.endswith(f":{connection.getpeername()[1]}")
    except OSError:
        return False


async def test_connections_are_kept_for_the_next_request(
    server: FakeServer, network: NetworkTransport
) -> None:
    server.on("GET", "/a", Answer())

    for _ in range(3):
        await (await network.open(GET)).read()

    assert len({request.port for request in server.requests}) == 1


async def test_a_body_that_breaks_off_is_a_lost_connection(
    server: FakeServer, network: NetworkTransport
) -> None:
    server.on("GET", "/a", Answer(chunks=[b"half"], cut=True))

    with pytest.raises(ConnectionLost):
        await (await network.open(GET)).read()


async def test_a_port_where_nobody_listens_is_refused() -> None:
    transport = NetworkTransport(Config("http://127.0.0.1:9", trust_env=False))

    with pytest.raises(ConnectionRefused):
        await transport.open(GET)
    await transport.aclose()


async def test_a_query_is_sent_as_it_was_meant(
    server: FakeServer, network: NetworkTransport
) -> None:
    server.on("GET", "/a", Answer())
    query = (("labelSelector", "a in (b,c),d!=é"), ("x", "1+1=2&3"), ("watch", ""))

    await (await network.open(Request("get", "GET", "/a", query=query))).read()

    assert server.requests[-1].query == dict(query)


async def test_a_path_is_not_written_anew(server: FakeServer, network: NetworkTransport) -> None:
    server.on("GET", "/a:b c", Answer())

    await (await network.open(Request("get", "GET", "/a%3Ab%20c"))).read()

    assert server.requests[-1].path == "/a%3Ab%20c"


@pytest.fixture
async def sockets() -> AsyncIterator[tuple[str, list[str]]]:
    """A server that sends watch events over WebSockets."""
    requested: list[str] = []

    async def watch(request: web.Request) -> web.StreamResponse:
        requested.append(request.path_qs)
        if request.query.get("resourceVersion") == "13":
            return web.Response(status=403)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(frame("ADDED", gadget("a", "8")).decode().rstrip())
        await socket.send_bytes(frame("MODIFIED", gadget("a", "9")).rstrip())
        await socket.receive()
        return socket

    app = web.Application()
    app.router.add_get(GADGETS, watch)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}", requested
    await runner.cleanup()


async def test_a_watch_can_go_over_a_websocket(sockets: tuple[str, list[str]]) -> None:
    url, requested = sockets
    async with AsyncClient(Config(url, trust_env=False)) as client:
        gadgets = client.of(v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1")
        events: list[ObjectEvent[v1.Gadget]] = []
        async with gadgets.over_websocket().watch(since="7") as watch:
            async for event in watch:
                events.append(event)
                if len(events) == 2:
                    break

    assert [event.type for event in events] == ["ADDED", "MODIFIED"]
    assert requested == [f"{GADGETS}?allowWatchBookmarks=true&resourceVersion=7&watch=true"]


async def test_a_refused_websocket_is_the_error_of_its_code(
    sockets: tuple[str, list[str]],
) -> None:
    url, _ = sockets
    async with AsyncClient(Config(url, trust_env=False)) as client:
        gadgets = client.of(v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1")

        with pytest.raises(Forbidden):
            await anext(gadgets.over_websocket().watch(since="13"))


async def test_stopping_a_watch_over_a_websocket_wakes_its_reader(
    sockets: tuple[str, list[str]],
) -> None:
    url, _ = sockets
    async with AsyncClient(Config(url, trust_env=False)) as client:
        gadgets = client.of(v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1")
        watch = gadgets.over_websocket().watch(since="7")
        for _ in range(2):
            await anext(watch)
        reading = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)

        watch.stop()

        async with asyncio.timeout(5):
            with pytest.raises(StopAsyncIteration):
                await reading


class App:
    """A small ASGI application, written by hand."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []
        self.events: list[str] = []
        self.sent = 0
        self.ended = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.live(receive, send)
            return
        self.scopes.append(scope)
        body = (await receive())["body"]
        try:
            await getattr(self, scope["path"].strip("/"))(body, receive, send)
        finally:
            self.ended.set()

    async def live(self, receive: Any, send: Any) -> None:
        for _ in range(2):
            kind = (await receive())["type"]
            self.events.append(kind)
            await send({"type": f"{kind}.complete"})

    async def start(self, send: Any) -> None:
        headers = [(b"Content-Type", b"text/plain"), (b"X", b"1"), (b"X", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def echo(self, body: bytes, receive: Any, send: Any) -> None:
        await self.start(send)
        await send({"type": "http.response.body", "body": b"got ", "more_body": True})
        await send({"type": "http.response.body", "body": body})

    async def endless(self, body: bytes, receive: Any, send: Any) -> None:
        await self.start(send)
        while True:
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            self.sent += 1

    async def silent(self, body: bytes, receive: Any, send: Any) -> None:
        await self.start(send)
        assert (await receive())["type"] == "http.disconnect"
        self.events.append("noticed")

    async def crash(self, body: bytes, receive: Any, send: Any) -> None:
        raise RuntimeError("boom")

    async def crash_late(self, body: bytes, receive: Any, send: Any) -> None:
        await self.start(send)
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("boom")

    async def nothing(self, body: bytes, receive: Any, send: Any) -> None:
        return None

    async def never(self, body: bytes, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()


@pytest.fixture
def app() -> App:
    return App()


def path(name: str, **kwargs: Any) -> Request:
    return Request("get", "GET", f"/{name}", **kwargs)


async def test_a_request_is_a_call_of_the_application(app: App) -> None:
    request = path("echo", query=(("a", "b c"),), headers=(("X-Y", "z"),), body=b"body")

    response = await ASGITransport(app).open(request)

    assert response.status == 200
    assert response.headers.all("x") == ["1", "2"]
    assert await response.read() == b"got body"
    (scope,) = app.scopes
    assert scope["query_string"] == b"a=b+c"
    assert (b"x-y", b"z") in scope["headers"]
    assert (b"content-length", b"4") in scope["headers"]


async def test_the_lifespan_runs_around_the_requests(app: App) -> None:
    async with ASGITransport(app) as transport:
        assert app.events == ["lifespan.startup"]
        await (await transport.open(path("echo"))).read()

    assert app.events == ["lifespan.startup", "lifespan.shutdown"]


async def test_an_application_may_have_no_lifespan() -> None:
    async def bare(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"

    async with ASGITransport(bare):
        pass


async def test_a_startup_that_fails_is_told() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no store"})

    with pytest.raises(TransportError, match="startup failed: no store"):
        await ASGITransport(failing).__aenter__()


async def test_a_reader_that_does_not_read_holds_up_the_application(app: App) -> None:
    transport = ASGITransport(app)
    response = await transport.open(path("endless"))

    assert [await response.chunk() for _ in range(3)] == [b"x"] * 3

    assert app.sent <= 4
    await transport.aclose()


async def test_closing_a_response_tells_the_application(app: App) -> None:
    transport = ASGITransport(app)
    response = await transport.open(path("silent"))
    waiting = asyncio.create_task(response.chunk())
    await asyncio.sleep(0)

    response.close()
    response.close()

    async with asyncio.timeout(5):
        assert await waiting == b""
        await app.ended.wait()
    assert app.events == ["noticed"]


async def test_a_request_that_is_given_up_ends_the_application(app: App) -> None:
    transport = ASGITransport(app, grace=0)
    asking = asyncio.create_task(transport.open(path("never")))
    await asyncio.sleep(0)

    asking.cancel()

    await asyncio.gather(asking, return_exceptions=True)
    async with asyncio.timeout(5):
        await transport.aclose()


@pytest.mark.parametrize("name", ["crash", "nothing"])
async def test_an_application_that_fails_is_an_error_that_is_not_tried_again(
    name: str, app: App
) -> None:
    with pytest.raises(TransportError, match="the application") as caught:
        await ASGITransport(app).open(path(name))

    assert not isinstance(caught.value, ConnectionLost)


async def test_an_application_that_fails_in_mid_answer_is_an_error(app: App) -> None:
    response = await ASGITransport(app).open(path("crash_late"))

    with pytest.raises(TransportError, match="boom") as caught:
        await response.read()

    assert isinstance(caught.value.__cause__, RuntimeError)
