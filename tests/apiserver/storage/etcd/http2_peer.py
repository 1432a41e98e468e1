"""An HTTP/2 peer that sends what a test tells it to, right or wrong."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from apiserver.storage.etcd import http2_frames as h2
from apiserver.storage.etcd.http2_channel import Http2Channel
from apiserver.storage.etcd.http2_frames import Frame, FrameReader
from apiserver.storage.etcd.http2_headers import encode_headers

OK = encode_headers([(":status", "200"), ("content-type", "application/grpc")])
SUCCESS = encode_headers([("grpc-status", "0"), ("grpc-message", "")])


class Raw:
    """A request whose bytes a test chooses."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def SerializeToString(self) -> bytes:  # noqa: N802
        return self.content


def message(content: bytes) -> bytes:
    return b"\0" + len(content).to_bytes(4, "big") + content


def response(stream: int, content: bytes) -> bytes:
    """A complete and right response."""
    data = message(content)
    parts = [data[at : at + h2.MAX_FRAME_SIZE] for at in range(0, len(data), h2.MAX_FRAME_SIZE)]
    return (
        h2.header_frames(stream, OK)
        + b"".join(h2.frame(h2.DATA, 0, stream, part) for part in parts)
        + h2.header_frames(stream, SUCCESS, flags=h2.END_STREAM)
    )


class Peer:
    """One connection as the server sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._frames = FrameReader()
        self._pending: list[Frame] = []
        self.writer = writer

    async def greet(self, settings: dict[int, int] | None = None) -> None:
        assert await self._reader.readexactly(len(h2.PREFACE)) == h2.PREFACE
        await self.send(h2.settings_frame(settings or {}))

    async def any_frame(self) -> Frame:
        while not self._pending:
            data = await self._reader.read(1 << 16)
            if not data:
                raise ConnectionError("the client has closed the connection")
            self._pending += self._frames.feed(data)
        return self._pending.pop(0)

    async def frame(self, kind: int) -> Frame:
        """Read up to the next frame of this type, whatever is before it."""
        while (frame := await self.any_frame())[0] != kind:
            pass
        return frame

    async def frame_of(self, kind: int, stream: int) -> Frame:
        """Read up to the next frame of this type and stream."""
        while (frame := await self.frame(kind))[2] != stream:
            pass
        return frame

    async def request(self) -> tuple[int, bytes]:
        """Read one request: its stream and its bytes."""
        content = b""
        while True:
            _, flags, stream, payload = await self.frame(h2.DATA)
            content += payload
            if flags & h2.END_STREAM:
                return stream, content

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def closed(self) -> None:
        """Wait until the client has closed the connection."""
        try:
            while await self._reader.read(1 << 16):
                pass
        except ConnectionError:
            pass


Script = Callable[[Peer], Awaitable[None]]


@asynccontextmanager
async def start_peer(*scripts: Script, timeout: float = 5.0) -> AsyncIterator[Http2Channel]:
    """Serve one script per connection, and yield a channel to it; a script's failure is raised."""
    failures: list[BaseException] = []
    tasks: list[asyncio.Task[Any]] = []
    waiting = iter(scripts)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        try:
            await next(waiting)(Peer(reader, writer))
        except (Exception, asyncio.CancelledError) as failure:
            failures.append(failure)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    channel = Http2Channel(
        f"{host}:{port}", tls=None, server_name=None, timeout=timeout, keepalive=timeout
    )
    try:
        yield channel
    finally:
        await channel.close()
        server.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
    for failure in failures:
        raise failure
