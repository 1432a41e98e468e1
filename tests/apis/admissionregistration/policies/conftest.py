"""One server for the tests of a module."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.apis.admissionregistration.policies.policy_server import PolicyServer, policy_server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[PolicyServer]:
    async with policy_server() as running:
        yield running
