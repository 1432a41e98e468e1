"""The load of the benchmark `verbs`, in a process of its own.

It speaks HTTP/1.1 by itself, because a client library costs more than the server it measures, and
prints one JSON object: what was measured, by name. A connection sends its next request when the
last one is answered.

    python -m tests.benchmarks._server_load PORT AUTHORITY TOKEN verbs|floor PID...
"""

import asyncio
import json
import os
import random
import ssl
import statistics
import sys
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import uvloop

CONNECTIONS: Final = 32
LISTERS: Final = 2
WATCHERS: Final = 200
EVENTS: Final = 1000
NOTING: Final = 10
"""Watchers that note when each event came; the others only count."""
OBJECTS: Final = 10_000
CHANGES: Final = 3_000
LISTS: Final = 20
PAGES: Final = 200

PATH: Final = "/api/v1/namespaces/default/configmaps"
WATCHED: Final = "/api/v1/namespaces/watched/configmaps"
MERGE: Final = "application/merge-patch+json"
_LAST: Final = b"\r\n0\r\n\r\n"
_EVENT: Final = b'{"type":"'
_NAME: Final = b'"name":"'
_LONGEST_NAME: Final = 64


class Connection(asyncio.Protocol):
    """One connection with at most one request under way."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._wanted = 0
        self._chunked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]

    def ask(self, request: bytes) -> asyncio.Future[bytes]:
        """Everything that is answered to *request*: head and body."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._parts, self._size, self._wanted, self._chunked = [], 0, 0, False
        self._transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if not self._wanted and not self._chunked:
            self._read_head()
        if self._chunked:
            if self._ends_here():
                self._finish()
        elif self._wanted and self._size >= self._wanted:
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("closed by the server"))

    def _read_head(self) -> None:
        data = b"".join(self._parts)
        self._parts = [data]
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return
        at = data.find(b"content-length: ", 0, end)
        if at < 0:
            self._chunked = True
        else:
            self._wanted = end + 4 + int(data[at + 16 : data.index(b"\r\n", at)])

    def _ends_here(self) -> bool:
        last = b"".join(self._parts[-2:]) if len(self._parts[-1]) < len(_LAST) else self._parts[-1]
        return last.endswith(_LAST)

    def _finish(self) -> None:
        assert self._answer is not None
        if not self._answer.done():
            self._answer.set_result(b"".join(self._parts))


class Watch(asyncio.Protocol):
    """Counts the events of a watch, or notes when each of them came."""

    def __init__(self, request: bytes, *, notes: bool) -> None:
        self.began = asyncio.get_running_loop().create_future()
        self.ended = asyncio.get_running_loop().create_future()
        self.came: dict[bytes, float] = {}
        self._count = 0
        self._request = request
        self._notes = notes
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if not self.began.done():
            self.began.set_result(data)
        if self._notes:
            self._note(self._rest + data)
        # What is cut in two by the end of a piece is found in the next.
        self._count += (self._rest[1 - len(_EVENT) :] + data).count(_EVENT)
        self._rest = (self._rest + data)[-_LONGEST_NAME:]
        if self._count >= EVENTS and not self.ended.done():
            self.ended.set_result(perf_counter())

    def _note(self, data: bytes) -> None:
        now = perf_counter()
        at = data.find(_NAME)
        while at >= 0:
            end = data.find(b'"', at + len(_NAME))
            if end > 0:
                self.came.setdefault(data[at + len(_NAME) : end], now)
            at = data.find(_NAME, at + 1)


