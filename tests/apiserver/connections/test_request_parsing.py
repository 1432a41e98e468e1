"""Heads and bodies that are ambiguous, oversized or malformed, sent to the real gunicorn."""

import re
import socket
import time
from collections.abc import Iterator

import pytest

from apiserver.connections.body_framing import Chunked
from apiserver.connections.request_head import MAX_HEAD_BYTES, MAX_LINE_BYTES
from tests.apiserver.process.test_worker import Running, running
from tests.pauses import measures_time

HOST = b"Host: x\r\n"
GET = b"GET / HTTP/1.1\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
LONG = b"X: " + b"a" * (MAX_LINE_BYTES - 10) + b"\r\n"

REFUSED = {
    # what identifies the server
    "no host": (400, GET + b"\r\n"),
    "an empty head": (400, b"\r\n\r\n\r\n"),
    "two hosts": (400, GET + HOST + HOST + b"\r\n"),
    "two hosts that agree": (400, GET + HOST + b"host: x\r\n\r\n"),
    "a malformed host": (400, GET + b"Host: a/b\r\n\r\n"),
    "a host with a space": (400, GET + b"Host: a b\r\n\r\n"),
    "an absolute form without a host": (400, b"GET http://x/ HTTP/1.1\r\n\r\n"),
    "an absolute form with a bad host": (400, b"GET http://[::1/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    "an authority": (400, b"GET x:80 HTTP/1.1\r\n" + HOST + b"\r\n"),
    # where lines and names end
    "a bare LF": (400, b"GET / HTTP/1.1\nHost: x\n\n"),
    "a bare LF after a header": (400, GET + b"Host: x\n\r\n"),
    "a lone CR in a header": (400, GET + HOST + b"X: a\rY: b\r\n\r\n"),
    "a lone CR after the request line": (400, b"GET / HTTP/1.1\rHost: x\r\n\r\n"),
    "a folded header": (400, GET + HOST + b"X: a\r\n b\r\n\r\n"),
    "a space before the colon": (400, GET + HOST + b"Content-Length : 0\r\n\r\n"),
    "a space before the name": (400, GET + HOST + b" Content-Length: 0\r\n\r\n"),
    "a name with a space": (400, GET + HOST + b"Content Length: 0\r\n\r\n"),
    "a tab in the request line": (400, b"GET\t/\tHTTP/1.1\r\n" + HOST + b"\r\n"),
    "two spaces in the request line": (400, b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a control character in a path": (400, b"GET /\x01 HTTP/1.1\r\n" + HOST + b"\r\n"),
    # where bodies end
    "a length and chunks": (
        400,
        CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
    ),
    "two lengths": (400, POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    "a list of lengths": (400, POST + b"Content-Length: 1, 1\r\n\r\na"),
    "a signed length": (400, POST + b"Content-Length: +1\r\n\r\na"),
    "a length with an underscore": (400, POST + b"Content-Length: 1_0\r\n\r\n"),
    "a length in hexadecimal": (400, POST + b"Content-Length: 0x1\r\n\r\na"),
    "a length of many digits": (400, POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"),
    "a length beyond 64 bits": (400, POST + b"Content-Length: " + b"9" * 20 + b"\r\n\r\n"),
    "chunks in HTTP/1.0": (400, CHUNKED.replace(b"1.1", b"1.0") + b"\r\n0\r\n\r\n"),
    "chunked twice": (400, POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
    "chunked in two headers": (400, CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "compressed chunks": (400, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "an unknown coding": (400, POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "a coding with a vertical tab": (400, POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n"),
    "the identity coding": (400, POST + b"Transfer-Encoding: identity\r\n\r\n"),
    "an empty coding": (400, POST + b"Transfer-Encoding:\r\n\r\n"),
    # sizes
    "a long line": (414, b"GET /" + b"a" * MAX_LINE_BYTES + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a long header": (431, GET + HOST + b"X: " + b"a" * MAX_LINE_BYTES + b"\r\n\r\n"),
    "many headers": (431, GET + HOST + b"X: a\r\n" * 200 + b"\r\n"),
    "a large head": (431, GET + HOST + LONG * 3 + b"\r\n"),
    "a large head that does not end": (431, GET + HOST + LONG * 3),
    "a large head of small headers": (431, GET + HOST + (b"X: " + b"a" * 700 + b"\r\n") * 190),
}

BODIES = {
    "a chunk without a size": b"\r\nab\r\n",
    "a negative chunk": b"-1\r\na\r\n",
    "a chunk size with a prefix": b"0x1\r\na\r\n",
    "a chunk size after a space": b" 1\r\na\r\n",
    "a chunk size before a space": b"1 \r\na\r\n",
    "a chunk that is longer than its size": b"1\r\nab\r\n",
    "a chunk that ends with LF": b"1\r\na\n0\r\n\r\n",
    "a chunk size that ends with LF": b"1\na\r\n0\r\n\r\n",
    "a chunk extension with a lone CR": b"1;a\rb\r\na\r\n",
    "a chunk extension with LF": b"1;a\nb\r\na\r\n",
    "a long chunk extension": b"1;" + b"a" * 5000,
    "a trailer that changes the length": b"0\r\nContent-Length: 5\r\n\r\n",
    "a trailer that changes the coding": b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "trailers without end": b"0\r\n" + b"X: a\r\n" * 300,
}

TAKEN = {
    "a host": GET + HOST + b"\r\n",
    "a host with a port": GET + b"Host: [::1]:6443\r\n\r\n",
    "an empty host": GET + b"Host:\r\n\r\n",
    "HTTP/1.0 without a host": b"GET / HTTP/1.0\r\n\r\n",
    "an absolute form": b"GET http://x:80/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "an empty line before": b"\r\n" + GET + HOST + b"\r\n",
    "a large head": GET + HOST + LONG + b"Y" + LONG[: MAX_LINE_BYTES - 200] + b"\r\n\r\n",
    "a body larger than a head": POST + b"Content-Length: 300000\r\n\r\n" + b"a" * 300_000,
    "chunks of all kinds": CHUNKED
    + b"\r\n1\r\na\r\n2;a=b\r\nbc\r\n003\r\nabc\r\n0\r\nX: y\r\n\r\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("plain"), insecure_http=True) as server:
        yield server


def answer(server: Running, request: bytes) -> bytes:
    """Send *request* and return all that is answered until the server closes the connection."""
    address = (server.config.bind.host, server.config.bind.port)
    with socket.create_connection(address, timeout=5) as raw:
        raw.sendall(request)
        parts = []
        try:
            while part := raw.recv(65536):
                parts.append(part)
        except ConnectionResetError:  # more was sent than the server has read
            pass
    return b"".join(parts)


def codes(data: bytes) -> list[int]:
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] ([0-9]{3}) ", data)]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_ambiguous_or_oversized_is_refused(server: Running, name: str) -> None:
    code, request = REFUSED[name]

    assert codes(answer(server, request)) == [code]


@pytest.mark.parametrize("name", BODIES)
def test_a_malformed_body_is_not_read_as_a_request(server: Running, name: str) -> None:
    smuggled = b"GET /started HTTP/1.1\r\n" + HOST + b"\r\n"

    found = answer(server, CHUNKED + b"\r\n" + BODIES[name] + smuggled)

    assert codes(found)[0] in (400, 431)
    assert len(codes(found)) == 1


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_allowed_is_served(server: Running, name: str) -> None:
    request = re.sub(rb"(HTTP/1..\r\n)", rb"\1Connection: close\r\n", TAKEN[name])

    assert codes(answer(server, request)) == [200]


@pytest.mark.parametrize("name", ["no host", "a large head", "a folded header"])
def test_an_error_to_head_has_no_body(server: Running, name: str) -> None:
    code, request = REFUSED[name]

    found = answer(server, request.replace(b"GET", b"HEAD", 1))

    assert codes(found) == [code]
    assert found.endswith(b"\r\n\r\n")
    assert found.count(b"\r\n\r\n") == 1


def test_a_pipelined_head_is_bounded_too(server: Running) -> None:
    first, second = GET + HOST + b"\r\n", GET + HOST + LONG * 3 + b"\r\n"

    assert codes(answer(server, first + second)) == [200, 431]


class Received:
    """A chunked body of which bytes arrive, and what has been taken of it."""

    def __init__(self) -> None:
        self.framing = Chunked()
        self.parts: list[bytes] = []
        self._waiting = bytearray()

    def feed(self, data: bytes) -> None:
        self._waiting += data
        self.parts.append(self.framing.take(self._waiting))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_chunks_are_the_same_however_they_arrive(size: int) -> None:
    data = b'1\r\na\r\n2;a=b;c="d"\r\nbc\r\n00A\r\n0123456789\r\n0 ; x\r\nX: y\r\n\r\n'
    received = Received()

    for start in range(0, len(data), size):
        received.feed(data[start : start + size])

    assert (b"".join(received.parts), received.framing.complete) == (b"abc0123456789", True)


@measures_time
def test_small_chunks_cost_little_and_are_handed_over_together() -> None:
    """What one read holds: chunks of one byte took 0.2 s, on the event loop."""
    count = 40_000
    received = Received()

    began = time.thread_time()
    re.findall(rb"[0-9]+\r\n.\r\n", b"1\r\na\r\n" * count)
    unit = time.thread_time() - began
    began = time.thread_time()
    received.feed(b"1\r\na\r\n" * count)
    seconds = time.thread_time() - began

    assert received.parts == [b"a" * count]
    assert seconds < 20 * unit


def test_the_bound_of_a_head_covers_its_longest_parts() -> None:
    assert MAX_HEAD_BYTES >= 2 * MAX_LINE_BYTES
