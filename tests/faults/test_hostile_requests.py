"""Whatever is asked for, and however: an answer that says what is wrong, and never a bug."""

import logging
import time
from collections.abc import AsyncIterator

import pytest

from apis.core.bootstrap import create_bootstrap_objects
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.controlplane.local_client import local_client
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apis.groups import GROUPS
from tests.faults.asgi_requests import ask, wrong
from tests.faults.hostile import good, routes, spoilt
from tests.roles import standard_authorizer

TOKEN = "root"
OTHERS = (
    *("/", "/version", "/healthz", "/livez/ping", "/readyz", "/metrics", "/api", "/apis", "/x"),
    *("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/apis/gadgets.example.io"),
)
ROUTES = list(routes(GROUPS, OTHERS))
ROUNDS = 60


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


async def fuzz(app: App, seeds: range) -> dict[int, int]:
    """How often each code was answered, or AssertionError with the request that was not."""
    codes: dict[int, int] = {}
    for seed in seeds:
        for route in ROUTES:
            if route.path.endswith("/one"):
                await ask(app, good(route), TOKEN)
            request = spoilt(route, seed)
            reply = await ask(app, request, TOKEN)
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
    print(f"\nseeds from {first}", flush=True)
    await fuzz(app, range(first, first + 10 * ROUNDS))


def test_every_route_is_asked_for() -> None:
    assert {route.path for route in ROUTES} >= {
        "/api/v1/namespaces/one/finalize",
        "/apis/gadgets.example.io/v1beta1/namespaces/default/gadgets/one/scale",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    }
