"""One call of an ASGI application in this process, and its answer.

The application runs in a task of its own. A part of its answer is handed over when the reader asks
for the next, so a slow reader holds up the application as a full socket would; closing the answer
tells the application that its client is gone.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, TypeAlias

from client.transport.transport import Headers, TransportError

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

_REFUSED: Final = 403
"""How a server answers a WebSocket that its application closed without accepting it."""
_CLOSE_CODES: Final = 3000
"""Added to the code of an HTTP answer, it is a close code of falcon's for the same."""


class ASGICall(ABC):
    """An application that is answering: a `client.transport.transport.Response`."""

    def __init__(self, app: Application, scope: Message, grace: float) -> None:
        self.status = 0
        self.headers = Headers()
        self.started = asyncio.Event()
        self._grace = grace
        self._part = b""
        self._wanted = asyncio.Event()
        self._given = asyncio.Event()
        self._ended = False
        self._gone = asyncio.Event()
        self._error: BaseException | None = None
        self.task = asyncio.create_task(
            self._run(app, scope), name=f"{scope['type']} {scope['path']}"
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
        """What the application is told: the request, then nothing until its client is gone."""
        if (first := self._request()) is not None:
            return first
        await self._gone.wait()
        return self._goodbye()

    async def _send(self, message: Message) -> None:
        if self._gone.is_set():
            raise OSError("the client is gone")
        await self._take(message)

    @abstractmethod
    def _request(self) -> Message | None:
        """What is told first; None when it has been."""

    @abstractmethod
    def _goodbye(self) -> Message: ...

    @abstractmethod
    async def _take(self, message: Message) -> None:
        """Make something of what the application sends."""

    def _begin(self, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.status = status
        self.headers = Headers(
            (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
            for name, value in headers
        )
        self.started.set()

    async def _give(self, part: bytes, more: bool) -> None:
        """Hand over one part when it is asked for; the last one is not waited with."""
        if part and more:
            await self._wanted.wait()
            self._wanted.clear()
        self._part += part
        self._ended = self._ended or not more
        self._given.set()


class HTTPCall(ASGICall):
    """A request with a body, and an answer in parts."""

    def __init__(self, app: Application, scope: Message, grace: float, body: bytes) -> None:
        self._body: bytes | None = body
        super().__init__(app, scope, grace)

    def _request(self) -> Message | None:
        if self._body is None:
            return None
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    def _goodbye(self) -> Message:
        return {"type": "http.disconnect"}

    async def _take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begin(message["status"], message.get("headers", ()))
        elif message["type"] == "http.response.body":
            await self._give(bytes(message.get("body", b"")), bool(message.get("more_body")))


class WebSocketCall(ASGICall):
    """A WebSocket on which only the application speaks; one message is one line."""

    def __init__(self, app: Application, scope: Message, grace: float) -> None:
        self._connecting = True
        super().__init__(app, scope, grace)

    def _request(self) -> Message | None:
        if not self._connecting:
            return None
        self._connecting = False
        return {"type": "websocket.connect"}

    def _goodbye(self) -> Message:
        return {"type": "websocket.disconnect", "code": 1000}

    async def _take(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._begin(101, message.get("headers", ()))
        elif message["type"] == "websocket.send":
            data, text = message.get("bytes"), message.get("text")
            await self._give((text or "").encode() + (data or b"") + b"\n", True)
        elif message["type"] == "websocket.close":
            if not self.status:
                self._begin(_refusal(message.get("code", 1000)))
            await self._give(b"", False)


def _refusal(close_code: int) -> int:
    code = close_code - _CLOSE_CODES
    return code if 400 <= code < 600 else _REFUSED
