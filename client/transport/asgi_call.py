"""One call of an ASGI application in this process, read as a `Response`.

The application runs in a task of its own. It may produce the next chunk of its response only when
the reader requests it: the same backpressure as a full socket. Closing the response sends the
application a disconnect message.
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

_REJECTED_STATUS: Final = 403
"""The HTTP status for a WebSocket that the application closes without accepting it."""
_CLOSE_CODE_OFFSET: Final = 3000
"""Falcon's WebSocket close code for an HTTP error is the HTTP status plus this."""


class ASGICall(ABC):
    """A running call of an application; implements `client.transport.transport.Response`."""

    def __init__(self, app: Application, scope: Message, grace: float) -> None:
        self.status = 0
        self.headers = Headers()
        self.started = asyncio.Event()
        self._grace = grace
        self._buffer = b""
        self._chunk_requested = asyncio.Event()
        self._chunk_ready = asyncio.Event()
        self._ended = False
        self._disconnected = asyncio.Event()
        self._error: BaseException | None = None
        self.task = asyncio.create_task(
            self._run(app, scope), name=f"{scope['type']} {scope['path']}"
        )

    async def read(self) -> bytes:
        chunks = []
        while chunk := await self.chunk():
            chunks.append(chunk)
        self.close()
        return b"".join(chunks)

    async def chunk(self) -> bytes:
        while not self._buffer:
            if self._disconnected.is_set():
                return b""
            if self._ended:
                if self._error is not None:
                    raise self.transport_error()
                return b""
            self._chunk_ready.clear()
            self._chunk_requested.set()
            await self._chunk_ready.wait()
        chunk, self._buffer = self._buffer, b""
        return chunk

    def close(self) -> None:
        if self._disconnected.is_set():
            return
        self._disconnected.set()
        self._chunk_ready.set()
        self._chunk_requested.set()
        if not self._ended:
            # Most applications react to the disconnect message; the others are cancelled.
            asyncio.get_running_loop().call_later(self._grace, self.task.cancel)

    def transport_error(self) -> TransportError:
        """Return the error of a call that failed or ended without a response.

        It is not a ConnectionLost, which is retried: the application would only fail again.
        """
        if self._error is None:
            return TransportError("the application ended without a response")
        error = TransportError(f"the application failed: {self._error!r}")
        error.__cause__ = self._error
        return error

    async def _run(self, app: Application, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception as error:  # reported to the reader as a TransportError
            self._error = error
        finally:
            self._ended = True
            self.started.set()
            self._chunk_ready.set()

    async def _receive(self) -> Message:
        """Return the request message once, then wait and return the disconnect message."""
        if (first := self._first_message()) is not None:
            return first
        await self._disconnected.wait()
        return self._disconnect_message()

    async def _send(self, message: Message) -> None:
        if self._disconnected.is_set():
            raise OSError("the client has disconnected")
        await self._handle(message)

    @abstractmethod
    def _first_message(self) -> Message | None:
        """Return the message that opens the call, or None if the application has received it."""

    @abstractmethod
    def _disconnect_message(self) -> Message: ...

    @abstractmethod
    async def _handle(self, message: Message) -> None:
        """Process a message sent by the application."""

    def _start_response(self, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.status = status
        self.headers = Headers(
            (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
            for name, value in headers
        )
        self.started.set()

    async def _deliver(self, chunk: bytes, more: bool) -> None:
        """Deliver a chunk when the reader requests one; the last chunk does not wait."""
        if chunk and more:
            await self._chunk_requested.wait()
            self._chunk_requested.clear()
        self._buffer += chunk
        self._ended = self._ended or not more
        self._chunk_ready.set()


class HTTPCall(ASGICall):
    """A request with a body, answered by a response in chunks."""

    def __init__(self, app: Application, scope: Message, grace: float, body: bytes) -> None:
        self._body: bytes | None = body
        super().__init__(app, scope, grace)

    def _first_message(self) -> Message | None:
        if self._body is None:
            return None
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    def _disconnect_message(self) -> Message:
        return {"type": "http.disconnect"}

    async def _handle(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start_response(message["status"], message.get("headers", ()))
        elif message["type"] == "http.response.body":
            await self._deliver(bytes(message.get("body", b"")), bool(message.get("more_body")))


class WebSocketCall(ASGICall):
    """A WebSocket on which only the application sends; each message is read as one line."""

    def __init__(self, app: Application, scope: Message, grace: float) -> None:
        self._connecting = True
        super().__init__(app, scope, grace)

    def _first_message(self) -> Message | None:
        if not self._connecting:
            return None
        self._connecting = False
        return {"type": "websocket.connect"}

    def _disconnect_message(self) -> Message:
        return {"type": "websocket.disconnect", "code": 1000}

    async def _handle(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._start_response(101, message.get("headers", ()))
        elif message["type"] == "websocket.send":
            data, text = message.get("bytes"), message.get("text")
            await self._deliver((text or "").encode() + (data or b"") + b"\n", True)
        elif message["type"] == "websocket.close":
            if not self.status:
                self._start_response(_rejection_status(message.get("code", 1000)))
            await self._deliver(b"", False)


def _rejection_status(close_code: int) -> int:
    status = close_code - _CLOSE_CODE_OFFSET
    return status if 400 <= status < 600 else _REJECTED_STATUS
