"""Network server: the server of a test on a real port, for clients in other processes.

Its connections are those of the gunicorn worker, with TLS, on the event loop of the test: a test
that waits for such a client must not block the loop.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from apimachinery.certificates import CertificateAuthority
from apiserver.connections.connection import HTTPConnection
from apiserver.process.kubeconfig_file import make_kubeconfig
from apiserver.process.serving import Application
from client.testing.app_server import ADMIN, InMemoryServer

HOST: Final = "127.0.0.1"


@asynccontextmanager
async def listen(server: InMemoryServer, folder: Path) -> AsyncIterator[Path]:
    """Listen on a free port of this machine; yield the path of a kubeconfig in *folder*."""
    authority = CertificateAuthority.create(now=datetime.now(UTC))
    pair = authority.issue_serving(("localhost", HOST), now=datetime.now(UTC))
    worker = _Worker(server.app)
    listener = await worker.loop.create_server(
        lambda: HTTPConnection(worker), HOST, 0, ssl=_tls(folder, pair.certificate, pair.key)
    )
    port = listener.sockets[0].getsockname()[1]
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_bytes(
        make_kubeconfig(
            f"https://{HOST}:{port}", ADMIN, ca=authority.pair.certificate, token=server.token
        )
    )
    try:
        yield kubeconfig
    finally:
        listener.close()
        await worker.finish()


class _Worker:
    """The attributes of `apiserver.process.worker.Worker` that a connection uses."""

    def __init__(self, app: Any) -> None:
        self.loop = asyncio.get_running_loop()
        self.asgi = app
        settings = {"http_protocols": "h1"}
        serving = Application(
            lambda *_: settings, lambda: app, when_ready=lambda: None, invalid=(OSError,)
        )
        self.cfg = serving.cfg
        self.log = logging.getLogger("apimachinery.testing")
        self.alive = True
        self.is_stopping = False
        self.state: dict[str, Any] = {}
        self.connections: WeakSet[HTTPConnection] = WeakSet()

    async def finish(self) -> None:
        """Close every connection and wait up to a second until all are closed."""
        self.is_stopping = True
        for connection in [*self.connections]:
            connection.close()
        for _ in range(100):
            if not any(connection.transport for connection in self.connections):
                return
            await asyncio.sleep(0.01)


def _tls(folder: Path, certificate: bytes, key: bytes) -> ssl.SSLContext:
    files = folder / "serving.crt", folder / "serving.key"
    for path, content in zip(files, (certificate, key), strict=True):
        path.write_bytes(content)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context
