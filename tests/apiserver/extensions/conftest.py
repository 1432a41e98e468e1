"""A whole application that serves what is defined at run time, and a client for it."""

from collections.abc import AsyncIterator

import pytest

from apiserver.app import App
from client.testing.app_server import InMemoryServer
from tests.apiserver.extensions.definitions import Defined
from tests.apiserver.http.driver import Driver


@pytest.fixture
async def running() -> AsyncIterator[InMemoryServer]:
    server = InMemoryServer(())
    await server.app.start()
    yield server
    await server.app.stop()


@pytest.fixture
def app(running: InMemoryServer) -> App:
    return running.app


@pytest.fixture
def client(running: InMemoryServer) -> Driver:
    return Driver(running.app, authorization=f"Bearer {running.token}")


@pytest.fixture
def defined(client: Driver) -> Defined:
    return Defined(client)
