"""One server and one webhook for the tests of this folder."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.apis.admissionregistration.webhooks.world import World, allow, running_world


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def shared_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with running_world(tmp_path_factory.mktemp("webhooks")) as world:
        yield world


@pytest_asyncio.fixture(loop_scope="package")
async def world(shared_world: World) -> AsyncIterator[World]:
    """The server without configurations and objects, and a webhook that allows everything."""
    shared_world.hook.answer = allow
    yield shared_world
    await shared_world.clear()
