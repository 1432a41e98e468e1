"""Bytes that are no HTTP, or hardly: refused or answered, and the server goes on."""

import asyncio
import re
from collections.abc import Iterator
from random import Random

import pytest

from tests.faults.load import CONFIG_MAPS
from tests.servers import Server, serving
from tests.wire import Address, Broken, connected

ROUNDS = 500
SEED = 20_261_116

QUIET = 0.5
"""Seconds after which no answer will come: the server waits for the rest of the request."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


def request(server: Server, *lines: bytes, method: bytes = b"GET", body: bytes = b"") -> bytes:
    token = server.token.encode()
    head = [b"%s %s HTTP/1.1" % (method, CONFIG_MAPS.encode()), b"Host: x", b"Connection: close"]
    return b"\r\n".join([*head, b"Authorization: Bearer " + token, *lines, b"", body])


def named_faults(server: Server) -> Iterator[tuple[str, bytes]]:
    """Requests that are wrong in ways that servers have fallen for."""
    chunked = b"Transfer-Encoding: chunked"
    post = b"POST"
    yield "nothing", b"\r\n\r\n\r\n"
    yield "zeros", b"\x00" * 100
    yield "another protocol", b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"
    yield "HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    yield "HTTP/0.9", b"GET /\r\n\r\n"
    yield "a version that is none", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n"
    yield "a path with a NUL", b"GET /api\x00/v1 HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a path of no UTF-8", b"GET /api/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a query of no UTF-8", b"GET /version?a=\xed\xa0\x80 HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a path that is none", b"GET version HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "another server's path", b"GET http://[::1/version HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "an authority", b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "an asterisk", b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "no host", b"GET /version HTTP/1.1\r\n\r\n"
    yield "a long line", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "a long header", request(server, b"X: " + b"a" * 100_000)
    yield "many headers", request(server, *(b"X-%d: y" % number for number in range(300)))
    yield "a header without a name", request(server, b": x")
    yield "a header without a colon", request(server, b"nonsense")
    yield "a folded header", request(server, b"X: a", b" b")
    yield "a header with a NUL", request(server, b"X: a\x00b")
    yield "a header with a bare CR", request(server, b"X: a\rb")
    yield "a space before the colon", request(server, b"X : a")
    yield "two lengths", request(server, b"Content-Length: 1", b"Content-Length: 2", method=post)
    yield "a negative length", request(server, b"Content-Length: -1", method=post)
    yield "a length of words", request(server, b"Content-Length: ten", method=post)
    yield "a huge length", request(server, b"Content-Length: " + b"9" * 30, method=post)
    yield (
        "a length and chunks",
        request(server, b"Content-Length: 3", chunked, method=post, body=b"0\r\n\r\n"),
    )
    yield "an unknown coding", request(server, b"Transfer-Encoding: gzip", method=post)
    yield "chunked twice", request(server, chunked, chunked, method=post, body=b"0\r\n\r\n")
    yield "a chunk of no size", request(server, chunked, method=post, body=b"\r\n{}\r\n")
    yield "a chunk of a bad size", request(server, chunked, method=post, body=b"zz\r\n{}\r\n")
    yield "a negative chunk", request(server, chunked, method=post, body=b"-2\r\n{}\r\n")
    yield "a huge chunk", request(server, chunked, method=post, body=b"f" * 17 + b"\r\n{}\r\n")
    yield "a chunk that is too long", request(server, chunked, method=post, body=b"1\r\n{}\r\n")
    yield "a bad trailer", request(server, chunked, method=post, body=b"0\r\nx\x00\r\n\r\n")
    yield "an endless size", request(server, chunked, method=post, body=b"0" * 100_000)
    yield (
        "too large in chunks",
        request(server, chunked, method=post, body=b"100000\r\n" + b" " * 0x100000 + b"\r\n"),
    )
    upgrade = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: "
    yield "a bad upgrade", upgrade + b"websocket\r\n\r\n"
    yield "an upgrade to nothing", upgrade + b"x\r\n\r\n"
    yield "two requests at once", request(server) + b"\x00\x01\x02" * 20


def mangled(server: Server, number: int) -> bytes:
    """A good request with some of its bytes changed, moved or gone."""
    random = Random(SEED + number)
    body = b'{"metadata":{"generateName":"x-"}}'
    length = b"Content-Length: %d" % len(body)
    data = bytearray(request(server, length, b"X-Y: z", method=b"POST", body=body))
    for _ in range(random.choice([1, 2, 5])):
        at = random.randrange(len(data))
        match random.randrange(5):
            case 0:
                data[at] = random.randrange(256)
            case 1:
                del data[at : at + random.randrange(20)]
            case 2:
                data[at:at] = random.choice([b"\r\n", b"\r", b"\n", b"\x00", b":", b" ", b"\xff"])
            case 3:
                data[at:at] = random.randbytes(random.randrange(60))
            case _:
                data[at:at] = data[: random.randrange(len(data))]
    return bytes(data)


async def answers(address: Address, data: bytes) -> list[int]:
    """The codes of all that is answered to some bytes."""
    found = b""
    try:
        async with connected(address) as wire:
            await wire.write(data)
            while piece := await asyncio.wait_for(wire.reader.read(65536), QUIET):
                found += piece
    except (Broken, OSError, TimeoutError):
        pass
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] ([0-9]{3}) ", found)]


async def test_what_servers_have_fallen_for(server: Server) -> None:
    address = Address.of(server)
    for name, data in named_faults(server):
        codes = await answers(address, data)

        assert all(100 < code < 500 for code in codes), f"{name}: {codes}"
    assert (await asyncio.to_thread(server.request, "GET", "/readyz")).code == 200
    assert "Traceback" not in server.log


async def test_mangled_requests(server: Server) -> None:
    address = Address.of(server)
    many = asyncio.Semaphore(20)

    async def one(number: int) -> list[int]:
        async with many:
            return await answers(address, mangled(server, number))

    found = await asyncio.gather(*(one(number) for number in range(ROUNDS)))

    codes = {code for each in found for code in each}
    assert all(100 < code < 500 for code in codes), codes
    assert codes >= {201, 400}
    assert (await asyncio.to_thread(server.request, "GET", "/readyz")).code == 200
    assert "Traceback" not in server.log
