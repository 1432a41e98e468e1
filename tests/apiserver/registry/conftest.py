from collections.abc import AsyncIterator

import pytest

from tests.apiserver.registry.world import World, world


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made
