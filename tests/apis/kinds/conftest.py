"""One server for the whole suite."""

from collections.abc import AsyncIterator

import pytest_asyncio

from apis.kubernetes import KUBERNETES
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apis.kinds.kind_server import KindServer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kinds() -> AsyncIterator[KindServer]:
    server = InMemoryServer(KUBERNETES)
    async with ASGITransport(server.app):
        yield KindServer(server.app, server.token)
