"""Watches over WebSockets with an ASGI application in this process, ours and others."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from apimachinery.errors import Forbidden, NotFound, Unauthorized
from apimachinery.meta.options import ListOptions
from apimachinery.scheme import Scheme
from apis.gadgets import v1
from client import ASGITransport, AsyncClient, Config, TransportError
from client.auth.auth_info import AuthInfo
from client.informer import SharedInformer
from client.transport.request import Request
from client.transport.transport import Response
from tests.client.test_server import ADMIN, app, body

WATCH = Request("watch", "GET", "/watch", query=(("watch", "true"),), websocket=True)


class Speaker:
    """An application that sends prepared messages and records when its client disconnects."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.sent = 0
        self.scope: Any = None
        self.heard: list[Any] = []
        self.left = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        self.heard.append(await receive())
        for message in self.messages:
            await send(message)
            self.sent += 1
        if self.messages[-1]["type"] != "websocket.close":
            self.heard.append(await receive())
            self.left.set()


ACCEPT = {"type": "websocket.accept"}


async def opened(*messages: dict[str, Any]) -> tuple[Response, Speaker]:
    speaker = Speaker(*messages)
    return await ASGITransport(speaker, grace=0).open(WATCH), speaker


async def test_each_message_is_a_line() -> None:
    """Messages are text or bytes; the end of the socket is the end of the stream."""
    response, speaker = await opened(
        ACCEPT,
        {"type": "websocket.send", "text": "é"},
        {"type": "websocket.send", "bytes": b"two"},
        {"type": "websocket.close"},
    )

    assert response.status == 101
    assert await response.read() == "é\ntwo\n".encode()
    assert speaker.heard == [{"type": "websocket.connect"}]
    assert (speaker.scope["type"], speaker.scope["scheme"]) == ("websocket", "wss")
    assert speaker.scope["query_string"] == b"watch=true"


async def test_a_reader_that_does_not_read_holds_up_the_application() -> None:
    response, speaker = await opened(
        ACCEPT, *({"type": "websocket.send", "text": str(number)} for number in range(50))
    )

    assert [await response.chunk() for _ in range(3)] == [b"0\n", b"1\n", b"2\n"]

    assert speaker.sent <= 5
    response.close()


async def test_closing_tells_the_application_that_its_client_left() -> None:
    response, speaker = await opened(ACCEPT)
    waiting = asyncio.ensure_future(response.chunk())
    await asyncio.sleep(0)

    response.close()

    async with asyncio.timeout(5):
        assert await waiting == b""
        await speaker.left.wait()
    assert speaker.heard[-1] == {"type": "websocket.disconnect", "code": 1000}


@pytest.mark.parametrize(("close_code", "status"), [(1000, 403), (3404, 404), (4999, 403)])
async def test_a_socket_that_is_not_accepted_is_a_refusal(close_code: int, status: int) -> None:
    """403, as servers respond, unless the close code encodes another status."""
    response, _ = await opened({"type": "websocket.close", "code": close_code})

    assert response.status == status
    assert await response.read() == b""


async def test_an_application_without_websockets_is_an_error() -> None:
    async def bare(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"

    with pytest.raises(TransportError, match="the application failed"):
        await ASGITransport(bare).open(WATCH)


# Our own server


@pytest.fixture
async def transport() -> AsyncIterator[ASGITransport]:
    async with ASGITransport(app()) as transport:
        yield transport


@pytest.fixture
async def client(transport: ASGITransport, scheme: Scheme) -> AsyncClient:
    return AsyncClient(ADMIN, scheme=scheme, transport=transport)


async def names_of(watch: Any, count: int) -> Sequence[tuple[str, str]]:
    events = []
    async for event in watch:
        events.append((str(event.type), event.object.metadata.name))
        if len(events) == count:
            break
    return events


async def test_a_watch_over_a_websocket_is_the_watch(client: AsyncClient) -> None:
    gadgets = client.of(v1.Gadget, namespace="default")
    await gadgets.create(body("a"))

    async with gadgets.over_websocket().watch() as watch:
        first = await names_of(watch, 1)
        await gadgets.create(body("b"))
        await gadgets.delete("a")
        rest = await names_of(watch, 2)

    assert [*first, *rest] == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


async def test_an_informer_may_live_on_a_websocket(client: AsyncClient) -> None:
    """Only the transport differs: lists, initial events and bookmarks are the same."""
    gadgets = client.of(v1.Gadget, namespace="default")
    await gadgets.create(body("a"))
    informer = SharedInformer(gadgets.over_websocket().list_watch(), expected=v1.Gadget)
    running = asyncio.ensure_future(informer.run())

    await informer.wait_synced(timeout=10)
    created = await gadgets.create(body("b"))
    await informer.wait_version(created.metadata.resource_version, timeout=10)

    assert informer.store.keys() == ["default/a", "default/b"]
    informer.stop()
    await running


@pytest.mark.parametrize(
    ("config", "group", "error"),
    [
        (Config("https://apiserver"), "gadgets.example.io/v1", Forbidden),
        (
            Config("https://apiserver", auth=AuthInfo(token="?")),
            "gadgets.example.io/v1",
            Unauthorized,
        ),
        (ADMIN, "nobody.example.io/v1", NotFound),
    ],
)
async def test_a_refused_watch_is_the_error_of_its_code(
    config: Config, group: str, error: type[Exception], transport: ASGITransport
) -> None:
    client = AsyncClient(config, transport=transport)
    gadgets = client.of(v1.Gadget, resource="gadgets", api_version=group, namespace="default")

    with pytest.raises(error):
        await gadgets.over_websocket().list_watch().watch(ListOptions())
