"""Floods of connections: the flood ends itself, and other clients are served."""

import resource
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from apiserver.connections.listener import RESERVED_FILES, raise_file_limit
from tests.apiserver.process.test_worker import Running, running

FILES = 160
"""The limit of open files of the server."""
FLOOD = 300
HEADS = 40
HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("tls"), files=FILES) as server:
        yield server


def opened(server: Running) -> socket.socket:
    return socket.create_connection((server.config.bind.host, server.config.bind.port), timeout=20)


def shaken(server: Running) -> ssl.SSLSocket:
    """A connection whose handshake is complete."""
    context = ssl.create_default_context(cafile=server.folder.ca_certificate)
    return context.wrap_socket(opened(server), server_hostname=server.config.bind.host)


@contextmanager
def flood(server: Running, kind: str) -> Iterator[None]:
    with ExitStack() as connections:
        for _ in range(FLOOD):
            try:
                one = opened(server) if kind == "handshakes" else shaken(server)
                connections.enter_context(one)
                if kind == "heads":
                    one.sendall(HEAD)
            except (OSError, ssl.SSLError):  # closed for the next one
                pass
        yield


def memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@pytest.mark.parametrize("kind", ["handshakes", "idle", "heads"])
def test_a_flood_beyond_the_limit_of_files_keeps_nobody_out(server: Running, kind: str) -> None:
    worker = server.ask()["pid"]

    with flood(server, kind):
        answers = [server.ask()["pid"] for _ in range(5)]
        used = processor_time(worker)
        time.sleep(0.5)
        used = processor_time(worker) - used
        assert len(list(Path(f"/proc/{worker}/fd").iterdir())) <= FILES

    assert answers == [worker] * 5
    # Nothing is accepted over and over again.
    assert used < 0.25


def test_connections_in_use_are_not_closed_for_a_flood(server: Running) -> None:
    watch = server.connect()
    watch.request("GET", "/watch")
    stream = watch.getresponse()

    with flood(server, "idle"):
        assert server.ask()

    assert watch.sock is not None
    watch.sock.settimeout(0.2)
    with pytest.raises(TimeoutError):
        stream.read(1)


def test_large_heads_cost_little_memory(server: Running) -> None:
    """Of 200 headers of 64 KiB each, one connection held 6 MB before authentication."""
    worker = server.ask()["pid"]
    before = memory(worker)

    with ExitStack() as connections:
        for _ in range(HEADS):
            one = connections.enter_context(shaken(server))
            one.sendall(HEAD + b"X: " + b"a" * 60_000 + b"\r\nY: " + b"b" * 60_000)
        server.ask()
        grown = memory(worker) - before

    assert grown / HEADS < 512 * 1024


def test_the_limit_of_files_is_used_but_for_a_reserve() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))

        limit = raise_file_limit()

        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == before[1]
        assert limit == min(before[1] - RESERVED_FILES, 16_384)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
