"""Connection: HTTP/1.1 for one client, as an asyncio protocol in front of an ASGI application.

gunicorn's own protocol is not used: it is written for every kind of application, parses each byte
in Python, and has no hooks for what an API server needs. Only its WebSockets are, after the
handshake.

Requests are served one after the other, each in its own task; those that a client sends ahead wait
in the connection. It is closed after a response if, and only if, the head of that response
announced it: a client that was promised another request has often sent it already. A client that
sends the head of a request too slowly, or does not read its response, is disconnected. A connection
reports whether it is idle, so that a stopping worker can close it.
"""

import asyncio
import errno
import socket
from asyncio import BaseTransport, Task, TimerHandle
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final, cast

from apiserver.connections.body_framing import BodyFraming, Chunked, FixedLength
from apiserver.connections.connection_end import STALL_SECONDS, ConnectionEnd
from apiserver.connections.delivery import Delivery
from apiserver.connections.request_body import MAX_WAITING, RequestBody
from apiserver.connections.request_head import HeadReader, MalformedRequest, RequestHead
from apiserver.connections.request_scope import (
    Scope,
    common_scope,
    handshake_refusal,
    http_scope,
    websocket_scope,
)
from apiserver.connections.response_writer import ResponseWriter, error_response
from apiserver.http.client_connection import ClientConnection

if TYPE_CHECKING:
    from gunicorn.asgi.websocket import WebSocketProtocol

HEAD_SECONDS: Final = 10.0
"""The time limit for receiving the head of a request, from its first byte to its last."""
DISCONNECT_SECONDS: Final = 3.0
"""The time in which a request ends by itself after its client has left; then it is cancelled."""

_HIGH_WATER: Final = 64 * 1024
_GONE: Final = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)


