"""The transport to an ASGI application in this process: no sockets, no threads, streams included.

Tests and programs that hold their server in themselves use it: a request is a call of the
application, and a chunk of the answer is handed over when the reader asks for the next, so a slow
reader holds up the application as a full socket would. Knows ASGI and no particular server.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlencode

from client.http import Headers, Response, TransportError
from client.request import Request
from client.tls import ClientCertificate

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

log = logging.getLogger("apimachinery.client.asgi")

GRACE: Final = 0.5
"""Seconds an application has to notice that its client is gone, before it is cancelled."""


class ASGITransport:
    """Carries requests to an application.

    `async with` runs the application's lifespan around them; with *lifespan* the first request
    starts it, for a client that is not entered asynchronously. Otherwise it is not touched.
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
        self._lazy = lifespan
        self._starting = asyncio.Lock()
        self._grace = grace
        self._host = host
        self._scheme = scheme
        self._calls: set[_Call] = set()
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
        if request.websocket:
            raise TransportError("the in-process transport has no WebSockets: watch by chunks")
        if self._lazy:
            await self._start()
        call = _Call(self._app, self._scope(request), request.body, self._grace)
        self._calls.add(call)
        call.task.add_done_callback(lambda _: self._calls.discard(call))
        try:
            await call.started.wait()
        except BaseException:
            call.close()
            raise
        if call.status == 0:
            raise call.failure()
        return call

    async def aclose(self) -> None:
        """End every open stream, then the application's lifespan."""
        calls = list(self._calls)
        for call in calls:
            call.close()
        if calls:
            await asyncio.wait([call.task for call in calls])
        if self._lifespan is not None:
            lifespan, self._lifespan = self._lifespan, None
            await lifespan.stop()

    async def _start(self) -> None:
        async with self._starting:
            if self._lifespan is None:
                starting = _Lifespan(self._app, self._state)
                await starting.start()
                self._lifespan = starting

    def _scope(self, request: Request) -> Message:
        headers = [("host", self._host), *request.headers]
        if request.body:
            headers.append(("content-length", str(len(request.body))))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": self._scheme,
            "path": unquote(request.path),
            "raw_path": request.path.encode(),
            "query_string": urlencode(request.query).encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
            "client": ("127.0.0.1", 0),
            "server": (self._host, 443),
            "state": self._state.copy(),
        }


class _Call:
    """One call of the application, and its answer."""

    def __init__(self, app: Application, scope: Message, body: bytes, grace: float) -> None:
        self.status = 0
        self.headers = Headers()
        self.started = asyncio.Event()
        self._body: bytes | None = body
        self._grace = grace
        self._part = b""
        self._wanted = asyncio.Event()
        self._given = asyncio.Event()
        self._ended = False
        self._gone = asyncio.Event()
        self._error: BaseException | None = None
        self.task = asyncio.create_task(
            self._run(app, scope), name=f"{scope['method']} {scope['path']}"
        )

    async def read(self) -> bytes:
        parts = []
        while part := await self.chunk():
            parts.append(part)
        self.close()
        return b"".join(parts)

    async def chunk(self) -> bytes:
        while not self._part:
            if self._gone.is_set():
                return b""
            if self._ended:
                if self._error is not None:
                    raise self.failure()
                return b""
            self._given.clear()
            self._wanted.set()
            await self._given.wait()
        part, self._part = self._part, b""
        return part

    def close(self) -> None:
        if self._gone.is_set():
            return
        self._gone.set()
        self._given.set()
        self._wanted.set()
        if not self._ended:
            # Most applications look for the disconnect; one that does not is not waited for.
            asyncio.get_running_loop().call_later(self._grace, self.task.cancel)

    def failure(self) -> TransportError:
        """Not a lost connection: what crashes in this process would crash again."""
        if self._error is None:
            return TransportError("the application ended without an answer")
        made = TransportError(f"the application failed: {self._error!r}")
        made.__cause__ = self._error
        return made

    async def _run(self, app: Application, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception as error:  # an application's crash is this client's lost connection
            self._error = error
        finally:
            self._ended = True
            self.started.set()
            self._given.set()

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._gone.is_set():
            raise OSError("the client is gone")
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = Headers(
                (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
                for name, value in message.get("headers", ())
            )
            self.started.set()
        elif message["type"] == "http.response.body":
            await self._give(bytes(message.get("body", b"")), bool(message.get("more_body")))

    async def _give(self, part: bytes, more: bool) -> None:
        """Hand over one part when it is asked for; the last one is not waited with."""
        if part and more:
            await self._wanted.wait()
            self._wanted.clear()
        self._part += part
        self._ended = self._ended or not more
        self._given.set()


class _Lifespan:
    """The start and the end of an application."""

    def __init__(self, app: Application, state: dict[str, Any]) -> None:
        self._app = app
        self._scope: Message = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": state,
        }
        # Two messages go in and two come out in the whole life of an application.
        self._inbox: asyncio.Queue[Message] = asyncio.Queue(2)
        self._outbox: asyncio.Queue[Message] = asyncio.Queue(3)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="lifespan")
        await self._tell("startup")

    async def stop(self) -> None:
        if self._task is None:
            return
        try:
            if not self._task.done():
                await self._tell("shutdown")
        finally:
            await self._task

    async def _run(self) -> None:
        try:
            await self._app(self._scope, self._inbox.get, self._outbox.put)
        except Exception as error:
            log.debug("the application has no lifespan: %r", error)
        # Whoever waits for an answer gets one: an application may simply have no lifespan.
        self._outbox.put_nowait({"type": "lifespan.unsupported"})

    async def _tell(self, what: str) -> None:
        await self._inbox.put({"type": f"lifespan.{what}"})
        answer = await self._outbox.get()
        if answer["type"] == f"lifespan.{what}.failed":
            raise TransportError(f"the application's {what} failed: {answer.get('message', '')}")
