"""A server with every kind, and a clock that the test turns."""

from collections.abc import AsyncIterator

import pytest

from apis.kubernetes import KUBERNETES
from client.testing import environment
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def env(clock: FakeClock) -> AsyncIterator[Environment]:
    async with environment(KUBERNETES, clock=clock) as running:
        yield running
