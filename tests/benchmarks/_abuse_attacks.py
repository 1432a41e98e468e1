"""The abuses of the abuse benchmark, in a process of their own that runs until it is killed.

Each sends as fast as it is answered, over a few connections. The bodies are built before.
"""

import asyncio
import json
import ssl
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import uvloop

from tests.apiserver.extensions.definitions import DEFINITIONS, definition, having
from tests.benchmarks._server_load import Connection
from tests.faults import requests_at_limits as limits
from tests.faults.hostile import Request

GROUP: Final = "abuse.example.io"
OBJECTS: Final = 5_000
"""Objects of one kilobyte that are listed."""
HALF: Final = 200
HEADS: Final = 40
STALLED: Final = 1_000
AT_ONCE: Final = 6
EVERYTHING: Final = "/api/v1/configmaps"


@dataclass
class Attacker:
    """Where the server is, and tokens of a user who may do everything and of one who may not."""

    port: int
    tls: ssl.SSLContext
    token: str
    powerless: str

    async def connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            Connection, "127.0.0.1", self.port, ssl=self.tls
        )
        return connection

    def encode(self, request: Request, token: str = "") -> bytes:
        target = request.path + ("?" + request.query.decode() if request.query else "")
        lines = [f"{request.method} {target} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"Authorization: Bearer {token or self.token}"]
        lines += [f"{n.decode()}: {v.decode()}" for n, v in request.headers if n != b"host"]
        lines += [f"Content-Length: {len(request.body)}", "", ""]
        return "\r\n".join(lines).encode() + request.body

    async def repeat(self, *builds: limits.Build, at_once: int = AT_ONCE) -> None:
        """Send the requests in turn over some connections, for ever."""
        requests = [self.encode(build()) for build in builds]
        ready()
        await asyncio.gather(*(self._repeat(requests) for _ in range(at_once)))

    async def _repeat(self, requests: list[bytes]) -> None:
        connection = await self.connect()
        while True:
            for request in requests:
                try:
                    await connection.ask(request)
                except OSError:
                    await asyncio.sleep(0.05)
                    connection = await self.connect()

    async def once(self, method: str, path: str, body: Any = None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        connection = await self.connect()
        headers = [(b"content-type", b"application/json")]
        return await connection.ask(self.encode(Request(method, path, b"", headers, data)))

    async def define(self, schema: dict[str, Any]) -> str:
        """Have a custom resource served; returns its collection."""
        body = definition(having(schema), plural="things", group=GROUP)
        answer = await self.once("POST", DEFINITIONS, body)
        if b" 201 " not in answer[:20]:
            print("refused", answer[-300:], file=sys.stderr)
        path = f"/apis/{GROUP}/v1/namespaces/default/things"
        for _ in range(100):
            if b" 404 " not in (await self.once("GET", path))[:20]:
                break
            await asyncio.sleep(0.05)
        return path

    async def fill(self) -> None:
        """Create the objects that are listed."""
        numbers = iter(range(OBJECTS))

        async def work() -> None:
            connection = await self.connect()
            for number in numbers:
                body = {"metadata": {"name": f"map-{number}", "labels": {"n": f"v{number}"}}}
                data = json.dumps({**body, "data": {"text": "x" * 600}}).encode()
                headers = [(b"content-type", b"application/json")]
                request = Request("POST", limits.CONFIG_MAPS, b"", headers, data)
                await connection.ask(self.encode(request))

        await asyncio.gather(*(work() for _ in range(16)))


def ready() -> None:
    """Tell the benchmark that everything has been prepared."""
    print("ready", flush=True)


async def nothing(attacker: Attacker) -> None:
    ready()
    await asyncio.Event().wait()


async def half_sent_bodies(attacker: Attacker) -> None:
    """Connections that announce a body and send half of it, by a user without roles."""
    request = Request("POST", limits.CONFIG_MAPS, b"", [], b"{" * 1000)
    data = attacker.encode(request, attacker.powerless)[:-500]
    await _hold(attacker, [data] * HALF)


async def long_heads(attacker: Attacker) -> None:
    """Connections that send 200 headers of 64 KiB each, before anybody knows who they are."""
    head = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(
        b"X-%d: %s\r\n" % (number, b"a" * 65_000) for number in range(199)
    )
    await _hold(attacker, [head] * HEADS)


async def _hold(attacker: Attacker, beginnings: list[bytes]) -> None:
    """Open a connection for each beginning of a request, again when it is closed."""
    ready()

    async def hold(data: bytes) -> None:
        while True:
            try:
                connection = await attacker.connect()
                await connection.ask(data)
            except OSError:
                await asyncio.sleep(0.05)

    await asyncio.gather(*(hold(data) for data in beginnings))


class Stalled(asyncio.Protocol):
    """Begins a watch and reads nothing of it."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._transport.pause_reading()


async def stalled_watchers(attacker: Attacker) -> None:
    """Watchers that read nothing, next to a writer that makes events for them."""
    loop = asyncio.get_running_loop()
    request = attacker.encode(Request("GET", EVERYTHING, b"watch=1", [], b""))

    async def stall() -> None:
        await loop.create_connection(
            lambda: Stalled(request), "127.0.0.1", attacker.port, ssl=attacker.tls
        )

    for _ in range(STALLED // 20):
        await asyncio.gather(*(stall() for _ in range(20)))
    ready()
    body = json.dumps({"metadata": {"generateName": "event-"}, "data": {"x": "y" * 5_000}}).encode()
    headers = [(b"content-type", b"application/json")]
    write = attacker.encode(Request("POST", limits.CONFIG_MAPS, b"", headers, body))
    connection = await attacker.connect()
    while True:
        await connection.ask(write)
        await asyncio.sleep(0.1)


async def large_defaults(attacker: Attacker) -> None:
    """Objects of one kilobyte that defaults make three hundred megabytes of."""
    item = {"type": "object", "properties": {"a": {"type": "string", "default": "x" * 300_000}}}
    items = {"type": "array", "items": item}
    path = await attacker.define({"type": "object", "properties": {"items": items}})
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"generateName": "a-"}}
    await attacker.repeat(lambda: limits.posted(path, {**body, "items": [{}] * 300}), at_once=2)


async def doubling_rule(attacker: Attacker) -> None:
    """Objects whose rule doubles a list twenty times."""
    path = await attacker.define(limits.doubling(20))
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"generateName": "a-"}}
    await attacker.repeat(lambda: limits.posted(path, body), at_once=2)


async def lists_of_everything(attacker: Attacker) -> None:
    await attacker.fill()
    await attacker.repeat(lambda: Request("GET", EVERYTHING, b"", [], b""), at_once=20)


async def selectors(attacker: Attacker) -> None:
    """Lists of everything with selectors of 32 KiB."""
    await attacker.fill()
    known = dict(limits.queries())
    names = ("a label selector of 32 KiB", "a set of 32 KiB", "a field selector of 32 KiB")
    await attacker.repeat(*(known[name] for name in names))


async def json_patches(attacker: Attacker) -> None:
    await attacker.once("POST", limits.CONFIG_MAPS, {"metadata": {"name": "one"}})
    names = ("10,000 insertions", "10,000 removals", "10,000 tests of a large object")
    known = dict(limits.patches())
    await attacker.repeat(*(known[name] for name in (*names, "10,000 copies that double")))


def _at_limit(name: str, *, at_once: int = AT_ONCE) -> Callable[[Attacker], Awaitable[None]]:
    async def attack(attacker: Attacker) -> None:
        await attacker.repeat(limits.all_at_limits()[name], at_once=at_once)

    return attack


ABUSES: Final[dict[str, Callable[[Attacker], Awaitable[None]]]] = {
    "nothing else": nothing,
    "8,000 owner references": _at_limit("8,000 owner references"),
    "30,000 owner references": _at_limit("30,000 owner references"),
    "2.8 MB of flow-style YAML, six at a time": _at_limit("flow-style YAML"),
    "flow-style YAML just below the limit": _at_limit("flow-style YAML of allowed size"),
    "200 half-sent bodies": half_sent_bodies,
    "40 heads of 200 headers of 64 KiB": long_heads,
    "a custom resource with large defaults": large_defaults,
    "a CEL rule that doubles": doubling_rule,
    "a schema of 20,000 properties": _at_limit("20,000 properties"),
    "100,000 invalid keys": _at_limit("100,000 invalid keys"),
    "1,000 stalled watchers": stalled_watchers,
    "lists of everything": lists_of_everything,
    "a million empty JSON objects": _at_limit("a million empty objects"),
    "empty JSON objects just below the limit": _at_limit("empty objects"),
    "250,000 JSON keys": _at_limit("250,000 keys"),
    "JSON patches of 10,000 operations": json_patches,
    "server-side apply of 100,000 fields": _at_limit("apply"),
    "selectors of 32 KiB": selectors,
}


async def _run(attack: Callable[[Attacker], Awaitable[None]], attacker: Attacker) -> None:
    await attack(attacker)


def main() -> None:
    name, port, authority, token, powerless = sys.argv[1:]
    tls = ssl.create_default_context(cafile=authority)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(ABUSES[name], Attacker(int(port), tls, token, powerless)))


if __name__ == "__main__":
    main()
