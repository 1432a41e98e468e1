"""Whatever is asked for, and however: an answer that says what is wrong, and never a bug."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from apis.core.bootstrap import create_bootstrap_objects
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.controlplane.local_client import local_client
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apis.groups import GROUPS
from tests.faults.hostile import PROTOBUF, Request, good, routes, spoilt
from tests.roles import standard_authorizer

TOKEN = "root"
OTHERS = (
    *("/", "/version", "/healthz", "/livez/ping", "/readyz", "/metrics", "/api", "/apis", "/x"),
    *("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/apis/gadgets.example.io"),
)
ROUTES = list(routes(GROUPS, OTHERS))
ROUNDS = 60

TEXTS = (
    b"404 page not found\n",
    b"406: Not Acceptable",
    b"406 Not Acceptable\n",
    b"Too many requests, please try again later.\n",
)


@dataclass
class Reply:
    code: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""


@pytest.fixture
async def app() -> AsyncIterator[App]:
    made = App(
        GROUPS,
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication(
            [TokenAuthenticator({TOKEN: User(TOKEN, groups=(MASTERS,))})]
        ),
        authorizer=standard_authorizer(),
        cache_limits=CacheLimits(wait=0.005),
    )
    await made.start()
    async with local_client(made) as client:
        await create_bootstrap_objects(client, port=6443)
    yield made
    await made.stop()


async def ask(app: App, request: Request) -> Reply:
    """Send a request whose client leaves as soon as it has sent it, which ends a watch."""
    reply = Reply()
    messages = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> Mapping[str, Any]:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            reply.code = message["status"]
            reply.headers = dict(message["headers"])
        else:
            reply.body += message.get("body", b"")

    async with asyncio.timeout(20):
        await app(_scope(request), receive, send)  # type: ignore[arg-type]
    return reply


def _scope(request: Request) -> dict[str, Any]:
    headers = request.headers
    if not any(name == b"authorization" for name, _ in headers):
        headers = [*headers, (b"authorization", b"Bearer " + TOKEN.encode())]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": b"",
        "query_string": request.query,
        "root_path": "",
        "headers": headers,
        "server": ("x", 80),
        "client": ("x", 1),
    }


def wrong(request: Request, reply: Reply) -> str | None:
    """What is wrong with an answer, None if nothing is."""
    if not 200 <= reply.code < 500 and not is_timeout(reply):
        return f"it is a {reply.code}"
    if any(b"\n" in value or b"\r" in value for value in reply.headers.values()):
        return "a header has more than one line"
    if reply.code < 400 or request.method == "HEAD" or reply.body.startswith(TEXTS):
        return None
    if status_kind(reply) != "Status":
        return "it is an error and no Status"
    return None


def is_timeout(reply: Reply) -> bool:
    """A revision from the future, or less time than any answer takes: as asked for."""
    return reply.code == 504 and b"Timeout" in reply.body


def status_kind(reply: Reply) -> Any:
    media_type = reply.headers.get(b"content-type", b"").decode()
    if media_type.startswith(PROTOBUF):
        return "Status" if b"Status" in reply.body[:40] else ""
    loads = yaml.safe_load if "yaml" in media_type else json.loads
    try:
        document = loads(reply.body)
    except ValueError:
        return ""
    return document.get("kind") if isinstance(document, dict) else ""


async def fuzz(app: App, seeds: range) -> dict[int, int]:
    """How often each code was answered, or AssertionError with the request that was not."""
    codes: dict[int, int] = {}
    for seed in seeds:
        for route in ROUTES:
            if route.path.endswith("/one"):
                await ask(app, good(route))
            request = spoilt(route, seed)
            reply = await ask(app, request)
            reason = wrong(request, reply)
            assert reason is None, f"{reason}: spoilt({route.path!r}, {seed}): {request} {reply}"
            codes[reply.code] = codes.get(reply.code, 0) + 1
    return codes


async def test_no_request_is_a_bug(app: App, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "apiserver"):
        codes = await fuzz(app, range(ROUNDS))

    assert sum(codes.values()) >= 5000
    # It gets far enough to matter: much of it is accepted, and it fails in every way there is.
    assert codes.keys() >= {200, 201, 400, 404, 405, 406, 409, 415, 422}
    assert codes[200] + codes[201] > 500
    assert not caplog.records


@pytest.mark.torture
async def test_no_request_of_very_many_is_a_bug(app: App) -> None:
    first = time.time_ns() // 1_000_000
    await fuzz(app, range(first, first + 100 * ROUNDS))


def test_every_route_is_asked_for() -> None:
    assert {route.path for route in ROUTES} >= {
        "/api/v1/namespaces/one/finalize",
        "/apis/gadgets.example.io/v1beta1/namespaces/default/gadgets/one/scale",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    }
