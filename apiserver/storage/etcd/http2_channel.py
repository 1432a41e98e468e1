"""HTTP/2 channel: the calls on which latency depends, without grpcio.

Transactions, reads and watches go over our own connection to a member, which takes a third of
grpcio's time per call; every other call remains with grpcio. If a peer turns out to speak another
HTTP/2 than ours, a channel falls back to grpcio for good.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from apiserver.storage.etcd.grpc_calls import (
    Message,
    StreamCall,
    UnaryCall,
    malformed_reply,
    not_processed,
)
from apiserver.storage.etcd.http2_connection import Http2Connection
from apiserver.storage.etcd.http2_frames import ProtocolError
from apiserver.storage.etcd.http2_headers import encode_headers
from apiserver.storage.etcd.http2_stream import StreamFailed

log = logging.getLogger(__name__)

Metadata: TypeAlias = Sequence[tuple[str, str]]
Parse: TypeAlias = Callable[[bytes], Any]
"""Parses a reply; protobuf's classes have no types."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.5
_KEPT_BLOCKS: Final = 64


class Http2Channel:
    """The connection to one member, made when a call needs it and made again when it is lost."""

    def __init__(
        self,
        address: str,
        *,
        tls: ssl.SSLContext | None,
        server_name: str | None,
        timeout: float,
        keepalive: float,
    ) -> None:
        self.address = address
        self.connection: Http2Connection | None = None
        """The last connection, which may have ended."""
        self._tls = tls
        self._server_name = server_name
        self.timeout = timeout
        """The seconds in which the member must accept a connection, or answer a ping."""
        self._keepalive = keepalive
        self._connecting: asyncio.Task[None] | None = None
        self._failure = ""
        self._pause = 0.0
        self._retry_at = 0.0
        self._closed = False
        self._falls_back = False
        self._metadata: Metadata | None = None
        self._blocks: dict[tuple[str, float | None], bytes] = {}

    @property
    def falls_back(self) -> bool:
        """Whether grpcio must be used instead."""
        if self.connection is not None and self.connection.violation is not None:
            self._fall_back(self.connection.violation)
        return self._falls_back

    async def connect(self, timeout: float) -> Http2Connection:
        """Return a connection that is ready. Raises NotProcessed."""
        if self.connection is not None and self.connection.accepts_streams:
            return self.connection
        if self._closed:
            raise not_processed("the channel is closed")
        if self._connecting is None:
            if asyncio.get_running_loop().time() < self._retry_at:
                raise not_processed(self._failure)
            self._connecting = asyncio.create_task(self._connect(), name="etcd connection")
        # All calls wait for the same attempt, which outlives a caller that gives up.
        await asyncio.wait((self._connecting,), timeout=timeout)
        if self.connection is None or not self.connection.accepts_streams:
            raise not_processed(self._failure or f"{self.address} does not answer")
        return self.connection

    def headers(self, path: str, timeout: float | None, metadata: Metadata) -> bytes:
        """Return the header block of a call."""
        if metadata is not self._metadata:
            self._metadata = metadata
            self._blocks.clear()
        block = self._blocks.get((path, timeout))
        if block is None:
            if len(self._blocks) >= _KEPT_BLOCKS:
                self._blocks.clear()
            block = encode_headers(self._fields(path, timeout, metadata))
            self._blocks[path, timeout] = block
        return block

    async def close(self) -> None:
        """End the connection, and with it all calls."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait((self._connecting,))
        if self.connection is not None:
            await self.connection.close()

    def _fields(
        self, path: str, timeout: float | None, metadata: Metadata
    ) -> Sequence[tuple[str, str]]:
        fields = [
            (":method", "POST"),
            (":scheme", "http" if self._tls is None else "https"),
            (":path", path),
            (":authority", self._server_name or self.address),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]
        if timeout is not None:
            # In milliseconds, and never 0.
            fields.append(("grpc-timeout", f"{max(round(timeout * 1000), 1)}m"))
        return [*fields, *metadata]

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        connection = Http2Connection(keepalive=self._keepalive, silence=self.timeout)
        try:
            async with asyncio.timeout(self.timeout):
                await self._open(connection)
        except (OSError, StreamFailed, UnicodeError, TimeoutError) as error:
            await connection.close()
            self._failure = f"failed to connect to {self.address}: {error or 'no answer in time'}"
            self._pause = min(max(2 * self._pause, _FIRST_PAUSE), _LONGEST_PAUSE)
            self._retry_at = loop.time() + self._pause
            if connection.violation is not None:
                self._fall_back(connection.violation)
        except asyncio.CancelledError:
            await connection.close()
            raise
        else:
            self.connection, self._failure, self._pause = connection, "", 0.0
        finally:
            self._connecting = None

    async def _open(self, connection: Http2Connection) -> None:
        host, _, port = self.address.rpartition(":")
        host = host.strip("[]")
        server_name = (self._server_name or host) if self._tls is not None else None
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: connection, host, int(port), ssl=self._tls, server_hostname=server_name
        )
        secured = transport.get_extra_info("ssl_object")
        if secured is not None and secured.selected_alpn_protocol() != "h2":
            connection.violation = ProtocolError("the peer did not choose HTTP/2")
            raise StreamFailed(str(connection.violation), processed=False)
        await asyncio.shield(connection.ready)

    def _fall_back(self, violation: ProtocolError) -> None:
        if not self._falls_back:
            self._falls_back = True
            log.warning("etcd at %s: %s; using grpcio instead", self.address, violation)


class UnaryMethod:
    """A method of one request and one reply; called as grpcio's are."""

    def __init__(self, channel: Http2Channel, path: str, parse: Parse, fallback: Any) -> None:
        self._channel = channel
        self._path = path
        self._parse = parse
        self._fallback = fallback

    async def __call__(self, request: Message, *, timeout: float, metadata: Metadata) -> Any:
        channel = self._channel
        loop = asyncio.get_running_loop()
        started = loop.time()
        connection = channel.connection
        if connection is None or not connection.accepts_streams:
            if channel.falls_back:
                return await self._fallback(request, timeout=timeout, metadata=metadata)
            connection = await channel.connect(timeout)
        call = UnaryCall(connection, channel.headers(self._path, timeout, metadata), request)
        connection.start(call)
        timer = loop.call_at(started + timeout, call.expire, started)
        try:
            return self._parse(await call.reply)
        except DecodeError as error:
            raise malformed_reply(str(error)) from error
        except asyncio.CancelledError:
            connection.cancel(call)
            raise
        finally:
            timer.cancel()


