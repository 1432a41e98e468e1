"""A listener with real connections in the event loop of a test, and clients that block."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import uvloop

from apimachinery.certificates import CertificateAuthority
from apiserver.connections.listener import Listener
from tests.apiserver.process.fake_worker import FakeWorker

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def run(loop: str, test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test in an event loop of one of LOOPS."""
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(test())


def tls_context(folder: Path) -> ssl.SSLContext:
    """Return the context of a server that no client checks."""
    now = datetime.now(UTC)
    pair = CertificateAuthority.create(now=now).issue_serving(["localhost"], now=now)
    both = folder / "serving.pem"
    both.write_bytes(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    return context


@dataclass
class SocketServer:
    worker: FakeWorker
    port: int
    tls: bool

    def connect(self, *, receive_buffer: int | None = None) -> socket.socket:
        """Connect, in a thread of its own."""
        raw = socket.socket()
        raw.settimeout(20)
        if receive_buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        raw.connect(("127.0.0.1", self.port))
        if not self.tls:
            return raw
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(raw)

    async def emptied(self, seconds: float) -> None:
        """Wait until no connection is left. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while self.worker.connections:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(
    app: Any, tls: ssl.SSLContext | None, *, send_buffer: int | None = None
) -> AsyncIterator[SocketServer]:
    worker: Any = FakeWorker(app)
    worker.share = SimpleNamespace(is_fair=True, show_life=lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        if send_buffer is not None:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listener = Listener(worker, bound, tls, limit=100)
        listener.start()
        try:
            yield SocketServer(worker, bound.getsockname()[1], tls is not None)
        finally:
            listener.close()
            for connection in list(worker.connections):
                connection.abort()
