"""Connections without a socket: the order of requests, the writes, and the end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from apiserver.connections.connection import HTTPConnection
from apiserver.connections.request_body import MAX_WAITING
from tests.apiserver.process.fake_worker import FakeTransport, FakeWorker

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
GET = b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"


class Wire:
    """A client of a connection, whose writes it sees."""

    def __init__(self, app: App) -> None:
        self.worker = FakeWorker(app)
        self.transport = FakeTransport()
        self.connection = HTTPConnection(self.worker)
        self.connection.connection_made(self.transport)

    async def send(self, *pieces: bytes) -> bytes:
        """Send something; return what is answered to it."""
        before = len(self.transport.written)
        for piece in pieces:
            self.connection.data_received(piece)
        for _ in range(50):
            await asyncio.sleep(0)
        return bytes(self.transport.written[before:])


async def answer(send: Any, body: bytes, *headers: tuple[bytes, bytes], code: int = 200) -> None:
    length = (b"content-length", b"%d" % len(body))
    start = {"type": "http.response.start", "status": code, "headers": [*headers, length]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer with the path and the body."""
    body, more = scope["path"].encode(), True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await answer(send, body)


async def early(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer without reading the body."""
    await answer(send, b"early", code=403)


async def test_head_and_body_of_a_response_are_one_write() -> None:
    wire = Wire(echo)

    answered = await wire.send(GET % b"a")

    assert answered.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answered.endswith(b"\r\n\r\n/a")
    assert wire.transport.writes == 1


async def test_requests_that_are_sent_ahead_are_served_in_order() -> None:
    wire = Wire(echo)

    third = GET % b"c"

    answered = await wire.send(GET % b"a" + GET % b"b" + third[:9], third[9:])

    bodies = [part.partition(b"\r\n\r\n")[2] for part in answered.split(b"HTTP/1.1 ")[1:]]
    assert bodies == [b"/a", b"/b", b"/c"]
    assert wire.connection.is_idle


async def test_headers_like_those_before_are_not_taken_for_others() -> None:
    async def names(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await answer(send, b",".join(value for _, value in scope["headers"]))

    wire = Wire(names)
    first = await wire.send(b"GET / HTTP/1.1\r\nHost: x\r\nX: 1\r\n\r\n")
    same = await wire.send(b"GET / HTTP/1.1\r\nHost: x\r\nX: 1\r\n\r\n")
    other = await wire.send(b"GET / HTTP/1.1\r\nHost: x\r\nX: 2\r\n\r\n")
    older = await wire.send(b"GET / HTTP/1.0\r\nHost: x\r\nX: 2\r\n\r\n")

    bodies = [each.partition(b"\r\n\r\n")[2] for each in (first, same, other, older)]
    assert bodies == [b"x,1", b"x,1", b"x,2", b"x,2"]
    assert wire.transport.closing, "HTTP/1.0 keeps no connection"


async def test_an_early_response_announces_the_end_of_the_connection() -> None:
    """The rest of the body could be taken for the next request."""
    wire = Wire(early)

    answered = await wire.send(POST + b"Content-Length: 5\r\n\r\nab")

    assert b"\r\nConnection: close\r\n" in answered
    assert wire.connection.is_ending
    assert await wire.send(b"cde" + GET % b"a") == b""


async def test_an_early_response_to_a_whole_request_keeps_the_connection() -> None:
    wire = Wire(early)

    answered = await wire.send(POST + b"Content-Length: 2\r\n\r\nab")

    assert b"Connection" not in answered
    assert not wire.transport.closing


async def test_a_client_is_asked_for_its_body_when_the_application_reads_it() -> None:
    expecting = POST + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    reading, refusing = Wire(echo), Wire(early)

    assert await reading.send(expecting) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert (await reading.send(b"ab")).endswith(b"\r\n\r\n/ab")
    assert b"100 Continue" not in await reading.send(expecting + b"ab")
    assert (await refusing.send(expecting)).startswith(b"HTTP/1.1 403 ")


async def test_nothing_is_read_while_too_much_waits() -> None:
    taking = asyncio.Event()

    async def slow(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await taking.wait()
        await echo(scope, receive, send)

    wire = Wire(slow)
    size = MAX_WAITING + 1

    await wire.send(POST + b"Content-Length: %d\r\n\r\n" % size, b"a" * size)
    assert not wire.transport.reading
    taking.set()

    assert (await wire.send()).endswith(b"a" * size)
    assert wire.transport.reading


async def test_a_stream_sends_its_head_before_its_first_event() -> None:
    more = asyncio.Event()

    async def stream(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await more.wait()
        await send({"type": "http.response.body", "body": b"event", "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    wire = Wire(stream)

    head = await wire.send(GET % b"")
    more.set()
    body = await wire.send()

    assert b"\r\ntransfer-encoding: chunked\r\n" in head
    assert head.endswith(b"\r\n\r\n")
    assert body == b"5\r\nevent\r\n0\r\n\r\n"


async def test_a_body_without_a_length_ends_with_the_connection_in_old_http() -> None:
    async def unknown(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all"})

    wire = Wire(unknown)

    answered = await wire.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")

    assert b"transfer-encoding" not in answered
    assert b"\r\nConnection: close\r\n" in answered
    assert wire.transport.closing


@pytest.mark.parametrize("value", [b"a\r\nX: b", b"a\nb", b"a\x00"])
async def test_a_header_that_would_end_the_head_is_not_sent(value: bytes) -> None:
    async def splitting(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await answer(send, b"", (b"x", value))

    wire = Wire(splitting)

    answered = await wire.send(GET % b"")

    assert answered.startswith(b"HTTP/1.1 500 ")
    assert wire.transport.closing


async def test_a_response_that_is_not_completed_ends_the_connection() -> None:
    async def incomplete(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"10")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"a"})

    wire = Wire(incomplete)

    answered = await wire.send(GET % b"")

    assert answered.endswith(b"\r\n\r\na")
    assert wire.transport.closing


async def test_the_body_of_a_response_to_head_is_not_sent() -> None:
    wire = Wire(echo)

    answered = await wire.send((GET % b"abc").replace(b"GET", b"HEAD"))

    assert b"content-length: 4\r\n" in answered
    assert answered.endswith(b"\r\n\r\n")


async def test_an_application_is_told_that_its_client_has_left() -> None:
    received: list[str] = []

    async def waiting(scope: dict[str, Any], receive: Any, send: Any) -> None:
        while not received or received[-1] != "http.disconnect":
            received.append((await receive())["type"])

    wire = Wire(waiting)
    await wire.send(GET % b"")

    wire.connection.connection_lost(None)
    await wire.send()

    assert received == ["http.request", "http.disconnect"]


async def test_an_idle_connection_is_closed_and_one_in_use_is_not() -> None:
    ending = asyncio.Event()

    async def slow(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await ending.wait()
        await answer(send, b"")

    wire = Wire(slow)
    loop = wire.worker.loop
    await wire.send(GET % b"")

    wire.connection._close_if_idle()
    assert not wire.transport.closing
    ending.set()
    await wire.send()
    wire.connection._close_if_idle()
    assert not wire.transport.closing
    wire.connection._idle_since = loop.time() - wire.worker.cfg.keepalive
    wire.connection._close_if_idle()

    assert wire.transport.closing
