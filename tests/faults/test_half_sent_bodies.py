"""Bodies that are never sent to their end, over real sockets: they hinder nobody."""

import json
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers import Server, serving

BODIES = 200
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('slow,slow,slow,"strangers"\nquick,quick,quick,"strangers"\n')
    flags = ["--token-auth-file", str(tokens)]
    with serving(tmp_path / "server", groups=(), flags=flags) as server:
        yield server


def half_sent(server: Server, path: str) -> ssl.SSLSocket:
    """A connection on which half of a body has been sent."""
    context = ssl.create_default_context(cafile=str(server.ca_certificate))
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    connection = context.wrap_socket(raw, server_hostname="127.0.0.1")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer slow\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    connection.sendall(head.encode())
    return connection


def test_half_sent_bodies_of_one_user_hinder_nobody(server: Server) -> None:
    review = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
    with ExitStack() as stack:
        for _ in range(BODIES):
            stack.enter_context(half_sent(server, REVIEWS))
        written = server.request("POST", MAPS, {"metadata": {"name": "a"}})
        quick = {"Authorization": "Bearer quick"}
        reviewed = server.request("POST", REVIEWS, review, headers=quick)
        ready = server.request("GET", "/readyz")

    assert (written.code, reviewed.code, ready.code) == (201, 201, 200)


@pytest.mark.torture
def test_half_sent_bodies_are_given_up_long_before_the_deadline(server: Server) -> None:
    began = time.monotonic()
    with half_sent(server, REVIEWS) as connection:
        answer = connection.recv(4096)

    assert answer[9:12] == b"408"
    assert 5 < time.monotonic() - began < 30
    status = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert status["message"].startswith("the request body was not received in time")


def test_a_user_without_roles_is_refused_before_its_body_is_read(server: Server) -> None:
    with half_sent(server, MAPS) as connection:
        answer = connection.recv(4096)

    assert answer[9:12] == b"403"
