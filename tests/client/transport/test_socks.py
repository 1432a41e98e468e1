"""SOCKS proxies, as with `ssh -D`: name resolution, authentication and errors."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from apis.gadgets import v1
from client import AsyncClient, Config, ConfigError, TransportError
from client.transport.network import NetworkTransport
from client.transport.tls import TLS
from client.transport.transport import ConnectionLost
from tests.client.fakes import GADGETS, FakeServer, answer, gadget


class Proxy:
    """A SOCKS 5 proxy (RFC 1928, RFC 1929) that connects every client to one local port."""

    def __init__(self, leads_to: int) -> None:
        self.leads_to = leads_to
        self.reply = 0
        self.requested: list[str] = []
        self.users: list[str] = []
        self.url = ""
        self._connections: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if await self._greeted(reader, writer):
                await self._relay(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()

    async def end(self) -> None:
        for task in [*self._connections]:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _greeted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, count = await reader.readexactly(2)
        by_password = 2 in await reader.readexactly(count)
        writer.write(bytes((5, 2 if by_password else 0)))
        if by_password:
            await reader.readexactly(1)
            words = [await reader.readexactly((await reader.readexactly(1))[0]) for _ in range(2)]
            self.users.append(b":".join(words).decode())
            writer.write(bytes((1, 0)))
        *_, kind = await reader.readexactly(4)
        assert kind == 3, "a name, and not an address that the client looked up"
        name = await reader.readexactly((await reader.readexactly(1))[0])
        port = int.from_bytes(await reader.readexactly(2))
        self.requested.append(f"{name.decode()}:{port}")
        writer.write(bytes((5, self.reply, 0, 1, 0, 0, 0, 0, 0, 0)))
        return self.reply == 0

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.leads_to)
        try:
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        finally:
            back.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        target.write(data)
    target.close()


@asynccontextmanager
async def proxying(server: FakeServer) -> AsyncIterator[Proxy]:
    proxy = Proxy(int(server.url.rpartition(":")[2]))
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listener.close()
        await proxy.end()


async def fetch(config: Config) -> v1.Gadget:
    async with AsyncClient(config) as client:
        gadgets = client.of(v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1")
        return await gadgets.get("a")


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_socks_proxy_looks_up_the_server(scheme: str, server: FakeServer) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    async with proxying(server) as proxy:
        config = Config("http://gadgets.invalid:8080", proxy_url=f"{scheme}://{proxy.url}")

        fetched = await fetch(config)

    assert fetched.metadata.name == "a"
    assert proxy.requested == ["gadgets.invalid:8080"]
    assert server.requests[-1].header("host") == "gadgets.invalid:8080"


async def test_a_socks_proxy_may_want_to_know_its_users(server: FakeServer) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    async with proxying(server) as proxy:
        await fetch(Config("http://gadgets.invalid", proxy_url=f"socks5://me:p%40ss@{proxy.url}"))

    assert proxy.users == ["me:p@ss"]


async def test_what_a_socks_proxy_refuses_is_a_transport_error(server: FakeServer) -> None:
    async with proxying(server) as proxy:
        proxy.reply = 5

        with pytest.raises(TransportError, match=f"proxy socks5://{proxy.url}: ") as caught:
            await fetch(Config("http://gadgets.invalid", proxy_url=f"socks5://{proxy.url}"))

    assert not isinstance(caught.value, ConnectionLost)
    with pytest.raises(TransportError, match="proxy socks5://127"):
        await fetch(Config("http://gadgets.invalid", proxy_url=f"socks5://{proxy.url}"))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "client.transport.socks", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp_socks", None)

    with pytest.raises(ConfigError, match=r"pip install 'apimachinery\[socks\]'"):
        NetworkTransport(Config("https://h", proxy_url="socks5://p"))


def test_a_name_for_the_certificate_cannot_be_had_over_socks() -> None:
    config = Config("https://h", proxy_url="socks5://p", tls=TLS(server_name="other"))

    with pytest.raises(ConfigError, match="tls-server-name is not supported with a SOCKS proxy"):
        NetworkTransport(config)
