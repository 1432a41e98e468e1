"""The end of connections over real sockets: no client loses a response, and no end takes forever.

Each test runs in both event loops, with and without TLS.
"""

import asyncio
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from apiserver.connections import connection, connection_end
from apiserver.connections.connection import HTTPConnection
from apiserver.connections.connection_end import LINGER_SECONDS
from tests.apiserver.connections.socket_server import (
    LOOPS,
    SocketServer,
    listening,
    run,
    tls_context,
)
from tests.apiserver.connections.test_connection import answer, early

BODY = b"x" * (4 * 1024 * 1024)
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(BODY)
SIZE, PARTS = 600_000, 4
BOUND = 5.0
"""Seconds that a connection may take to end on a busy machine."""

pytestmark = [pytest.mark.parametrize("loop", LOOPS), pytest.mark.parametrize("secure", [0, 1])]


def context(folder: Path, secure: int) -> ssl.SSLContext | None:
    return tls_context(folder) if secure else None


def exchange(server: SocketServer, *parts: bytes) -> bytes:
    """Send everything, and only then read to the end."""
    with server.connect() as client:
        for part in parts:
            client.sendall(part)
        answered = b""
        while piece := client.recv(65536):
            answered += piece
        return answered


async def too_large(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Refuse a body after its first part."""
    await receive()
    await answer(send, b"early", code=413)


@pytest.mark.parametrize(("app", "code"), [(early, 403), (too_large, 413)])
def test_a_client_that_still_sends_gets_its_whole_response(
    loop: str, secure: int, app: Any, code: int, tmp_path: Path
) -> None:
    async def test() -> None:
        async with listening(app, context(tmp_path, secure)) as server:
            for _ in range(3):
                answered = await asyncio.to_thread(exchange, server, POST, BODY)

                assert answered.startswith(b"HTTP/1.1 %d " % code)
                assert answered.endswith(b"\r\n\r\nearly")
            await server.emptied(BOUND)

    run(loop, test)


def test_a_client_that_sends_no_request_gets_its_whole_refusal(
    loop: str, secure: int, tmp_path: Path
) -> None:
    async def test() -> None:
        async with listening(early, context(tmp_path, secure)) as server:
            answered = await asyncio.to_thread(exchange, server, b"nonsense\r\n\r\n", BODY)

            assert answered.startswith(b"HTTP/1.1 400 ")
            assert b"\r\n\r\n" in answered
            await server.emptied(BOUND)

    run(loop, test)


def test_a_client_that_never_stops_sending_is_closed(
    loop: str, secure: int, tmp_path: Path
) -> None:
    async def test() -> None:
        async with listening(early, context(tmp_path, secure)) as server:
            client = await asyncio.to_thread(server.connect)
            began = server.worker.loop.time()
            sending = asyncio.create_task(asyncio.to_thread(send_forever, client))
            await sending
            await server.emptied(2 * BOUND)

            assert server.worker.loop.time() - began >= LINGER_SECONDS * 0.9

    run(loop, test)


def send_forever(client: socket.socket) -> None:
    with client:
        try:
            client.sendall(POST.replace(b"%d" % len(BODY), b"%d" % 10**15))
            while True:
                client.sendall(BODY)
        except OSError:
            pass


def test_a_connection_that_waits_for_its_end_is_counted_and_can_be_aborted(
    loop: str, secure: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_end, "LINGER_SECONDS", 60.0)

    async def test() -> None:
        async with listening(early, context(tmp_path, secure)) as server:
            client = await asyncio.to_thread(server.connect)
            with client:
                await asyncio.to_thread(client.sendall, POST)
                await asyncio.to_thread(client.recv, 65536)
                ending: HTTPConnection
                (ending,) = server.worker.connections
                assert ending.is_ending
                assert not ending.is_idle
                assert not ending.is_serving

                ending.abort()
                await server.emptied(BOUND)

    run(loop, test)


@pytest.fixture
def stalled(monkeypatch: pytest.MonkeyPatch) -> float:
    """Shorten the limits; return the seconds in which a client must read something."""
    monkeypatch.setattr(connection_end, "CONFIRM_SECONDS", 0.2)
    for module in (connection, connection_end):
        monkeypatch.setattr(module, "STALL_SECONDS", 1.0)
    return 1.0


async def large(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer with more than the buffers of the kernel hold."""
    length = (b"content-length", b"%d" % SIZE)
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    for part in range(PARTS):
        body, more = b"x" * (SIZE // PARTS), part < PARTS - 1
        await send({"type": "http.response.body", "body": body, "more_body": more})


def read_slowly(server: SocketServer, fields: bytes) -> tuple[int, float]:
    """Return how much of the body was received, and the seconds that it took."""
    began, body = time.monotonic(), 0
    with server.connect(receive_buffer=4096) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n")
        while body < SIZE and (piece := client.recv(2000)):
            body += piece.count(b"x")
            time.sleep(0.008)
    return body, time.monotonic() - began


@pytest.mark.parametrize("fields", [b"", b"Connection: close\r\n"])
def test_a_client_that_reads_slowly_gets_its_whole_response(
    loop: str, secure: int, fields: bytes, stalled: float, tmp_path: Path
) -> None:
    """Neither before the end of the connection nor after it, the time of all reading is limited."""

    async def test() -> None:
        tls = context(tmp_path, secure)
        async with listening(large, tls, send_buffer=16384) as server:
            body, seconds = await asyncio.to_thread(read_slowly, server, fields)

            assert body == SIZE
            assert seconds > 2 * stalled
            await server.emptied(BOUND)

    run(loop, test)


@pytest.mark.parametrize("fields", [b"", b"Connection: close\r\n"])
def test_a_client_that_reads_nothing_is_closed(
    loop: str, secure: int, fields: bytes, stalled: float, tmp_path: Path
) -> None:
    async def test() -> None:
        tls = context(tmp_path, secure)
        async with listening(large, tls, send_buffer=16384) as server:
            client = await asyncio.to_thread(server.connect, receive_buffer=4096)
            with client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n")
                assert server.worker.connections
                await server.emptied(2 * BOUND)

    run(loop, test)


def test_a_client_that_does_not_confirm_the_end_is_closed(
    loop: str, secure: int, stalled: float, tmp_path: Path
) -> None:
    async def test() -> None:
        async with listening(early, context(tmp_path, secure)) as server:
            client = await asyncio.to_thread(server.connect)
            with client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                # Without TLS, reading is all that a client has to do.
                await asyncio.to_thread(client.recv, 1)
                await server.emptied(BOUND)

    run(loop, test)
