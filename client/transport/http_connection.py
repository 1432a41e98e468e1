"""PooledConnection: one connection of HTTP/1.1, and HTTPResponse, which is read from it.

One request at a time is sent. Its response keeps what arrives until it is read; beyond
`HIGH_WATER` bytes the connection is paused: a slow reader exerts backpressure on the server.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from client.transport.response_parser import MalformedResponse, ResponseParser
from client.transport.transport import ConnectionLost, Headers, TransportError

READ_BYTES: Final = 64 * 1024
"""Bytes that are read at once; larger ones pass through the caches of the processor."""
HIGH_WATER: Final = 256 * 1024
"""Bytes of a body that wait for their reader before the connection is paused."""
THREAD_BYTES: Final = 256 * 1024
"""Bytes of a compressed body above which it is decompressed in another thread."""

_NO_BUFFER: Final = memoryview(b"")


class PooledConnection(asyncio.BufferedProtocol):
    """A connection that is idle or carries one exchange."""

    def __init__(
        self,
        release: Callable[["PooledConnection"], None],
        connections: set["PooledConnection"],
    ) -> None:
        """Create a connection; *release* is called when it is idle again.

        It is in *connections* while it is open.
        """
        self._connections = connections
        self.idle_since = 0.0
        self.transport: Any = None
        self._release = release
        self._response: HTTPResponse | None = None
        self._buffer = _NO_BUFFER
        self._paused = False

    @property
    def usable(self) -> bool:
        """Whether a request can be sent."""
        return self._response is None and not self.transport.is_closing()

    def send(self, method: str, message: bytes) -> "HTTPResponse":
        """Send a request and return its response, of which nothing has arrived yet."""
        self._response = response = HTTPResponse(self, method)
        self.transport.write(message)
        return response

    def abort(self) -> None:
        """Close the connection at once.

        A graceful shutdown of TLS waits for the server, perhaps longer than the loop runs.
        """
        self.transport.abort()

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            if not self.transport.is_closing():
                self.transport.resume_reading()

    # The callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._connections.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        # Not kept: a client may have thousands of watches that wait. A view, because asyncio fills
        # slices of it with TLS.
        self._buffer = memoryview(bytearray(READ_BYTES))
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = bytes(self._buffer[:nbytes])
        self._buffer = _NO_BUFFER
        response = self._response
        if response is None:
            # Bytes that belong to no request: the next one would take them for its response.
            self.abort()
            return
        response.feed(data)
        if response.complete:
            self._finish(response)
        elif response.buffered > HIGH_WATER and not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.discard(self)
        response, self._response = self._response, None
        if response is not None:
            response.end(error)

    def _finish(self, response: "HTTPResponse") -> None:
        self._response = None
        self.resume()
        if response.keeps_alive and not self.transport.get_write_buffer_size():
            self._release(self)
        else:
            self.abort()


class HTTPResponse:
    """A response: its head, and the bytes of its body that have arrived and were not read."""

    def __init__(self, connection: PooledConnection, method: str) -> None:
        self.status = 0
        self.headers = Headers()
        self.complete = False
        self.buffered = 0
        self.connection = connection
        self._parser = ResponseParser(method)
        self._pieces: deque[bytes] = deque()
        self._reads_all = self._closed = False
        self._error: TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._decompressor: Any = None

    @property
    def started(self) -> bool:
        """Whether the head has arrived."""
        return self._parser.head is not None

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection can carry another request after this response."""
        head = self._parser.head
        return head is not None and head.keeps_alive and not self._parser.surplus

    async def start(self) -> None:
        """Wait for the head; raises TransportError."""
        while (head := self._parser.head) is None:
            await self._wait()
        self.status, self.headers = head.status, head.headers

    async def read(self) -> bytes:
        self._reads_all = True
        self.connection.resume()
        while not self.complete:
            await self._wait()
        body = self._take_all()
        if not body or not self._is_compressed():
            return body  # that of HEAD is empty, whatever the headers say of it
        if len(body) < THREAD_BYTES:
            return self._decompress(body, end=True)
        return await asyncio.to_thread(self._decompress, body, end=True)

    async def chunk(self) -> bytes:
        while not self._closed:
            if self._pieces:
                data = self._take_first()
                if self._is_compressed():
                    data = self._decompress(data, end=self.complete and not self._pieces)
                if data:
                    return data
            elif self.complete:
                break
            else:
                try:
                    await self._wait()
                except TransportError:
                    if not self._closed:
                        raise
        return b""

    def close(self) -> None:
        self._closed = True
        if not self.complete:
            self.connection.abort()
        self._wake()

    # Called by the connection

    def feed(self, data: bytes) -> None:
        try:
            pieces = self._parser.feed(data)
        except MalformedResponse as error:
            self._error = TransportError(f"malformed response: {error}")
            self.connection.abort()
            self._wake()
            return
        self.complete = self._parser.complete
        if pieces:
            self._pieces += pieces
            if not self._reads_all:
                self.buffered += len(data)
        if self.complete or not self._reads_all:
            self._wake()

    def end(self, error: Exception | None) -> None:
        """The connection is lost, which is also how a body without a length ends."""
        self.complete = error is None and self._parser.end()
        if not self.complete and self._error is None:
            self._error = ConnectionLost(str(error or "the server closed the connection"))
        self._wake()

    def _is_compressed(self) -> bool:
        return self.headers.get("content-encoding").lower() == "gzip"

    def _decompress(self, data: bytes, *, end: bool) -> bytes:
        # Imported late: most responses are not compressed.
        import zlib

        if self._decompressor is None:
            self._decompressor = zlib.decompressobj(wbits=31)
        try:
            plain: bytes = self._decompressor.decompress(data)
        except zlib.error as error:
            raise ConnectionLost(f"malformed gzip: {error}") from None
        if end and not self._decompressor.eof:
            raise ConnectionLost("the compressed body is not complete")
        return plain

    def _take_all(self) -> bytes:
        pieces, self._pieces = self._pieces, deque()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _take_first(self) -> bytes:
        """Return one piece: to join them would copy them once more."""
        piece = self._pieces.popleft()
        if not self._pieces:
            self.buffered = 0
            self.connection.resume()
        return piece

    async def _wait(self) -> None:
        """Wait until more has arrived; raises TransportError if the connection is lost."""
        if self._error is not None:
            raise self._error
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
