"""HTTP/1.1 over asyncio streams, for tests and benchmarks that must see the bytes.

A client library hides how an answer ended; here a stream that was cut short is told apart from one
that ended as it should. It is also fast enough not to be what a benchmark measures.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

from tests.servers import Server

SECONDS: Final = 20.0
"""For which an answer is waited."""
_LONGEST_LINE: Final = 1024 * 1024


class Broken(Exception):
    """The connection ended in the middle of something, or before it had begun."""


@dataclass(frozen=True)
class Answer:
    """What a server answered to one request."""

    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Address:
    """Where a server is, and how to be let in."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    token: str

    @classmethod
    def of(cls, server: Server) -> Self:
        context = ssl.create_default_context(cafile=str(server.ca_certificate))
        return cls("127.0.0.1", server.port, context, server.token)


class Wire:
    """One connection."""

    def __init__(
        self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.closing = False
        """Whether the server has said that the answer was the last one."""
        self._common = (
            f"Host: {address.host}:{address.port}\r\nAuthorization: Bearer {address.token}\r\n"
        )

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send one request; bytes are sent as they are, anything else as JSON."""
        lines = [f"{method} {path} HTTP/1.1\r\n", self._common]
        given = {name.title(): value for name, value in (headers or {}).items()}
        if body is not None:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            given = {"Content-Type": "application/json", **given, "Content-Length": str(len(body))}
        lines.extend(f"{name}: {value}\r\n" for name, value in given.items())
        head = "".join((*lines, "\r\n")).encode("latin-1")
        await self.write(head + (body or b""))

    async def write(self, data: bytes) -> None:
        """Send bytes as they are; raises Broken if nobody takes them."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except OSError as error:
            raise Broken(str(error)) from error

    async def head(self) -> tuple[int, dict[str, str]]:
        """The status and the headers of the next answer, their names in lower case."""
        try:
            block = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Broken(f"no answer: {error}") from error
        first, *rest = block.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in rest if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        self.closing = headers.get("connection") == "close"
        return int(first.split(" ", 2)[1]), headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces of a chunked answer; raises Broken unless it ends with its last chunk."""
        try:
            while True:
                size = int(await self.reader.readuntil(b"\r\n"), 16)
                piece = await self.reader.readexactly(size + 2)
                if not size:
                    return
                yield piece[:-2]
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Broken(f"the stream was cut: {error}") from error

    async def rest(self, headers: Mapping[str, str]) -> bytes:
        """The body of an answer whose headers are known."""
        if headers.get("transfer-encoding") == "chunked":
            return b"".join([chunk async for chunk in self.chunks()])
        try:
            return await self.reader.readexactly(int(headers.get("content-length", 0)))
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Broken(f"the answer was cut: {error}") from error

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Make one request and read all of its answer."""
        async with asyncio.timeout(SECONDS):
            await self.send(method, path, body, headers=headers)
            code, given = await self.head()
            rest = b"" if method == "HEAD" else await self.rest(given)
            return Answer(code, given, rest)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of a chunked answer, however they are cut into chunks."""
        waiting = b""
        async for chunk in self.chunks():
            *whole, waiting = (waiting + chunk).split(b"\n")
            for line in whole:
                yield line


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Wire]:
    """A connection that is closed on leaving; raises Broken if there is none to be had."""
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=address.tls, limit=_LONGEST_LINE
            )
    except OSError as error:
        raise Broken(f"no connection: {error}") from error
    try:
        yield Wire(address, reader, writer)
    finally:
        # Not a polite end: the peer may be dead or deaf.
        writer.transport.abort()
