"""Well-behaved clients of the abuse benchmark, in a process of their own.

Each is a user of its own and sends a few small requests a second: it creates, reads, patches, lists
and deletes its config maps, and asks whether the server is ready. A request is due at a fixed time,
and its delay is counted from there: a server that answers nothing for a second makes all requests
of that second late, not one.
"""

import asyncio
import json
import ssl
import sys
from collections.abc import Iterator
from itertools import count
from time import perf_counter
from typing import Final

import uvloop

from tests.benchmarks._server_load import MERGE, Connection

INTERVAL: Final = 0.2
"""Seconds between two requests of one client."""
PATH: Final = "/api/v1/namespaces/default/configmaps"
PATIENCE: Final = 60.0


class Client:
    """One user, with one connection."""

    def __init__(self, port: int, tls: ssl.SSLContext, token: str) -> None:
        self._port = port
        self._tls = tls
        self._common = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        self._steps = _life(token)
        self._connection: Connection | None = None
        self.delays: list[float] = []
        self.codes: dict[str, int] = {}

    async def run(self, begin: float, end: float) -> None:
        due = begin
        while due < end:
            await asyncio.sleep(max(0.0, due - perf_counter()))
            code = await self._ask(next(self._steps))
            self.delays.append(perf_counter() - due)
            self.codes[code] = self.codes.get(code, 0) + 1
            due += INTERVAL

    async def connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            Connection, "127.0.0.1", self._port, ssl=self._tls
        )
        self._connection = connection
        return connection

    async def _ask(self, step: tuple[str, str, bytes, str]) -> str:
        method, path, body, kind = step
        head = f"{method} {path} HTTP/1.1\r\n{self._common}"
        if body:
            head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        try:
            connection = self._connection or await self.connect()
            answer = await asyncio.wait_for(connection.ask(f"{head}\r\n".encode() + body), PATIENCE)
        except (OSError, TimeoutError):
            self._connection = None
            return "broken"
        if b"connection: close" in answer[:500].lower():
            self._connection = None
        return answer[9:12].decode()


def _life(token: str) -> Iterator[tuple[str, str, bytes, str]]:
    """What a client does to its objects, for ever."""
    for number in count():
        name = f"{token}-{number}"
        body = json.dumps({"metadata": {"name": name}, "data": {"text": "x" * 600}}).encode()
        yield "POST", PATH, body, "application/json"
        yield "GET", f"{PATH}/{name}", b"", ""
        yield "PATCH", f"{PATH}/{name}", b'{"data":{"n":"1"}}', MERGE
        yield "GET", f"{PATH}?limit=10", b"", ""
        yield "DELETE", f"{PATH}/{name}", b"", ""
        yield "GET", "/readyz", b"", ""


async def measure(
    port: int, authority: str, seconds: float, tokens: list[str]
) -> dict[str, object]:
    """Run all clients for that long."""
    tls = ssl.create_default_context(cafile=authority)
    clients = [Client(port, tls, token) for token in tokens]
    await asyncio.gather(*(client.connect() for client in clients))
    print("connected", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    begin = perf_counter() + 0.1
    spread = INTERVAL / len(clients)
    await asyncio.gather(
        *(each.run(begin + at * spread, begin + seconds) for at, each in enumerate(clients))
    )
    codes: dict[str, int] = {}
    for client in clients:
        for code, times in client.codes.items():
            codes[code] = codes.get(code, 0) + times
    return {"delays": [delay for client in clients for delay in client.delays], "codes": codes}


def main() -> None:
    port, authority, seconds, *tokens = sys.argv[1:]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(measure(int(port), authority, float(seconds), tokens))))


if __name__ == "__main__":
    main()
