"""Clients that send or take so slowly that it amounts to an attack: cut off, and nobody else
notices."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from apiserver.connections.connection import HEAD_SECONDS
from apiserver.connections.connection_end import STALL_SECONDS
from apiserver.connections.listener import HANDSHAKE_TIMEOUT
from apiserver.process.process_memory import TRIM_DELAYS
from apiserver.storage.cache.cache_limits import WindowSize
from tests.faults.load import CONFIG_MAPS, PATIENCE, until
from tests.faults.test_many_watchers import memory
from tests.servers import Server, serving
from tests.wire import Address, Broken, Wire, connected

CONNECTIONS = 100
HELLO = b"\x16\x03\x01\x02"
"""How a TLS handshake begins."""
LARGE = 40
"""Objects, so large that no buffer of a connection has room for all of them."""
WINDOW = WindowSize()
STALLED = 1000
DEAF = 20
KEPT_FOR_ONE = 6 * 1024 * 1024
"""Bytes that a watcher may keep that reads nothing; the backlog of the test has 40 MB."""
SLACK = 10.0
"""Seconds that a busy machine may add to any limit."""
PROMPT = 5.0
"""Seconds in which others must be served; far less on a machine with nothing else to do."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
    assert "Traceback" not in running.log


@pytest.fixture
def address(server: Server) -> Address:
    return Address.of(server)


async def dribble(wire: Wire, data: bytes) -> float:
    """Send a byte now and then until nobody takes any more; returns how long that took."""
    began = time.monotonic()
    sending = asyncio.create_task(_send_slowly(wire, data))
    try:
        while await wire.reader.read(4096):
            pass
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    return time.monotonic() - began


async def _send_slowly(wire: Wire, data: bytes) -> None:
    for byte in data:
        await wire.write(bytes([byte]))
        await asyncio.sleep(0.5)


async def served(address: Address) -> AsyncIterator[float]:
    """How long each of many requests takes."""
    async with connected(address) as wire:
        while True:
            began = time.monotonic()
            assert (await wire.request("GET", f"{CONFIG_MAPS}?limit=1")).code == 200
            yield time.monotonic() - began
            await asyncio.sleep(0.05)


async def slowest(address: Address, until_done: asyncio.Future[list[float]]) -> float:
    """The longest time that a request took while something else was going on."""
    longest = 0.0
    async for seconds in served(address):
        longest = max(longest, seconds)
        if until_done.done():
            break
    return longest


async def test_heads_and_handshakes_that_never_end_are_cut_off(address: Address) -> None:
    head = f"GET {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nX-Long: ".encode() + b"a" * 1000
    plain = Address(address.host, address.port, None, "")
    async with AsyncExitStack() as opened:
        slow = [
            (await opened.enter_async_context(connected(each)), data)
            for each, data in ((address, head), (plain, HELLO)) * CONNECTIONS
        ]
        dribbling = asyncio.gather(*(dribble(wire, data) for wire, data in slow))
        longest = await slowest(address, dribbling)
        lasted = await dribbling

    assert max(lasted) < max(HEAD_SECONDS, HANDSHAKE_TIMEOUT) + SLACK
    assert longest < PROMPT


async def test_a_body_that_never_ends_is_a_timeout(address: Address) -> None:
    async with connected(address) as wire:
        body = {"Content-Type": "application/json", "Content-Length": "1000"}
        await wire.send("POST", f"{CONFIG_MAPS}?timeout=1s", headers=body)
        sending = asyncio.create_task(_send_slowly(wire, b" " * 1000))
        code, headers = await wire.head()
        answer = await wire.rest(headers)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

        assert code == 504
        assert b'"reason":"Timeout"' in answer
        # What is left of the body must not be taken for the next request.
        with pytest.raises(Broken):
            await wire.request("GET", "/version")


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_recorded_as_gone(
    server: Server, address: Address
) -> None:
    async with connected(address) as wire:
        headers = {"Content-Type": "application/json", "Content-Length": "1000"}
        await wire.send("POST", CONFIG_MAPS, headers=headers)
        # An answer on another connection shows that the worker has read what came before.
        await asyncio.to_thread(server.request, "GET", "/version")

    await until(lambda: f"{CONFIG_MAPS} 499 " in server.log)


def metrics(server: Server) -> list[str]:
    return server.request("GET", "/metrics").body.decode().splitlines()


