"""The HTTPS server of webhooks: kept connections, bounds, slow clients and the end."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.certificates import CertificateAuthority
from apimachinery.errors import BadRequest
from apis.gadgets import v1
from client.monitoring.prometheus import PrometheusMetrics
from client.webhooks.http_requests import parse_head
from client.webhooks.webhook_server import MAX_BUFFERED, WebhookServer
from client.webhooks.webhooks import Webhooks
from tests.client.webhooks.reviews import admission_review, gadget, gadget_scheme, gadget_webhooks

VALIDATE = "/validate-gadgets-example-io-v1-gadget"
BODY = orjson.dumps(admission_review(gadget()))


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The contexts of a server and of a client that trusts it."""
    now = datetime.now(UTC)
    authority = CertificateAuthority.create(now=now)
    pair = authority.issue_serving(("127.0.0.1",), now=now)
    path: Path = tmp_path_factory.mktemp("tls") / "serving.pem"
    path.write_bytes(pair.certificate + pair.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cadata=authority.pair.certificate.decode())


class Connection:
    """A connection to a webhook server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, body: bytes = BODY, *headers: str, path: str = VALIDATE) -> None:
        lines = [f"POST {path} HTTP/1.1", "Host: a", "Content-Type: application/json", *headers]
        if not any(line.startswith(("Content-Length", "Transfer")) for line in headers):
            lines.append(f"Content-Length: {len(body)}")
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def receive(self) -> tuple[int, dict[str, str], Any]:
        """Return the status, the headers and the document of a response."""
        async with asyncio.timeout(5):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:-2])
            body = await self.reader.readexactly(int(headers["content-length"]))
        return int(head[0].split()[1]), headers, orjson.loads(body)

    async def closed(self) -> bool:
        """Wait until the server closes the connection."""
        async with asyncio.timeout(5):
            try:
                return await self.reader.read() == b""
            except (OSError, ssl.SSLError):
                return True


class Server:
    """A running server, and connections to it."""

    def __init__(self, server: WebhookServer, trust: ssl.SSLContext) -> None:
        self.server = server
        self._trust = trust
        self._open: list[asyncio.StreamWriter] = []

    async def connect(self) -> Connection:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.server.port, ssl=self._trust
        )
        self._open.append(writer)
        return Connection(reader, writer)

    def close(self) -> None:
        for writer in self._open:
            writer.close()


@asynccontextmanager
async def serve(
    tls: tuple[ssl.SSLContext, ssl.SSLContext], webhooks: Webhooks | None = None, **options: Any
) -> AsyncIterator[Server]:
    if webhooks is None:
        webhooks = gadget_webhooks()
        webhooks.validator(v1.Gadget)(lambda gadget: None)
    server = WebhookServer("127.0.0.1:0", webhooks.routes, tls[0], **options)
    await server.start()
    running = Server(server, tls[1])
    try:
        yield running
    finally:
        running.close()
        await server.stop(grace=1)


async def test_connections_are_kept(tls: Any) -> None:
    async with serve(tls) as server:
        connection = await server.connect()
        for _ in range(3):
            connection.send()
            status, headers, document = await connection.receive()
            assert (status, headers["connection"]) == (200, "keep-alive")
            assert document["response"]["allowed"]

        connection.send(BODY, "Connection: close")
        assert (await connection.receive())[1]["connection"] == "close"
        assert await connection.closed()


async def test_calls_are_counted_by_path_and_code(tls: Any) -> None:
    metrics = PrometheusMetrics()
    webhooks = Webhooks(gadget_scheme(), metrics=metrics)
    webhooks.validator(v1.Gadget)(lambda gadget: None)
    async with serve(tls, webhooks) as server:
        connection = await server.connect()
        for body in (BODY, BODY, b"garbage"):
            connection.send(body)
            await connection.receive()

    shown = metrics.exposition().decode()
    total = f'controller_runtime_webhook_requests_total{{code="%d",webhook="{VALIDATE}"}} %.1f'
    assert total % (200, 2) in shown
    assert total % (400, 1) in shown
    assert f'webhook_latency_seconds_count{{webhook="{VALIDATE}"}} 3.0' in shown
    assert f'webhook_requests_in_flight{{webhook="{VALIDATE}"}} 0.0' in shown


async def test_requests_may_be_pipelined_and_sent_in_chunks(tls: Any) -> None:
    chunks = b"".join(
        b"%x;name=value\r\n%b\r\n" % (len(part), part)
        for part in (BODY[:5], BODY[5:100], BODY[100:])
    )
    async with serve(tls) as server:
        connection = await server.connect()
        connection.send(chunks + b"0\r\nTrailer: 1\r\n\r\n", "Transfer-Encoding: chunked")
        connection.send()

        for _ in range(2):
            assert (await connection.receive())[2]["response"]["allowed"]


async def test_a_client_that_waits_for_100_is_told_to_continue(tls: Any) -> None:
    async with serve(tls) as server:
        connection = await server.connect()
        connection.send(b"", f"Content-Length: {len(BODY)}", "Expect: 100-continue")
        assert await connection.reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        await connection.reader.readline()
        connection.writer.write(BODY)

        assert (await connection.receive())[0] == 200


async def test_a_refused_request_keeps_the_connection_if_its_body_was_read(tls: Any) -> None:
    async with serve(tls) as server:
        connection = await server.connect()
        connection.send(b"garbage")
        status, headers, document = await connection.receive()
        assert (status, headers["connection"]) == (400, "keep-alive")
        assert document["message"].startswith("the body is no AdmissionReview")

        connection.send(path="/nowhere")
        status, headers, _ = await connection.receive()
        assert (status, headers["connection"]) == (404, "close")


@pytest.mark.parametrize("framing", ["Content-Length: 8388608", "Transfer-Encoding: chunked"])
async def test_a_review_that_is_too_large_is_answered_with_413(tls: Any, framing: str) -> None:
    body = b" " * 8388608
    async with serve(tls) as server:
        connection = await server.connect()
        connection.send(
            body if "Length" in framing else b"800000\r\n" + body + b"\r\n0\r\n\r\n", framing
        )

        status, _, document = await connection.receive()

        assert (status, document["reason"]) == (413, "RequestEntityTooLarge")
        assert await connection.closed()


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/2.0\r\n\r\n",
        b"POST https://a/ HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
        b"POST / HTTP/1.1\r\nA : b\r\n\r\n",
        b"POST / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
    ],
)
async def test_a_malformed_head_is_answered_with_400(tls: Any, head: bytes) -> None:
    async with serve(tls) as server:
        connection = await server.connect()
        connection.writer.write(head)

        assert (await connection.receive())[0] == 400


@given(st.binary(max_size=80))
def test_any_head_is_parsed_or_refused(data: bytes) -> None:
    for head in (data, b"POST / HTTP/1.1\r\n" + data, b"POST / HTTP/1.1\r\nA: " + data):
        try:
            parsed = parse_head(head + b"\r\n\r\n")
        except BadRequest:
            continue
        assert parsed.path.startswith("/")
        assert all("\n" not in value and "\r" not in value for value in parsed.headers.values())


async def test_slow_clients_are_disconnected(tls: Any) -> None:
    async with serve(tls, head_timeout=0.05, body_timeout=0.05) as server:
        silent, slow_head, slow_body = [await server.connect() for _ in range(3)]
        slow_head.writer.write(b"POST / HTTP")
        slow_body.send(b"{", "Content-Length: 100")

        assert await silent.closed()
        assert await slow_head.closed()
        assert (await slow_body.receive())[0] == 408
        assert await slow_body.closed()


async def test_connections_and_buffered_bodies_are_bounded(tls: Any) -> None:
    async with serve(tls, max_connections=1) as server:
        first = await server.connect()
        first.send()
        await first.receive()
        second = await server.connect()
        assert await second.closed()

        server.server._buffered = MAX_BUFFERED
        first.send()
        status, headers, _ = await first.receive()
        assert (status, headers["connection"]) == (429, "close")
        assert headers["retry-after"] == "1"
        server.server._buffered = 0


async def test_a_stop_lets_calls_end_and_closes_idle_connections(tls: Any) -> None:
    webhooks, called, go_on = gadget_webhooks(), asyncio.Event(), asyncio.Event()

    @webhooks.validator(v1.Gadget)
    async def waiting(gadget: v1.Gadget) -> None:
        called.set()
        await go_on.wait()

    async with serve(tls, webhooks) as server:
        idle, busy = await server.connect(), await server.connect()
        busy.send()
        await called.wait()

        stopping = asyncio.ensure_future(server.server.stop(grace=5))
        assert await idle.closed()
        go_on.set()
        status, headers, _ = await busy.receive()

        assert (status, headers["connection"]) == (200, "close")
        await stopping
        assert not server.server.is_serving
