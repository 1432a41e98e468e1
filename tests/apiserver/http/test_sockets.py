"""The application behind the real server: what travels over a socket, and how it ends."""

import http.client
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from tests.apiserver.http.objects import GADGETS, gadget

ROOT = Path(__file__).parent.parent.parent.parent
AUTHORIZATION = {"Authorization": "Bearer root"}


@dataclass
class Served:
    process: subprocess.Popen[bytes]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def post(self, body: object) -> int:
        connection = self.connect()
        connection.request("POST", GADGETS, orjson.dumps(body), AUTHORIZATION)
        code = connection.getresponse().status
        connection.close()
        return code


@pytest.fixture
def served() -> Iterator[Served]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "gunicorn", "tests.apiserver.http.conftest:make_app()"),
            *("--worker-class", "apiserver.process.worker.Worker", "--bind", f"127.0.0.1:{port}"),
            *("--graceful-timeout", "10", "--no-control-socket"),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    found = Served(process, port)
    try:
        _wait(found)
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


def _wait(served: Served) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        assert served.process.poll() is None, "the server has ended"
        connection = served.connect()
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise AssertionError("the server did not start in time")


def test_a_watch_lives_from_its_head_to_its_clean_end(served: Served) -> None:
    """The head comes before any event, events as they happen, and a stop ends the last chunk."""
    watch = served.connect()
    watch.request("GET", f"{GADGETS}?watch=1", headers=AUTHORIZATION)

    answer = watch.getresponse()
    assert answer.status == 200
    assert answer.getheader("Transfer-Encoding") == "chunked"
    assert served.post(gadget()) == 201
    assert orjson.loads(answer.readline())["type"] == "ADDED"
    served.process.send_signal(signal.SIGTERM)
    rest = answer.read()  # raises IncompleteRead if the stream is broken off
    watch.close()

    assert rest == b""
    assert served.process.wait(timeout=20) == 0


def test_several_requests_share_a_connection(served: Served) -> None:
    connection = served.connect()
    codes = []
    for _ in range(3):
        connection.request("GET", GADGETS, headers=AUTHORIZATION)
        answer = connection.getresponse()
        answer.read()
        codes.append(answer.status)
    connection.close()

    assert codes == [200, 200, 200]


def test_a_websocket_watch(served: Served) -> None:
    token = urlsafe_b64encode(b"root").decode().rstrip("=")
    request = (
        f"GET {GADGETS}?watch=1 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.{token}, v1\r\n\r\n"
    )
    served.post(gadget())

    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
        client.sendall(request.encode())
        stream = client.makefile("rb")
        assert stream.readline().startswith(b"HTTP/1.1 101")
        while stream.readline() not in (b"\r\n", b""):
            continue
        opcode, size = stream.read(1)[0] & 0x0F, stream.read(1)[0]
        if size == 126:
            (size,) = struct.unpack("!H", stream.read(2))
        event = orjson.loads(stream.read(size))
        stream.close()

    assert (opcode, event["type"]) == (1, "ADDED")
    assert event["object"]["metadata"]["name"] == "lamp"
