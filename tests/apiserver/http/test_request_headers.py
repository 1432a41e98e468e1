"""What was read from headers is used again for the same headers of the same connection only."""

from pathlib import Path
from typing import Any

from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import REREAD_INTERVAL, TokenFileAuthenticator
from apiserver.http.access import Access
from apiserver.http.client_connection import CONNECTION, ClientConnection
from apiserver.http.dispatch import Dispatcher
from apiserver.http.exchange import KEY, Exchange
from apiserver.http.request_headers import KEPT_BYTES, headers_of
from apiserver.http.request_info import request_info
from apiserver.http.response import write_text
from tests.roles import standard_authorizer

TOKEN = ((b"host", b"x"), (b"authorization", b"Bearer t1"), (b"x", b"1"), (b"x", b"2"))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Routes:
    """Answers every request with the name of its user."""

    def methods(self, info: object) -> dict[str, Any]:
        return {"GET": self._name}

    def find(self, uri: str, req: object = None) -> Any:
        raise AssertionError("only a WebSocket is routed by falcon")

    async def _name(self, req: Any, resp: Any) -> None:
        write_text(resp, req.scope[KEY].user.name)


def scope(headers: Any, connection: ClientConnection) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "GET",
        "path": "/version",
        "query_string": b"",
        "headers": headers,
        CONNECTION: connection,
    }


async def request(application: Dispatcher, connection: ClientConnection) -> tuple[int, bytes]:
    asked = scope(TOKEN, connection)
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asked[KEY] = Exchange(request_info("GET", "/version", {}), {}, receive, connection)
    await application(asked, receive, send)
    return sent[0]["status"], sent[1]["body"]


async def test_a_token_that_is_revoked_is_refused_on_the_same_connection(tmp_path: Path) -> None:
    file, clock = tmp_path / "tokens.csv", Clock()
    file.write_text("t1,ann,1\n")
    tokens = TokenFileAuthenticator(file, clock=clock)
    access = Access(Authentication([tokens]), standard_authorizer())
    application, connection = Dispatcher(Routes(), access), ClientConnection()
    assert await request(application, connection) == (200, b"ann")
    remembered = connection.headers

    file.write_text("t1,bob,2,\n")
    clock.now += 2 * REREAD_INTERVAL
    renamed = await request(application, connection)
    file.write_text("t2,ann,1\n")
    clock.now += 2 * REREAD_INTERVAL
    revoked, _ = await request(application, connection)

    assert (renamed, revoked) == ((200, b"bob"), 401)
    assert connection.headers is remembered


def test_headers_are_read_once_while_they_stay_the_same() -> None:
    connection = ClientConnection()

    first = headers_of(scope(TOKEN, connection), connection)

    assert headers_of(scope(TOKEN, connection), connection) is first
    assert first.by_name[b"x"] == b"1,2"
    assert first.credentials.token == "t1"
    other = headers_of(scope(((b"authorization", b"Bearer t2"),), connection), connection)
    assert other.credentials.token == "t2"


def test_headers_that_could_change_are_read_each_time() -> None:
    connection, headers = ClientConnection(), list(TOKEN)
    headers_of(scope(headers, connection), connection)

    headers[1] = (b"authorization", b"Bearer t2")

    assert headers_of(scope(headers, connection), connection).credentials.token == "t2"


def test_long_headers_are_not_kept_while_a_connection_is_idle() -> None:
    connection = ClientConnection()
    headers_of(scope(TOKEN, connection), connection)

    headers_of(scope(((b"x", b"a" * (KEPT_BYTES + 1)),), connection), connection)

    assert connection.headers is None
