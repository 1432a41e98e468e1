"""Clients of the fairness benchmark, in a process of their own: many users, or one abusive user.

Every connection sends its next request when the last one is answered. For each line that it reads
the process runs for a number of seconds, then prints how many requests were answered, by code.
"""

import asyncio
import json
import ssl
import sys
from time import perf_counter
from typing import Final

import uvloop

from tests.benchmarks._server_load import Connection

PATH: Final = "/api/v1/namespaces/default/configmaps"


class Client:
    """One connection of one user, which repeats one request."""

    def __init__(self, port: int, tls: ssl.SSLContext, token: str, path: str) -> None:
        self._port = port
        self._tls = tls
        self._request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        ).encode()
        self._connection: Connection | None = None

    async def run(self, end: float, codes: dict[str, int]) -> None:
        while perf_counter() < end:
            try:
                connection = self._connection or await self._connect()
                answer = await asyncio.wait_for(connection.ask(self._request), 30)
            except (OSError, TimeoutError):
                self._connection = None
                continue
            if perf_counter() < end:
                code = answer[9:12].decode()
                codes[code] = codes.get(code, 0) + 1

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            Connection, "127.0.0.1", self._port, ssl=self._tls
        )
        self._connection = connection
        return connection


async def serve(clients: list[Client]) -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        codes: dict[str, int] = {}
        end = perf_counter() + float(line)
        await asyncio.gather(*(client.run(end, codes) for client in clients))
        print(json.dumps(codes), flush=True)


def main() -> None:
    port, authority, kind, *tokens = sys.argv[1:]
    tls = ssl.create_default_context(cafile=authority)
    path = PATH if kind == "list" else f"{PATH}/map-1"
    clients = [Client(int(port), tls, token, path) for token in tokens]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(clients))


if __name__ == "__main__":
    main()
