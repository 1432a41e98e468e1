"""A TCP proxy before an etcd that can lose answers, and keep requests back until later.

It stands for the network and for a member that is stopped: both make a write whose answer never
comes, and the second makes one that takes effect long after its sender gave up.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@asynccontextmanager
async def start_proxy(target: str) -> AsyncIterator["Proxy"]:
    """Listen on loopback and pass everything on to *target* ("host:port")."""
    proxy = Proxy(target)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    proxy.address = f"{host}:{port}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()


@dataclass
class Proxy:
    """What passes through, and what does not."""

    target: str
    address: str = ""
    losing_answers: bool = False
    """Whether what etcd says is thrown away."""
    holding: bytes | None = None
    """Requests are kept back from the first that holds these bytes on."""
    held: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when such a request has come."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever etcd says something."""
    _kept: list[tuple[asyncio.StreamWriter, bytes]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def release(self) -> None:
        """Let etcd have the request that was kept back, and wait until it says something."""
        self.answered.clear()
        for writer, data in self._kept:
            writer.write(data)
            await writer.drain()
        await self.answered.wait()

    async def cut(self) -> None:
        """Break all connections; new ones are welcome."""
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Break all connections."""
        await self.cut()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until either side ends it."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        host, _, port = self.target.partition(":")
        upstream: asyncio.StreamWriter | None = None
        try:
            answers, upstream = await asyncio.open_connection(host, int(port))
            async with asyncio.TaskGroup() as group:
                group.create_task(self._requests(reader, upstream))
                group.create_task(self._answers(answers, writer))
        except* (OSError, asyncio.CancelledError, _Over):
            pass
        finally:
            self._tasks.discard(task)
            for each in (writer, upstream):
                if each is not None:
                    each.close()

    async def _requests(self, reader: asyncio.StreamReader, upstream: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            if self.held.is_set():
                # What follows is the sender's change of mind, which a stopped member has not read.
                continue
            if self.holding is not None and self.holding in data:
                self._kept.append((upstream, data))
                self.held.set()
                continue
            upstream.write(data)
            await upstream.drain()
        # The connection of a request that is kept back stays open for it.
        if not any(writer is upstream for writer, _ in self._kept):
            raise _Over

    async def _answers(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await answers.read(1 << 16):
            self.answered.set()
            if not self.losing_answers and not self.held.is_set():
                writer.write(data)
                await writer.drain()
        raise _Over


class _Over(Exception):
    """One side has ended the connection."""
