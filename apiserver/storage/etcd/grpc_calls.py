"""gRPC calls: messages and statuses on streams of HTTP/2.

A failed call raises the error that grpcio would raise, so that both are classified by one rule
(`errors`); a request that certainly was not processed raises `NotProcessed`.
"""

import asyncio
import struct
from collections.abc import Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import unquote

import grpc

from apiserver.storage.etcd.errors import NotProcessed
from apiserver.storage.etcd.http2_connection import Http2Connection
from apiserver.storage.etcd.http2_stream import Http2Stream, StreamFailed

_PREFIX: Final = struct.Struct(">BL")
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
# The meaning of responses that are not of gRPC: of a proxy, perhaps.
_HTTP_CODES: Final = {
    "400": grpc.StatusCode.INTERNAL,
    "401": grpc.StatusCode.UNAUTHENTICATED,
    "403": grpc.StatusCode.PERMISSION_DENIED,
    "404": grpc.StatusCode.UNIMPLEMENTED,
    "429": grpc.StatusCode.UNAVAILABLE,
    "502": grpc.StatusCode.UNAVAILABLE,
    "503": grpc.StatusCode.UNAVAILABLE,
    "504": grpc.StatusCode.UNAVAILABLE,
}


class Message(Protocol):
    """A protobuf message."""

    def SerializeToString(self) -> bytes: ...  # noqa: N802


def frame_message(message: Message) -> bytes:
    """Return the bytes of *message* in a stream: it is never compressed."""
    content = message.SerializeToString()
    return _PREFIX.pack(0, len(content)) + content


def call_error(code: grpc.StatusCode, details: str) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


def not_processed(details: str) -> NotProcessed:
    return NotProcessed(
        grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), details
    )


def malformed_reply(reason: str) -> grpc.aio.AioRpcError:
    return call_error(grpc.StatusCode.INTERNAL, f"a malformed reply: {reason}")


def stream_error(failure: StreamFailed) -> grpc.aio.AioRpcError:
    """Return the error of a call whose stream failed."""
    if not failure.processed:
        return not_processed(str(failure))
    return call_error(grpc.StatusCode.UNAVAILABLE, str(failure))


def status_error(fields: Mapping[str, str]) -> grpc.aio.AioRpcError | None:
    """Return the error in the last headers of a response, None for success."""
    status = fields.get("grpc-status")
    if status == "0":
        return None
    if status is None:
        http = fields.get(":status", "200")
        return call_error(
            _HTTP_CODES.get(http, grpc.StatusCode.UNKNOWN),
            f"a response without status, HTTP {http}",
        )
    code = _CODES.get(int(status)) if status.isdecimal() and len(status) < 5 else None
    return call_error(code or grpc.StatusCode.UNKNOWN, unquote(fields.get("grpc-message", "")))


class _Call(Http2Stream):
    """What all calls have in common."""

    __slots__ = ("_connection", "_fields")

    def __init__(
        self, connection: Http2Connection, block: bytes, content: bytes, *, ends: bool
    ) -> None:
        super().__init__(block, content, ends=ends)
        self._connection = connection
        self._fields: Mapping[str, str] = {}

    def on_headers(self, fields: Mapping[str, str]) -> None:
        if fields.get(":status", "")[:1] != "1":
            self._fields = fields


class UnaryCall(_Call):
    """A call with one request and one reply, which is not parsed yet."""

    __slots__ = ("_chunks", "reply")

    def __init__(self, connection: Http2Connection, block: bytes, request: Message) -> None:
        super().__init__(connection, block, frame_message(request), ends=True)
        self._chunks: list[bytes] = []
        self.reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def on_data(self, content: bytes) -> None:
        self._chunks.append(content)
        self._connection.consume(self, len(content))

    def on_end(self) -> None:
        if self.reply.done():
            return
        error = status_error(self._fields)
        message = None if error else _single_message(self._chunks)
        if message is not None:
            self.reply.set_result(message)
        else:
            self.reply.set_exception(error or malformed_reply("it is not one message"))

    def on_failure(self, failure: StreamFailed) -> None:
        if not self.reply.done():
            self.reply.set_exception(stream_error(failure))

    def expire(self, started: float) -> None:
        """End the call for its deadline."""
        if self.reply.done():
            return
        details = "Deadline Exceeded"
        error = call_error(grpc.StatusCode.DEADLINE_EXCEEDED, details)
        self.reply.set_exception(error if self.id else not_processed(details))
        self._connection.cancel(self)
        self._connection.check_silence(started)


class StreamCall(_Call):
    """A call with any number of requests and replies.

    Replies that are not read are not credited to the peer, so the window of the stream bounds them.
    """

    __slots__ = ("_buffer", "_end", "_reading", "_unread")

    def __init__(self, connection: Http2Connection, block: bytes, request: Message) -> None:
        super().__init__(connection, block, frame_message(request), ends=False)
        self._buffer = bytearray()
        self._unread = 0
        # None while the stream is open; otherwise its error, if it has one.
        self._end: tuple[grpc.aio.AioRpcError | None] | None = None
        self._reading: asyncio.Future[None] | None = None

    def write(self, request: Message) -> None:
        """Send one more request. Raises AioRpcError."""
        if self._end is not None:
            raise self._end[0] or call_error(grpc.StatusCode.UNAVAILABLE, "the stream has ended")
        self._connection.send(self, frame_message(request))

    async def read(self) -> bytes | None:
        """Return the next reply, None at the end. Raises AioRpcError.

        Awaits only if no reply is there, so one wake-up of the reader takes all that have arrived.
        """
        while (message := self._next_message()) is None:
            if self._end is not None:
                if self._end[0] is not None:
                    raise self._end[0]
                return None
            # Not sooner: a reader that is busy elsewhere must hold back the peer.
            self._connection.consume(self, self._unread)
            self._unread = 0
            self._reading = asyncio.get_running_loop().create_future()
            await self._reading
        return message

    def cancel(self) -> None:
        """Give up the stream."""
        self._connection.cancel(self)
        self._finish(call_error(grpc.StatusCode.CANCELLED, "cancelled"))

    def on_data(self, content: bytes) -> None:
        self._buffer += content
        self._unread += len(content)
        self._wake()

    def on_end(self) -> None:
        self._finish(status_error(self._fields))

    def on_failure(self, failure: StreamFailed) -> None:
        self._finish(stream_error(failure))

    def _next_message(self) -> bytes | None:
        buffer = self._buffer
        if len(buffer) < _PREFIX.size:
            return None
        compressed, size = _PREFIX.unpack_from(buffer)
        if compressed:
            raise malformed_reply("it is compressed")
        end = _PREFIX.size + size
        if len(buffer) < end:
            return None
        message = bytes(buffer[_PREFIX.size : end])
        del buffer[:end]
        return message

    def _finish(self, error: grpc.aio.AioRpcError | None) -> None:
        if self._end is None:
            self._end = (error,)
            self._wake()

    def _wake(self) -> None:
        if self._reading is not None and not self._reading.done():
            self._reading.set_result(None)


def _single_message(chunks: Sequence[bytes]) -> bytes | None:
    """Return the only message of a response, None if there is not one."""
    content = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if len(content) < _PREFIX.size:
        return None
    compressed, size = _PREFIX.unpack_from(content)
    if compressed or len(content) != _PREFIX.size + size:
        return None
    return content[_PREFIX.size :]