class Load:
    """The steps of the benchmark, in the order in which they need each other."""

    def __init__(self, port: int, authority: str, token: str, workers: list[int]) -> None:
        self._port = port
        self._tls = ssl.create_default_context(cafile=authority)
        self._common = (
            f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
            "Accept: application/json\r\nUser-Agent: load\r\n"
        )
        self._workers = workers
        self._connections: list[Connection] = []
        self.found: dict[str, Any] = {}

    async def verbs(self) -> None:
        """Every verb, on a server."""
        await self._connect()
        await self._prepare()
        await self._measure("create", OBJECTS, self._create)
        await self._measure("get", OBJECTS, self._get)
        await self._measure("get+put", CHANGES, self._get_and_put)
        await self._measure("merge patch", CHANGES, self._patch)
        await self._measure("list of 500", PAGES, self._page, connections=LISTERS)
        await self._measure("list of all", LISTS, self._list, connections=LISTERS)
        await self._watch()
        await self._measure("delete", OBJECTS, self._delete)

    async def floor(self) -> None:
        """The least that a request costs: an application that answers at once."""
        await self._connect()
        await self._measure("get", OBJECTS, self._get)

    async def _connect(self) -> None:
        self._connections = [await self._open(Connection) for _ in range(CONNECTIONS)]

    async def _open(self, make: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_connection(make, "127.0.0.1", self._port, ssl=self._tls)
        return protocol

    def _request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> bytes:
        head = f"{method} {path} HTTP/1.1\r\n{self._common}"
        if body:
            head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + body

    async def _prepare(self) -> None:
        body = b'{"metadata":{"name":"watched"}}'
        await self._connections[0].ask(self._request("POST", "/api/v1/namespaces", body))

    async def _measure(
        self,
        name: str,
        total: int,
        step: Callable[[Connection, int], Awaitable[None]],
        *,
        connections: int = CONNECTIONS,
    ) -> None:
        numbers: Iterator[int] = iter(range(total))

        delays: list[float] = []

        async def work(connection: Connection) -> None:
            for number in numbers:
                started = perf_counter()
                await step(connection, number)
                delays.append(perf_counter() - started)

        used, began = self._processor_time(), perf_counter()
        await asyncio.gather(*(work(connection) for connection in self._connections[:connections]))
        seconds = perf_counter() - began
        self.found[name] = {
            "rate": total / seconds,
            **_percentiles(delays),
            "cpu": (self._processor_time() - used) / total,
        }

    async def _create(self, connection: Connection, number: int) -> None:
        _check(await connection.ask(self._request("POST", PATH, _body(number))), b"201")

    async def _get(self, connection: Connection, number: int) -> None:
        name = f"map-{random.randrange(OBJECTS)}"
        _check(await connection.ask(self._request("GET", f"{PATH}/{name}")), b"200")

    async def _get_and_put(self, connection: Connection, number: int) -> None:
        path = f"{PATH}/map-{number}"
        answer = await connection.ask(self._request("GET", path))
        body = answer.partition(b"\r\n\r\n")[2].replace(b'"n":"0"', b'"n":"1"')
        _check(await connection.ask(self._request("PUT", path, body)), b"200")

    async def _patch(self, connection: Connection, number: int) -> None:
        request = self._request("PATCH", f"{PATH}/map-{number}", b'{"data":{"n":"2"}}', MERGE)
        _check(await connection.ask(request), b"200")

    async def _page(self, connection: Connection, number: int) -> None:
        _check(await connection.ask(self._request("GET", f"{PATH}?limit=500")), b"200")

    async def _list(self, connection: Connection, number: int) -> None:
        _check(await connection.ask(self._request("GET", PATH)), b"200")

    async def _delete(self, connection: Connection, number: int) -> None:
        _check(await connection.ask(self._request("DELETE", f"{PATH}/map-{number}")), b"200")

    async def _watch(self) -> None:
        request = self._request("GET", f"{WATCHED}?watch=1&resourceVersion=1")
        numbers = count()
        watches = [
            await self._open(lambda: Watch(request, notes=next(numbers) < NOTING))
            for _ in range(WATCHERS)
        ]
        await asyncio.gather(*(watch.began for watch in watches))
        sent: dict[bytes, float] = {}

        async def write(connection: Connection, number: int) -> None:
            sent[f"map-{number}".encode()] = perf_counter()
            _check(await connection.ask(self._request("POST", WATCHED, _body(number))), b"201")

        used, began = self._processor_time(), perf_counter()
        await self._measure("write under watch", EVENTS, write)
        ended = max(await asyncio.gather(*(watch.ended for watch in watches)))
        delays = [watch.came[name] - at for watch in watches[:NOTING] for name, at in sent.items()]
        self.found["watch"] = {
            "rate": WATCHERS * EVENTS / (ended - began),
            **_percentiles(delays),
            "cpu": (self._processor_time() - used) / (WATCHERS * EVENTS),
        }

    def _processor_time(self) -> float:
        """Seconds that the workers have computed so far."""
        total = 0
        for pid in self._workers:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")


def _percentiles(delays: list[float]) -> dict[str, float]:
    parts = statistics.quantiles(delays, n=100)
    return {"p50": parts[49], "p99": parts[98]}


def _body(number: int) -> bytes:
    """An object that is stored as about one kilobyte."""
    data = {"n": "0", "text": "x" * 600}
    return json.dumps({"metadata": {"name": f"map-{number}"}, "data": data}).encode()


def _check(answer: bytes, code: bytes) -> None:
    if answer[9:12] != code:
        raise SystemExit(f"expected {code!r}: {answer[:2000]!r}")


def main() -> None:
    port, authority, token, scenario, *workers = sys.argv[1:]
    load = Load(int(port), authority, token, [int(pid) for pid in workers])
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(load.floor() if scenario == "floor" else load.verbs())
    print(json.dumps(load.found))


if __name__ == "__main__":
    main()
