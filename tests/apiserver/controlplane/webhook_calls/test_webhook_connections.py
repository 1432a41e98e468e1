import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apiserver.controlplane.webhook_calls import webhook_connections
from apiserver.controlplane.webhook_calls.webhook_connections import WebhookConnections
from apiserver.controlplane.webhook_calls.webhook_services import ServiceAddresses
from apiserver.webhook_call import (
    UnusableTarget,
    WebhookCallError,
    WebhookTarget,
)
from client.auth.auth_info import AuthInfo
from tests.webhook_server import Received, Reply, WebhookServer, webhook_server

DOCUMENT = b'{"kind": "AdmissionReview"}'


def no_services(resource: Any) -> Any:
    raise KeyError(resource)


@asynccontextmanager
async def calling(**options: Any) -> AsyncIterator[WebhookConnections]:
    connections = WebhookConnections(ServiceAddresses(no_services), **options)
    try:
        yield connections
    finally:
        await connections.aclose()


def echo(received: Received) -> bytes:
    return received.body


def target(server: WebhookServer, path: str = "/validate") -> WebhookTarget:
    return WebhookTarget(url=server.url(path), ca_bundle=server.ca)


async def failure(connections: WebhookConnections, called: WebhookTarget, **options: Any) -> str:
    with pytest.raises(WebhookCallError) as caught:
        await connections.post(called, DOCUMENT, timeout=options.pop("timeout", 10), **options)
    return str(caught.value)


async def test_a_document_is_posted_as_kubernetes_does() -> None:
    async with webhook_server(echo) as server, calling() as connections:
        answer = await connections.post(target(server), DOCUMENT, timeout=10, query="timeout=10s")

    [received] = server.received
    assert answer == received.body == DOCUMENT
    assert (received.path, received.query) == ("/validate", "timeout=10s")
    assert received.headers == {
        "Host": f"127.0.0.1:{server.port}",
        "User-Agent": "kube-apiserver-admission",
        "Accept": "application/json, */*",
        "Content-Type": "application/json",
        "Content-Length": str(len(DOCUMENT)),
        "Accept-Encoding": "identity",
    }


async def test_connections_are_kept_alive() -> None:
    async with webhook_server(echo) as server, calling() as connections:
        for _ in range(3):
            await connections.post(target(server), DOCUMENT, timeout=10)

    assert len({received.peer for received in server.received}) == 1


@pytest.mark.parametrize(
    ("path", "sent"),
    [("", "/"), ("/", "/"), ("/a/", "/a"), ("//a//b/../c", "/a/c"), ("/a%20b", "/a%20b")],
)
async def test_paths_are_cleaned_as_in_go(path: str, sent: str) -> None:
    assert webhook_connections._path(path) == sent


async def test_an_unknown_authority_is_not_trusted() -> None:
    async with webhook_server(echo) as server, webhook_server(echo) as other, calling() as caller:
        wrong = WebhookTarget(url=server.url("/x"), ca_bundle=other.ca)

        message = await failure(caller, wrong, query="timeout=1s")

    assert message == (
        f'Post "{server.url("/x")}?timeout=1s": tls: failed to verify certificate: x509:'
        " certificate signed by unknown authority"
    )


async def test_a_certificate_of_another_name_is_not_trusted() -> None:
    async with webhook_server(echo, names=("10.1.2.3",)) as server, calling() as caller:
        message = await failure(caller, target(server))

    assert message.endswith("x509: certificate is not valid for 127.0.0.1")


async def test_an_expired_certificate_is_not_trusted() -> None:
    long_ago = datetime.now(UTC) - timedelta(days=10_000)
    async with webhook_server(echo, issued_at=long_ago) as server, calling() as caller:
        message = await failure(caller, target(server))

    assert message.endswith("x509: certificate has expired or is not yet valid")


async def test_a_ca_bundle_without_certificates_is_unusable() -> None:
    async with calling() as caller:
        with pytest.raises(UnusableTarget, match=r"^unable to load root certificates: unable to "):
            await caller.post(
                WebhookTarget(url="https://127.0.0.1:1", ca_bundle=b"nothing"),
                DOCUMENT,
                timeout=10,
            )


async def test_a_refused_connection_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    async with calling() as caller:
        message = await failure(caller, WebhookTarget(url=f"https://127.0.0.1:{port}/x"))

    assert message == (
        f'Post "https://127.0.0.1:{port}/x": dial tcp 127.0.0.1:{port}: connect: connection refused'
    )


