"""A server with every kind and with the plugins that Kubernetes has on by default."""

from collections.abc import AsyncIterator

import pytest_asyncio

from apis.kubernetes import KUBERNETES
from apiserver.config import ServerConfig
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apis.admitted import Admitted
from tests.apiserver.http.driver import Driver

CONFIG = ServerConfig(enable_admission_plugins=("ServiceAccount",))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def admitted() -> AsyncIterator[Admitted]:
    memory = InMemoryServer(KUBERNETES, config=CONFIG)
    async with ASGITransport(memory.app):
        server = Admitted(Driver(memory.app, authorization=f"Bearer {memory.token}"))
        await server.create("serviceaccounts", {"metadata": {"name": "default"}})
        yield server