class Reader:
    """Reads a watch of its own, and counts the events."""

    def __init__(self, name: str, *, pause: float = 0.0) -> None:
        self.name = name
        self.count = 0
        self._pause = pause

    async def begin(self, wire: Wire) -> None:
        path = f"{CONFIG_MAPS}?watch=1&resourceVersion=1"
        await wire.send("GET", path, headers={"X-Source": self.name})
        assert (await wire.head())[0] == 200

    async def run(self, wire: Wire) -> None:
        async for piece in wire.chunks():
            self.count += piece.count(b'"type":"')
            await asyncio.sleep(self._pause)

    def is_watching(self, server: Server) -> bool:
        """Whether the server believes so."""
        mine = [
            line
            for line in metrics(server)
            if line.startswith("apiserver_longrunning_requests{")
            and f'source="{self.name}"' in line
        ]
        return not mine[0].endswith(" 0.0")


async def write_large(address: Address) -> None:
    body = {"metadata": {"generateName": "large-"}, "data": {"x": "y" * 500_000}}
    async with connected(address) as wire:
        for _ in range(LARGE):
            assert (await wire.request("POST", CONFIG_MAPS, body)).code == 201
        assert (await wire.request("DELETE", CONFIG_MAPS)).code == 200


async def test_a_watcher_that_never_reads_is_ended_and_others_see_everything(
    server: Server, address: Address
) -> None:
    deaf, slow, quick = Reader("deaf"), Reader("slow", pause=0.02), Reader("quick")
    async with AsyncExitStack() as opened:
        wires = [await opened.enter_async_context(connected(address)) for _ in range(3)]
        for reader, wire in zip((deaf, slow, quick), wires, strict=True):
            await reader.begin(wire)
        wires[0].writer.transport.pause_reading()  # type: ignore[attr-defined]
        async with asyncio.TaskGroup() as group:
            reading = [
                group.create_task(slow.run(wires[1])),
                group.create_task(quick.run(wires[2])),
            ]
            began = time.monotonic()
            await write_large(address)
            await until(lambda: quick.count >= 2 * LARGE, PATIENCE)
            while await asyncio.to_thread(deaf.is_watching, server):
                assert time.monotonic() - began < 2 * STALL_SECONDS + SLACK
                await asyncio.sleep(0.1)
            await until(lambda: slow.count >= 2 * LARGE, PATIENCE)
            for task in reading:
                task.cancel()
    terminated = "apiserver_terminated_watchers_total{"
    assert [line.split()[-1] for line in metrics(server) if line.startswith(terminated)] == ["1.0"]


async def stall(server: Server, address: Address, watchers: int) -> None:
    """Open watches, write more than buffers hold, and wait until the server has ended them."""
    reader = Reader("stalled")
    async with AsyncExitStack() as opened:
        for _ in range(watchers):
            wire = await opened.enter_async_context(connected(address))
            await reader.begin(wire)
            wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await write_large(address)
        began = time.monotonic()
        while await asyncio.to_thread(reader.is_watching, server):
            assert time.monotonic() - began < 2 * STALL_SECONDS + 10 * SLACK
            await asyncio.sleep(0.5)


async def write_small(address: Address, count: int) -> None:
    """Push older changes out of the window, as soon as they are old enough."""
    async with connected(address) as wire:
        for _ in range(count):
            body = {"metadata": {"generateName": "small-"}}
            assert (await wire.request("POST", CONFIG_MAPS, body)).code == 201


async def settled_memory(address: Address, worker: int) -> int:
    """The least memory in the time after which all of it is returned that ever is."""
    least = memory(worker)
    end = time.monotonic() + WINDOW.age + max(TRIM_DELAYS) + SLACK
    while time.monotonic() < end:
        await write_small(address, WINDOW.min_changes // 10)
        await asyncio.sleep(SLACK / 10)
        least = min(least, memory(worker))
    return least


@pytest.mark.torture
async def test_stalled_watchers_leave_nothing_behind(server: Server, address: Address) -> None:
    """What the first ones leave is used again by the next, so it is no leak."""
    (worker,) = server.workers()
    await stall(server, address, STALLED)
    after_first = await settled_memory(address, worker)

    await stall(server, address, STALLED)

    assert await settled_memory(address, worker) < 1.1 * after_first


async def test_a_backlog_that_nobody_reads_is_not_kept_in_memory(
    server: Server, address: Address
) -> None:
    """The events of the past are encoded for one watcher alone, when it has read those before."""
    (worker,) = server.workers()
    await write_large(address)
    before = memory(worker)

    async with AsyncExitStack() as opened:
        for _ in range(DEAF):
            wire = await opened.enter_async_context(connected(address))
            await Reader("deaf").begin(wire)
            wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        async with connected(address) as wire:
            reader = Reader("quick")
            await reader.begin(wire)
            async with asyncio.timeout(PATIENCE):
                async for piece in wire.chunks():
                    reader.count += piece.count(b'"type":"')
                    if reader.count >= 2 * LARGE:
                        break
        assert memory(worker) < before + DEAF * KEPT_FOR_ONE