async def test_a_server_without_tls_is_named() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server, calling() as caller:
        port = server.sockets[0].getsockname()[1]
        message = await failure(caller, WebhookTarget(url=f"https://127.0.0.1:{port}/"))

    assert message.endswith(": tls: first record does not look like a TLS handshake")


async def test_a_webhook_that_does_not_answer_in_time_is_named() -> None:
    async def never(received: Received) -> bytes:
        await asyncio.Event().wait()
        return b""

    async with webhook_server(never) as server, calling() as caller:
        message = await failure(caller, target(server), timeout=0.2, query="timeout=1s")

    assert message == f'Post "{server.url("/validate")}?timeout=1s": context deadline exceeded'


async def test_redirects_are_not_followed() -> None:
    async with webhook_server(echo) as server, calling() as caller:
        server.answer = lambda received: Reply(status=307, headers={"Location": "/other"})
        await failure(caller, target(server))

    assert [received.path for received in server.received] == ["/validate"]


async def test_a_status_of_the_webhook_is_part_of_the_error() -> None:
    async with webhook_server(lambda received: Reply(b"gone wrong", 500)) as server, calling() as c:
        with pytest.raises(WebhookCallError) as caught:
            await c.post(target(server), DOCUMENT, timeout=10)

    assert str(caught.value) == (
        'an error on the server ("gone wrong") has prevented the request from succeeding'
    )
    assert caught.value.status is not None
    assert caught.value.status.code == 500


async def test_a_webhook_that_asks_for_it_is_called_again() -> None:
    async with webhook_server(echo) as server, calling() as caller:

        def busy_once(received: Received) -> Reply | bytes:
            if len(server.received) == 1:
                return Reply(status=429, headers={"Retry-After": "0"})
            return received.body

        server.answer = busy_once
        assert await caller.post(target(server), DOCUMENT, timeout=10) == DOCUMENT

    assert len(server.received) == 2


async def test_an_empty_answer_is_an_error() -> None:
    async with webhook_server(lambda received: b"") as server, calling() as caller:
        message = await failure(caller, target(server))

    assert message == "0-length response with status code: 200 and content type: application/json"


async def test_a_large_answer_is_not_read_to_its_end() -> None:
    async with webhook_server(lambda received: b" " * 3_200_000) as server, calling() as caller:
        message = await failure(caller, target(server))

    assert message.endswith("Original error: the answer is larger than 3145728 bytes")


async def test_calls_beyond_the_bound_are_rejected_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_connections, "CONNECTIONS", 1)
    monkeypatch.setattr(webhook_connections, "WAITING", 1)
    may_answer = asyncio.Event()

    async def later(received: Received) -> bytes:
        await may_answer.wait()
        return received.body

    async with (
        webhook_server(later) as server,
        calling() as caller,
        asyncio.TaskGroup() as tasks,
    ):
        calls = [
            tasks.create_task(caller.post(target(server), DOCUMENT, timeout=10)) for _ in range(2)
        ]
        while not server.received:
            await asyncio.sleep(0)
        message = await failure(caller, target(server))
        may_answer.set()

    assert "1 calls are already waiting" in message
    assert [call.result() for call in calls] == [DOCUMENT] * 2
    assert len({received.peer for received in server.received}) == 1


async def test_unused_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_connections, "ADDRESSES", 1)
    async with webhook_server(echo) as first, webhook_server(echo) as second, calling() as caller:
        await caller.post(target(first), DOCUMENT, timeout=10)
        await caller.post(target(second), DOCUMENT, timeout=10)

        assert len(caller._connections) == 1


async def test_configured_credentials_are_sent_for_their_plugin() -> None:
    class Users:
        def user_of(self, host: str) -> AuthInfo:
            return AuthInfo(token=f"token of {host}")

    users = {"MutatingAdmissionWebhook": Users()}
    async with webhook_server(echo) as server, calling(users=users) as caller:
        await caller.post(target(server), DOCUMENT, timeout=10, plugin="MutatingAdmissionWebhook")
        await caller.post(target(server), DOCUMENT, timeout=10)

    with_token, without = server.received
    assert with_token.headers["Authorization"] == f"Bearer token of 127.0.0.1:{server.port}"
    assert "Authorization" not in without.headers
