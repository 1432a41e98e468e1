"""A webhook over HTTPS in the process of a test, with a certificate authority of its own."""

import asyncio
import inspect
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import orjson
from aiohttp import web

from apimachinery.certificates import CertificateAuthority


@dataclass(frozen=True)
class Received:
    """A request that the webhook received."""

    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None
    peer: tuple[str, int]
    client_certificate: dict[str, Any] | None = None

    @property
    def review(self) -> dict[str, Any]:
        document: dict[str, Any] = orjson.loads(self.body)
        return document


@dataclass(frozen=True)
class Reply:
    """A response of any status and content."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


Answer: TypeAlias = Callable[[Received], "Reply | bytes | Awaitable[Reply | bytes]"]


@dataclass
class WebhookServer:
    """The running server; *answer* may be replaced at any time."""

    answer: Answer
    port: int = 0
    ca: bytes = b""
    received: list[Received] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)

    def url(self, path: str = "") -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        received = Received(
            request.path,
            request.query_string,
            dict(request.headers),
            await request.read(),
            self.names[-1] if self.names else None,
            transport.get_extra_info("peername")[:2],
            transport.get_extra_info("peercert") or None,
        )
        self.received.append(received)
        answer = self.answer(received)
        if inspect.isawaitable(answer):
            answer = await answer
        reply = Reply(answer) if isinstance(answer, bytes) else answer
        return web.Response(body=reply.body, status=reply.status, headers=reply.headers)


@asynccontextmanager
async def webhook_server(
    answer: Answer,
    *,
    names: Sequence[str] = ("127.0.0.1",),
    issued_at: datetime | None = None,
    client_ca: bytes = b"",
) -> AsyncIterator[WebhookServer]:
    """Serve a webhook with a certificate for *names* on a free port of loopback."""
    now = issued_at or datetime.now(UTC)
    authority = CertificateAuthority.create(now=now)
    server = WebhookServer(answer, ca=authority.pair.certificate)
    pair = authority.issue_serving(names, now=now)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "serving.pem"
        path.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(path)
    if client_ca:
        context.load_verify_locations(cadata=client_ca.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
    context.sni_callback = lambda sock, name, used: server.names.append(name)
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()
        await asyncio.sleep(0)
