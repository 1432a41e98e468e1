"""ASGITransport: sends requests to an ASGI application in this process, without sockets or threads.

It serves tests and programs that embed their server. Each request, including a watch over HTTP or
WebSocket, is one call of the application (see `asgi_call`). Any ASGI application is supported.
"""

import asyncio
import logging
from typing import Any, Final
from urllib.parse import unquote, urlencode

from client.transport.asgi_call import Application, ASGICall, HTTPCall, Message, WebSocketCall
from client.transport.request import Request
from client.transport.tls import ClientCertificate
from client.transport.transport import Response, TransportError

log = logging.getLogger("apimachinery.client.asgi")

GRACE: Final = 0.5
"""Seconds between the disconnect message and the cancellation of a call."""


class ASGITransport:
    """Sends requests to an ASGI application.

    `async with` starts and stops the application's lifespan. With *lifespan* the first request
    starts it, for clients that are not used with `async with`. Without either it never runs.
    """

    def __init__(
        self,
        app: Application,
        *,
        host: str = "apiserver",
        scheme: str = "https",
        lifespan: bool = False,
        grace: float = GRACE,
    ) -> None:
        self._app = app
        self._lifespan_on_request = lifespan
        self._start_lock = asyncio.Lock()
        self._grace = grace
        self._host = host
        self._scheme = scheme
        self._calls: set[ASGICall] = set()
        self._lifespan: _Lifespan | None = None
        self._state: dict[str, Any] = {}

    async def __aenter__(self) -> "ASGITransport":
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        if self._lifespan_on_request:
            await self._start()
        call = self._call(request)
        self._calls.add(call)
        call.task.add_done_callback(lambda _: self._calls.discard(call))
        try:
            await call.started.wait()
        except BaseException:
            call.close()
            raise
        if call.status == 0:
            raise call.transport_error()
        return call

    async def aclose(self) -> None:
        """Close every open response, then stop the application's lifespan."""
        calls = list(self._calls)
        for call in calls:
            call.close()
        if calls:
            await asyncio.wait([call.task for call in calls])
        if self._lifespan is not None:
            lifespan, self._lifespan = self._lifespan, None
            await lifespan.stop()

    async def _start(self) -> None:
        async with self._start_lock:
            if self._lifespan is None:
                lifespan = _Lifespan(self._app, self._state)
                await lifespan.start()
                # Assigned only now: a failed startup is repeated by the next request.
                self._lifespan = lifespan

    def _call(self, request: Request) -> ASGICall:
        scope = self._scope(request)
        if request.websocket:
            scheme = "wss" if self._scheme == "https" else "ws"
            scope |= {"type": "websocket", "scheme": scheme, "subprotocols": []}
            return WebSocketCall(self._app, scope, self._grace)
        scope |= {"type": "http", "scheme": self._scheme, "method": request.method}
        return HTTPCall(self._app, scope, self._grace, request.body)

    def _scope(self, request: Request) -> dict[str, Any]:
        headers = [("host", self._host), *request.headers]
        if request.body:
            headers.append(("content-length", str(len(request.body))))
        return {
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "path": unquote(request.path),
            "raw_path": request.path.encode(),
            "query_string": urlencode(request.query).encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
            "client": ("127.0.0.1", 0),
            "server": (self._host, 443),
            "state": self._state.copy(),
        }


class _Lifespan:
    """Runs the startup and shutdown of an application."""

    def __init__(self, app: Application, state: dict[str, Any]) -> None:
        self._app = app
        self._scope: Message = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": state,
        }
        # Never full: startup and shutdown are one message and one reply each, and `_run` adds a
        # last reply.
        self._inbox: asyncio.Queue[Message] = asyncio.Queue(2)
        self._outbox: asyncio.Queue[Message] = asyncio.Queue(3)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="lifespan")
        await self._run_phase("startup")

    async def stop(self) -> None:
        if self._task is None:
            return
        try:
            if not self._task.done():
                await self._run_phase("shutdown")
        finally:
            await self._task

    async def _run(self) -> None:
        try:
            await self._app(self._scope, self._inbox.get, self._outbox.put)
        except Exception as error:
            log.debug("the application does not support the ASGI lifespan: %r", error)
        # Applications without a lifespan end or raise without a reply; `_run_phase` needs one.
        self._outbox.put_nowait({"type": "lifespan.unsupported"})

    async def _run_phase(self, phase: str) -> None:
        await self._inbox.put({"type": f"lifespan.{phase}"})
        reply = await self._outbox.get()
        if reply["type"] == f"lifespan.{phase}.failed":
            raise TransportError(f"the application's {phase} failed: {reply.get('message', '')}")
