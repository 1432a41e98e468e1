"""FakeServer responds like a kube-apiserver with prepared responses; FakeClock advances on sleep.

The responses are copied by hand from a real server, so that the client does not come to depend on
a peculiarity of our own server.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from aiohttp import web

GADGETS = "/apis/gadgets.example.io/v1/namespaces/default/gadgets"
ALL_GADGETS = "/apis/gadgets.example.io/v1/gadgets"


class FakeClock:
    """A clock that advances whenever a caller sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.time

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self.time)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@dataclass
class Answer:
    """One response of the server: a complete body, or a stream of chunks."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    chunks: Iterable[bytes] | None = None
    hold: asyncio.Event | None = None
    """Wait for this after the last chunk, before the stream ends."""
    cut: bool = False
    """Abort the connection instead of ending the response."""
    content_type: str = "application/json"


def answer(document: Any, status: int = 200, **kwargs: Any) -> Answer:
    return Answer(status=status, body=orjson.dumps(document), **kwargs)


def status(code: int, reason: str, message: str = "", **details: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message or reason,
        "reason": reason,
        "details": details,
        "code": code,
    }


def gadget(name: str, version: str = "1", *, replicas: int = 1, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "gadgets.example.io/v1",
        "kind": "Gadget",
        "metadata": {
            "name": name,
            "namespace": "default",
            "resourceVersion": version,
            "uid": f"uid-{name}",
            **metadata,
        },
        "spec": {"model": "a1", "replicas": replicas},
        "status": {},
    }


def gadget_list(*items: dict[str, Any], version: str = "10", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "gadgets.example.io/v1",
        "kind": "GadgetList",
        "metadata": {"resourceVersion": version, **metadata},
        "items": list(items),
    }


def frame(kind: str, document: Any) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), orjson.dumps(document))


def stream(*frames: bytes, **kwargs: Any) -> Answer:
    return Answer(chunks=frames, **kwargs)


@dataclass
class RecordedRequest:
    """One request as the server received it."""

    method: str
    path: str
    query: dict[str, str]
    headers: list[tuple[str, str]]
    body: bytes
    peer: str = ""
    port: int = 0
    """The port of the client's connection."""

    def header(self, name: str) -> str:
        return next((v for n, v in self.headers if n.lower() == name.lower()), "")

    def all(self, name: str) -> list[str]:
        return [v for n, v in self.headers if n.lower() == name.lower()]

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


class FakeServer:
    """Sends the prepared responses of each method and path in order, and repeats the last one.

    Any other request gets the 404 of a real server.
    """

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self.url = ""
        self.left = asyncio.Event()
        """Set when a client disconnects before the end of a response."""
        self._answers: dict[tuple[str, str], deque[Answer]] = {}

    def on(self, method: str, path: str, *answers: Answer) -> None:
        self._answers[method, path] = deque(answers)

    def paths(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.requests]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        peer = transport.get_extra_info("peercert") if transport else None
        self.requests.append(
            RecordedRequest(
                request.method,
                request.raw_path.partition("?")[0],
                dict(request.query),
                [(k, v) for k, v in request.headers.items()],
                await request.read(),
                dict(x[0] for x in peer["subject"])["commonName"] if peer else "",
                transport.get_extra_info("peername")[1] if transport else 0,
            )
        )
        answers = self._answers.get((request.method, request.path))
        if not answers:
            return web.Response(status=404, text="404 page not found\n")
        reply = answers.popleft() if len(answers) > 1 else answers[0]
        return await self._send(request, reply)

    async def _send(self, request: web.Request, reply: Answer) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, headers=reply.headers)
        response.headers["Content-Type"] = reply.content_type
        for warning in reply.warnings:
            response.headers.add("Warning", warning)
        if reply.chunks is None and not reply.cut:
            response.content_length = len(reply.body)
        else:
            response.enable_chunked_encoding()
        if reply.cut and reply.chunks is None:
            self._cut(request)
            return response
        await response.prepare(request)
        if reply.chunks is None:
            await response.write(reply.body)
        for chunk in reply.chunks or ():
            await response.write(chunk)
        if reply.hold is not None:
            try:
                await reply.hold.wait()
            except asyncio.CancelledError:
                self.left.set()
                raise
        if reply.cut:
            self._cut(request)
            return response
        await response.write_eof()
        return response

    def _cut(self, request: web.Request) -> None:
        assert request.transport is not None
        request.transport.abort()


@asynccontextmanager
async def serving(context: ssl.SSLContext | None = None) -> AsyncIterator[FakeServer]:
    server = FakeServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"{'https' if context else 'http'}://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()


DISCOVERY = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": "gadgets.example.io/v1",
    "resources": [
        {
            "name": "gadgets",
            "singularName": "gadget",
            "namespaced": True,
            "kind": "Gadget",
            "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "watch"],
            "shortNames": ["gd"],
        },
        {
            "name": "gadgets/status",
            "singularName": "",
            "namespaced": True,
            "kind": "Gadget",
            "verbs": ["get", "patch", "update"],
        },
    ],
}
NAMESPACES = {
    "kind": "APIResourceList",
    "groupVersion": "v1",
    "resources": [
        {
            "name": "namespaces",
            "singularName": "namespace",
            "namespaced": False,
            "kind": "Namespace",
            "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
            "shortNames": ["ns"],
        }
    ],
}
GROUPS = {
    "kind": "APIGroupList",
    "apiVersion": "v1",
    "groups": [
        {
            "name": "gadgets.example.io",
            "versions": [{"groupVersion": "gadgets.example.io/v1", "version": "v1"}],
            "preferredVersion": {"groupVersion": "gadgets.example.io/v1", "version": "v1"},
        }
    ],
}


def serve_discovery(server: FakeServer) -> None:
    """Serve discovery as a server without aggregated discovery does."""
    server.on("GET", "/api", answer({"kind": "APIVersions", "versions": ["v1"]}))
    server.on("GET", "/api/v1", answer(NAMESPACES))
    server.on("GET", "/apis", answer(GROUPS))
    server.on("GET", "/apis/gadgets.example.io/v1", answer(DISCOVERY))