class HTTPConnection(asyncio.Protocol):
    """One connection of one client."""

    def __init__(self, worker: Any) -> None:
        self.shared = ClientConnection()
        self.transport: asyncio.Transport | None = None
        self._worker = worker
        self._loop: asyncio.AbstractEventLoop = worker.loop
        self._keep_alive: float = worker.cfg.keepalive
        self._closed = False
        self._heads = HeadReader()
        self._received = bytearray()
        """Bytes that wait: of an incomplete head, of a body, or of the requests after this one."""
        self._request: RequestHead | None = None
        self._body: RequestBody | None = None
        self._response: ResponseWriter | None = None
        self._task: Task[None] | None = None
        self._websocket: WebSocketProtocol | None = None
        self._scope: Scope = {}
        self._reading_paused = False
        self._writable: asyncio.Event | None = None
        self._head_timer: TimerHandle | None = None
        self._idle_timer: TimerHandle | None = None
        self._stall_timer: TimerHandle | None = None
        self._end_timer: TimerHandle | None = None
        self._end: ConnectionEnd | None = None
        self._idle_since = 0.0
        # Registered here and not in connection_made, which is called after the TLS handshake: a
        # stopping worker must also wait for clients in the middle of a handshake.
        self.accepted_at: float = self._loop.time()
        worker.connections.add(self)

    @property
    def is_open(self) -> bool:
        """Whether the connection is usable: after its handshake, before its end."""
        return self.transport is not None and not self._closed

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and no request is being received or served."""
        return self.is_open and self._request is None and not self._received

    @property
    def is_serving(self) -> bool:
        """Whether a request is being served, to which the client waits for the response."""
        return self._request is not None and not self._closed

    @property
    def is_ending(self) -> bool:
        """Whether only its pending output keeps the connection open."""
        return self.transport is not None and self._closed

    def abort(self) -> None:
        """Close the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def close(self, *, client_sends: bool = False) -> None:
        """Close the connection after the pending output is sent.

        With *client_sends* the client is not expected to have sent everything: see ConnectionEnd.
        """
        transport = self.transport
        if transport is None or self._closed:
            return
        self._closed = True
        self._received = bytearray()
        if client_sends and self._reading_paused:
            self._reading_paused = False
            transport.resume_reading()
        if self._end is None:
            self._end = ConnectionEnd(self._loop, transport)
        self._end.begin(client_sends=client_sends)

    # The transport calls these.

    def connection_made(self, transport: BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        # Without keep-alive probes, the watch of a vanished client would stay open forever.
        raw = transport.get_extra_info("socket")
        if raw is not None and raw.family != socket.AF_UNIX:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._scope = common_scope(transport, self.shared)
        self._idle_since = self._loop.time()
        self._idle_timer = self._loop.call_later(self._keep_alive, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        self._worker.connections.discard(self)
        self.shared.is_open = False
        for timer in (self._head_timer, self._idle_timer, self._stall_timer):
            _cancel(timer)
        if self._end is not None:
            self._end.cancel()
        if self._websocket is not None:
            self._websocket.feed_eof()
        if self._body is not None:
            self._body.disconnect()
        # Release the task that waits to write: nothing more will be sent.
        self.resume_writing()
        self._received.clear()
        if self._task is None:
            self._release()
        else:
            self._end_timer = self._loop.call_later(DISCONNECT_SECONDS, self._task.cancel)

    def data_received(self, data: bytes) -> None:
        if self._websocket is not None:
            self._websocket.feed_data(data)
        elif self._closed:
            return
        elif self._request is None:
            self._read_head(data)
        else:
            self._received += data
            self._read_body()

    def eof_received(self) -> None:
        """Limit the time for which the transport, which closes itself now, may take."""
        if self.transport is not None and self._end is None:
            self._end = ConnectionEnd(self._loop, self.transport)
            self._end.watch()

    def pause_writing(self) -> None:
        if self._writable is None:
            self._writable = asyncio.Event()
        self._writable.clear()
        assert self.transport is not None
        self._start_stall_timer(Delivery(self.transport))

    def resume_writing(self) -> None:
        _cancel(self._stall_timer)
        if self._writable is not None:
            self._writable.set()

    # Reading.

    def _read_head(self, data: bytes) -> None:
        """Read the head of a request, and begin to serve it when it is complete."""
        received = self._received
        try:
            if received:
                received += data
                found = self._heads.read(received)
            else:
                found = self._heads.read(data)
        except MalformedRequest as error:
            self._refuse(error, to_head=bytes(received or data).lstrip().startswith(b"HEAD "))
            return
        if found is None:
            if not received:
                received += data
            if self._head_timer is None:
                self._head_timer = self._loop.call_later(HEAD_SECONDS, self._reject_slow_head)
            return
        head, length = found
        if received:
            del received[:length]
        elif length < len(data):
            received += data[length:]
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        self._begin(head)

    def _begin(self, head: RequestHead) -> None:
        self._request = head
        if head.fields.upgrades and head.method == "GET":
            self._task = self._loop.create_task(self._serve_websocket(head))
            return
        framing: BodyFraming | None = None
        if head.fields.chunked:
            framing = Chunked()
        elif head.fields.length:
            framing = FixedLength(head.fields.length)
        self._body = RequestBody(
            framing,
            on_ask=self._continue if framing and head.fields.expects_continue else None,
            on_taken=self._limit_reading,
        )
        self._response = ResponseWriter(head, self)
        if self._received:
            self._read_body()
        # A body that is malformed from its beginning never reaches the application.
        if not self._closed:
            self._task = self._loop.create_task(self._serve(head, self._body, self._response))

    def _read_body(self) -> None:
        """Give the application what belongs to its request; the rest waits for the next one."""
        body = self._body
        if body is not None and not body.complete:
            try:
                body.feed(self._received)
            except MalformedRequest as error:
                self._refuse(error, to_head=self._request_is_head)
                return
        self._limit_reading()

    def _limit_reading(self) -> None:
        """Read nothing from the socket while too much waits in memory."""
        transport, body = self.transport, self._body
        if transport is None or self._closed:
            return
        waiting = len(self._received) + (body.size if body is not None else 0)
        if waiting > MAX_WAITING and not self._reading_paused:
            self._reading_paused = True
            transport.pause_reading()
        elif waiting <= MAX_WAITING // 2 and self._reading_paused:
            self._reading_paused = False
            transport.resume_reading()

    @property
    def _request_is_head(self) -> bool:
        return self._request is not None and self._request.method == "HEAD"

    def _continue(self) -> None:
        self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # Refusing.

    def _refuse(self, error: MalformedRequest, *, to_head: bool = False) -> None:
        """Answer what is no request, and end the connection; a response to HEAD has no body."""
        # In a response that has started, another one would be read as a part of it.
        if self.is_open and (self._response is None or not self._response.started):
            self.write(error_response(error.code, str(error), has_body=not to_head))
        if self._body is not None:
            self._body.disconnect()
        self.close(client_sends=True)

    def _reject_slow_head(self) -> None:
        error = MalformedRequest(408, "the request head was not completed in time\n")
        self._refuse(error, to_head=self._received.lstrip().startswith(b"HEAD "))

    def _close_if_idle(self) -> None:
        """Close the connection if it has been idle for long enough, or look again later."""
        remaining = self._keep_alive
        if self.is_idle:
            remaining += self._idle_since - self._loop.time()
        # The timer may come a moment early.
        if remaining < 0.01:
            self.close()
        elif self.is_open:
            self._idle_timer = self._loop.call_later(remaining, self._close_if_idle)

    # Serving.

    async def _serve(self, head: RequestHead, body: RequestBody, response: ResponseWriter) -> None:
        """Serve one request, and then the next one or none."""
        try:
            await self._worker.asgi(self._scope_of(head), body.receive, response.send)
        except asyncio.CancelledError:
            response.closes = True  # the client has left
        except Exception:
            self._worker.log.exception("Error in ASGI application")
            response.closes = True
        self._task = None
        if not response.complete:
            self._end_incomplete(response)
        if response.closes or response.is_short or not body.complete:
            self.close(client_sends=not body.complete)
        if self._closed:
            self._release()
            return
        self._request = self._response = self._body = None
        self._idle_since = self._loop.time()
        if self._reading_paused:
            self._limit_reading()
        if self._received:
            waiting, self._received = bytes(self._received), bytearray()
            self._read_head(waiting)

    def _end_incomplete(self, response: ResponseWriter) -> None:
        """End a response that the application has not ended: only the connection can."""
        if not self._closed and not response.started:
            has_body = not self._request_is_head
            self.write(error_response(500, "Internal Server Error", has_body=has_body))
        elif not self._closed and not response.closes:
            self._worker.log.error("the application returned without completing its response")
        response.closes = True

    async def _serve_websocket(self, head: RequestHead) -> None:
        """Complete the handshake and pass the connection on."""
        transport = self.transport
        assert transport is not None
        refusal = handshake_refusal(head)
        if refusal is not None:
            self.write(refusal)
        else:
            # Imported late: it takes two megabytes, and few servers have applications for it.
            from gunicorn.asgi.websocket import WebSocketProtocol

            self._websocket = websocket = WebSocketProtocol(
                transport,
                websocket_scope(self._scope_of(head)),
                self._worker.asgi,
                self._worker.log,
                max_message_size=self._worker.cfg.websocket_max_message_size,
                drain=self._drain,
            )
            websocket.feed_data(bytes(self._received))
            self._received.clear()
            try:
                await websocket.run()
            except asyncio.CancelledError:
                self._worker.log.debug("the client of a WebSocket has left")
        self._task = None
        self.close()
        self._release()

    def _scope_of(self, head: RequestHead) -> Scope:
        return http_scope(self._scope, head, state=self._worker.state)

    # Writing: the sink of a response.

    def will_close(self, head: RequestHead) -> bool:
        worker, body = self._worker, self._body
        incomplete = False
        if body is not None:
            body.expect_nothing()
            # What is left of it could be taken for the next request.
            incomplete = not body.complete
        return (
            incomplete
            or head.fields.closes
            or worker.is_stopping
            or not worker.alive
            or head.method == "CONNECT"
        )

    def write(self, *parts: bytes) -> None:
        transport = self.transport
        if transport is None:
            return
        try:
            if len(parts) == 1:
                transport.write(parts[0])
            else:
                transport.writelines(parts)
        except OSError as error:
            if error.errno not in _GONE:
                self._worker.log.exception("a response could not be written")
        except RuntimeError:  # the transport is closing
            pass

    def write_soon(self, writer: ResponseWriter) -> None:
        self._loop.call_soon(writer.flush)

    def drained(self) -> Awaitable[None] | None:
        if self._writable is None or self._writable.is_set():
            return None
        return self._drain()

    async def _drain(self) -> None:
        if self._writable is not None:
            await self._writable.wait()

    def _start_stall_timer(self, delivery: Delivery) -> None:
        self._stall_timer = self._loop.call_later(STALL_SECONDS, self._require_progress, delivery)

    def _require_progress(self, delivery: Delivery) -> None:
        assert self.transport is not None
        if delivery.has_progressed():
            self._start_stall_timer(delivery)
        else:
            self.shared.stalled = True
            self.transport.abort()

    def _release(self) -> None:
        """Drop the parts that refer back to the connection, so that its memory is freed now.

        The garbage collector would find such cycles, but it runs rarely in a process with many
        long-lived objects.
        """
        for timer in (self._head_timer, self._idle_timer, self._stall_timer, self._end_timer):
            _cancel(timer)
        self._head_timer = self._idle_timer = self._stall_timer = self._end_timer = None
        self._request = self._body = self._response = None
        self._websocket = self._task = None


def _cancel(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