class StreamMethod:
    """A method of many requests and replies; called as grpcio's are."""

    def __init__(self, channel: Http2Channel, path: str, parse: Parse, fallback: Any) -> None:
        self._channel = channel
        self._path = path
        self._parse = parse
        self._fallback = fallback

    def __call__(self, *, metadata: Metadata) -> Any:
        if self._channel.falls_back:
            return self._fallback(metadata=metadata)
        return MessageStream(self._channel, self._path, self._parse, metadata)


class MessageStream:
    """A stream that is opened with the first request."""

    def __init__(self, channel: Http2Channel, path: str, parse: Parse, metadata: Metadata) -> None:
        self._channel = channel
        self._path = path
        self._parse = parse
        self._metadata = metadata
        self._call: StreamCall | None = None

    async def write(self, request: Message) -> None:
        """Send a request. Raises AioRpcError."""
        if self._call is not None:
            self._call.write(request)
            return
        connection = await self._channel.connect(self._channel.timeout)
        block = self._channel.headers(self._path, None, self._metadata)
        self._call = StreamCall(connection, block, request)
        connection.start(self._call)

    async def read(self) -> Any:
        """Return the next reply, grpcio's EOF at the end. Raises AioRpcError."""
        assert self._call is not None, "the first request opens the stream"
        content = await self._call.read()
        try:
            return grpc.aio.EOF if content is None else self._parse(content)
        except DecodeError as error:
            raise malformed_reply(str(error)) from error

    def cancel(self) -> None:
        """Give up the stream."""
        if self._call is not None:
            self._call.cancel()
