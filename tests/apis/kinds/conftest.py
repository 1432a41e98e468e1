"""One server for the whole suite.

Its LimitRanges and quotas are stored and not enforced: all manifests are in one namespace.
"""

from collections.abc import AsyncIterator

import pytest_asyncio

from apis.kubernetes import KUBERNETES
from apiserver.config import ServerConfig
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apis.kinds.kind_server import KindServer

STORED_ONLY = (
    *("LimitRanger", "ResourceQuota"),
    *("MutatingAdmissionPolicy", "MutatingAdmissionWebhook"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"),
)
"""Plugins by which one manifest would decide about others."""
CONFIG = ServerConfig(disable_admission_plugins=STORED_ONLY)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kinds() -> AsyncIterator[KindServer]:
    server = InMemoryServer(KUBERNETES, config=CONFIG)
    async with ASGITransport(server.app):
        yield KindServer(server.app, server.token)
