from collections.abc import AsyncIterator

import pytest

from apimachinery.scheme import Scheme
from apis.gadgets.register import add_to_scheme
from client import AsyncClient, Config
from tests.client.fakes import FakeClock, FakeServer, serve_discovery, serving


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with serving() as server:
        serve_discovery(server)
        yield server


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def scheme() -> Scheme:
    scheme = Scheme()
    add_to_scheme(scheme)
    return scheme


@pytest.fixture
async def client(
    server: FakeServer, scheme: Scheme, clock: FakeClock
) -> AsyncIterator[AsyncClient]:
    config = Config(server.url, user_agent="test/1", trust_env=False)
    async with AsyncClient(config, scheme=scheme, clock=clock) as client:
        yield client
