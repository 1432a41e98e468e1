"""The connections of NetworkTransport, against servers that send exactly the bytes of a test."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import uvloop

from client import Config
from client.transport.http_connection import PooledConnection
from client.transport.network import NetworkTransport
from client.transport.request import Request
from client.transport.transport import ConnectionLost, RequestTimeout, TransportError

GET = Request("get", "GET", "/a")
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

Respond = Callable[[int, bytes, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def responding(
    respond: Respond, *, gone: asyncio.Event | None = None
) -> AsyncIterator[NetworkTransport]:
    """Call *respond* with the number of the connection and the head of each of its requests.

    *gone* is set when the client has closed a connection.
    """
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        number = connections
        try:
            while not writer.is_closing():
                await respond(number, await reader.readuntil(b"\r\n\r\n"), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            if gone is not None:
                gone.set()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    transport = NetworkTransport(Config(f"http://{host}:{port}", trust_env=False))
    async with server:
        yield transport
        await transport.aclose()


def test_the_loop_of_the_server_connects_as_well() -> None:
    """uvloop lacks some of asyncio's options."""

    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(EMPTY)

    async def connect() -> int:
        async with responding(respond) as transport:
            response = await transport.open(GET)
            await response.read()
            return response.status

    assert uvloop.run(connect()) == 200


async def test_a_request_has_the_headers_that_http_needs() -> None:
    heads = []

    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head.decode().split("\r\n"))
        writer.write(EMPTY)

    async with responding(respond) as transport:
        await (await transport.open(GET)).read()
        await (await transport.open(Request("create", "POST", "/a"))).read()

    port = heads[0][1].rpartition(":")[2]
    host = f"Host: 127.0.0.1:{port}"
    assert heads[0][:3] == ["GET /a HTTP/1.1", host, "Accept-Encoding: gzip"]
    assert "Content-Length: 0" in heads[1]


async def test_a_header_cannot_add_another() -> None:
    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(EMPTY)

    async with responding(respond) as transport:
        for value in ("a\r\nX: b", "a\nX: b", "a\rX: b"):
            with pytest.raises(TransportError, match="line break"):
                await transport.open(Request("get", "GET", "/a", headers=(("A", value),)))


@pytest.mark.parametrize(("method", "repeated"), [("GET", True), ("PUT", False)])
async def test_only_a_read_is_repeated_if_its_idle_connection_is_gone(
    method: str, repeated: bool
) -> None:
    """The server may have executed a write before it closed the connection."""

    async def respond(number: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"/first" in head or number > 1:
            writer.write(EMPTY)
        else:
            writer.transport.abort()

    async with responding(respond) as transport:
        await (await transport.open(Request("get", "GET", "/first"))).read()
        request = Request("x", method, "/second")
        if repeated:
            assert (await transport.open(request)).status == 200
        else:
            with pytest.raises(ConnectionLost, match="/second"):
                await transport.open(request)


async def test_a_connection_that_brings_more_than_its_response_is_not_used_again() -> None:
    """A response that nobody asked for would be taken for that to the next request."""
    numbers = []

    async def respond(number: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        numbers.append(number)
        writer.write(EMPTY + b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    async with responding(respond) as transport:
        for _ in range(2):
            assert (await transport.open(GET)).status == 200

    assert numbers == [1, 2]


async def test_requests_at_once_have_connections_of_their_own() -> None:
    arrived = asyncio.Barrier(3)

    async def respond(number: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        await arrived.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)

    async with responding(respond) as transport, asyncio.timeout(30):
        responses = await asyncio.gather(*(transport.open(GET) for _ in range(3)))
        bodies = [await response.read() for response in responses]

    assert sorted(bodies) == [b"1", b"2", b"3"]


class PausedTransport(asyncio.Transport):
    """A transport that records whether it is read."""

    reads = True

    def write(self, data: object) -> None:
        return None

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


@pytest.mark.parametrize("whole", [False, True])
async def test_a_slow_reader_holds_up_the_server(whole: bool) -> None:
    transport = PausedTransport()
    connection = PooledConnection(lambda _: None, set())
    connection.connection_made(transport)
    response = connection.send("GET", b"")
    arriving = [b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n", *[b"x" * 50000] * 6]
    for data in arriving:
        connection.get_buffer(-1)[: len(data)] = data
        connection.buffer_updated(len(data))
    await response.start()
    assert not transport.reads

    if whole:
        reading = asyncio.create_task(response.read())
        await asyncio.sleep(0)
        assert transport.reads
        reading.cancel()
    else:
        for _ in range(6):
            assert not transport.reads
            assert await response.chunk() == b"x" * 50000
        assert transport.reads


async def test_a_stream_may_be_compressed() -> None:
    text = b"event\n" * 1000
    packed = gzip.compress(text)

    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(packed))
        for start in range(0, len(packed), 20):
            writer.write(packed[start : start + 20])
            await writer.drain()

    async with responding(respond) as transport:
        response = await transport.open(GET)
        received = b""
        while data := await response.chunk():
            received += data

    assert received == text


@pytest.mark.parametrize(
    "body", [b"no gzip", gzip.compress(b"text")[:-4]], ids=["malformed", "incomplete"]
)
async def test_a_broken_compressed_body_is_an_error(body: bytes) -> None:
    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async with responding(respond) as transport:
        with pytest.raises(TransportError):
            await (await transport.open(GET)).read()


async def test_a_response_without_a_body_needs_no_compressed_one() -> None:
    """Its headers are those of the response that has one."""

    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        length = 30 if head.startswith(b"HEAD") else 0
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % length)

    async with responding(respond) as transport:
        for method in ("HEAD", "GET"):
            assert await (await transport.open(Request("get", method, "/a"))).read() == b""


async def test_a_stream_that_is_malformed_does_not_look_as_if_it_had_ended() -> None:
    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nno\r\n")

    async with responding(respond) as transport:
        response = await transport.open(GET)
        with pytest.raises(TransportError, match="malformed chunk"):
            while await response.chunk():
                pass


async def test_a_server_that_speaks_no_http_is_an_error_that_is_not_tried_again() -> None:
    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n\r\n")

    async with responding(respond) as transport:
        with pytest.raises(TransportError, match="malformed status line") as caught:
            await transport.open(GET)

    assert not isinstance(caught.value, ConnectionLost)


async def test_a_redirect_is_followed() -> None:
    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET /a "):
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/b")

    async with responding(respond) as transport:
        assert await (await transport.open(GET)).read() == b"/b"


async def test_a_cancelled_request_closes_its_connection() -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def respond(_: int, head: bytes, writer: asyncio.StreamWriter) -> None:
        asked.set()

    async with responding(respond, gone=gone) as transport, asyncio.timeout(30):
        asking = asyncio.create_task(transport.open(GET))
        await asked.wait()
        asking.cancel()
        await gone.wait()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_a_server_that_accepts_nothing_is_a_timeout() -> None:
    closed = asyncio.Event()

    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        closed.set()

    async with await asyncio.start_server(ignore, "127.0.0.1", 0) as silent:
        address = f"127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        config = Config(f"https://{address}", trust_env=False, connect_timeout=0.05)
        transport = NetworkTransport(config)

        with pytest.raises(RequestTimeout, match=f"{address}.*: no connection in time"):
            await transport.open(GET)
        async with asyncio.timeout(30):
            await closed.wait()
        await transport.aclose()
